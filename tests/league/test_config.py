"""What a league file may say, and how it is told what is wrong."""

import contextlib
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.league.conftest import Cup

from warpleague.errors import BadInput, ConfigError, MissingToolchain
from warpleague.games import game_ids
from warpleague.league.season.config import BotEntry, LeagueConfig, SeasonTable, load_config
from warpleague.league.season.entry import enter_bots
from warpleague.league.season.season import Season
from warpleague.match.spec import SeatSpec, TimeControl
from warpleague.runner.bundle.manifest import plays, read_manifest
from warpleague.strict import structure
from warpleague.toml_text import MAX_DEPTH, parse_toml, read_text

Refused: TypeAlias = Callable[[str], str]


def test_a_short_file_means_the_defaults(cup: Cup) -> None:
    """A file with bots and a game is complete: name from the file, the smallest table, one second a move."""
    config = load_config(cup.file("a", "b", top=""))
    assert (config.name, config.seed, config.game.players) == ("cup", None, 2)
    assert config.clock == TimeControl(move_s=1.0)
    assert config.game.options["max_turns"] > 0
    assert config.entries == (BotEntry(path="bots/a"), BotEntry(path="bots/b"))


def test_a_clock_says_all_there_is(cup: Cup) -> None:
    """A clock with a bank only has no cap on a decision."""
    config = load_config(cup.file("a", "b", extra="[clock]\nbank_s = 5"))
    assert config.clock == TimeControl(bank_s=5.0)


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ("[formt]\nx = 1", "cup.toml: formt: unknown key; did you mean 'format'?"),
        ("[clock]\nmoves_s = 1", "clock.moves_s: unknown key; did you mean 'move_s'?"),
        ('[clock]\nmove_s = "1"', "clock.move_s: must be a number, not the text '1'"),
        ("[clock]\nmove_s = -1", "clock.move_s: must be a number above 0 and below 1,000,000, not -1"),
        ("[clock]\nstart_s = 3", "clock: set move_s or bank_s"),
        ("[clock]\nmove_s = 1\nincrement_s = 1", "there is no bank_s"),
        ("[rules]\nfaults = 'forgive'", "rules.faults: must be 'forfeit' or 'substitute'"),
        ("[run]\njobs = 1.5", "run.jobs: must be a whole number, not 1.5"),
        ("[run]\njobs = -1", "run.jobs: must be at least 0, not -1"),
        ("[rating]\nk = 0", "rating.k: must be above 0, not 0.0"),
        ("[rules]\nillegal = 'ask-again'", 'rules.illegal: must be "fault", or "ask-again N"'),
        ("[rules]\nillegal = 'ask-again 0'", 'rules.illegal: must be "fault", or "ask-again N"'),
        ("[rules]\nstrikes = 2", 'rules.strikes: only faults = "substitute" has strikes'),
        ("[rules]\nfaults = 'substitute'\nstrikes = 0", "rules.strikes: must be at least 1 to substitute"),
        ("challengers = ['a']", "format.challengers: only kind"),
        ("tables = 0", "format.tables: must be a whole number from 1 to 100000 or 'all', not 0"),
        ("tables = 1_000_000", "format.tables: must be a whole number from 1 to 100000 or 'all'"),
        ("[clock]\nbank_s = 1e300", "clock.bank_s: must be a number above 0 and below 1,000,000, not 1e+300"),
        ("[rating]\nk = 1e6", "rating.k: must be at most 1000, not 1000000.0"),
        ("[rating]\nstart = -1e9", "rating.start: must be at least -1000000.0, not -1000000000.0"),
        ("kind = 'gauntlet'\ntables = 3", "format.tables: a gauntlet plays all its tables"),
        ("kind = 'league'", "format.kind: must be 'round-robin' or 'gauntlet'"),
        ("[", "cup.toml: not TOML"),
        ('kind = "swiss"', "a Swiss needs a number of rounds"),
        ("rounds = 3", 'only kind = "swiss" has rounds'),
        ('kind = "swiss"\nrounds = 2\nuntil = { top = 1 }', "only a ladder, a round-robin"),
        ("until = { confidence = 1.0 }", "must be below"),
        ("until = { confidence = 0.9, tops = 1 }", "did you mean 'top'"),
    ],
)
def test_mistakes_are_named(cup: Cup, extra: str, text: str) -> None:
    """A wrong key or value is refused with file, path and the nearest right name."""
    with pytest.raises(ConfigError) as caught:
        load_config(cup.file("a", "b", extra=extra))
    assert text in str(caught.value)


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """What is told of a league file with this text."""

    def refused(text: str) -> str:
        (tmp_path / "cup.toml").write_text(text)
        with pytest.raises(BadInput) as caught:
            load_config(tmp_path / "cup.toml")
        return str(caught.value)

    return refused


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('level = "sandbox"', "level: unknown key; `level` belongs under [rules]"),
        ("players = 2", "players: unknown key; `players` belongs under [game]"),
        ("deals = 2", "`deals` belongs under [format]"),
        ("max_turns = 2", "`max_turns` belongs under [game.options]"),
        ("move_s = 2", "`move_s` belongs under [clock] or under clock in an entry of bots"),
        ("until = { top = 1 }", "until: unknown key; write it as [format.until]"),
        ("options = { max_turns = 2 }", "options: unknown key; write it as [game.options]"),
        ("levle = 'none'", "did you mean 'level'? `level` belongs under [rules]"),
        (
            "format = 'swiss'",
            '; write [format] and below it kind = "swiss", or here format = { kind = "swiss" }',
        ),
        ("rules = 'sandbox'", 'write [rules] and below it level = "sandbox"'),
        ("clock = 5", "write [clock] and below it move_s = 5"),
        ("seed = 5", 'seed: must be a text, not 5; write it in quotes: "5"'),
        ("run = [{ jobs = 1 }]", "write [run], in single brackets"),
        ("run = { logs = 'yes' }", "write true or false, without quotes"),
        ("clock = { move_s = '1s' }", "write it without quotes and unit: 1"),
        ("clock = { move_s = '0.5' }", "write it without quotes: 0.5"),
        ("format = { kind = 'Swiss' }", "did you mean 'swiss'?"),
        ("[game.options]\nplayers = 2", "game.options.players: unknown key; `players` belongs under [game]"),
        ("[game.options]\nseed = 'x'", "`seed` belongs at the top of the file, above the first [table]"),
    ],
)
def test_a_right_key_in_the_wrong_table_is_told_where_it_belongs(
    refused: Refused, text: str, wanted: str
) -> None:
    """What stands in the wrong table, or a single value where a table must be, is refused with the right form."""
    lines = ["bots = ['x']", "[game]", "id = 'aliens'"]
    lines.insert(len(lines) if text.startswith("[") else 1, text)
    assert wanted in refused("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('game = "sheets"\nbots = ["x"]', 'write [game] and below it id = "sheets"'),
        (
            '[game]\nid = "sheets"\nbots = ["x"]',
            "game.bots: unknown key; `bots` belongs at the top of the file",
        ),
        ('bots = "x"\n[game]\nid = "sheets"', 'write it in brackets: ["x"]'),
        (
            '[bots]\na = "x"\n[game]\nid = "sheets"',
            "bots: must be a list, not a table; write a list in brackets",
        ),
    ],
)
def test_game_and_bots_have_one_form_each(refused: Refused, text: str, wanted: str) -> None:
    """Where the two things that each league needs are written otherwise, the right form is shown."""
    assert wanted in refused(text)


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ('id = "alien"', "game.id: no game is called 'alien'; did you mean 'aliens'?"),
        ('id = "aliens"\nplayers = 3', "game.players: aliens is for 2 players, not 3"),
        (
            'id = "aliens"\noptions = { max_turn = 5 }',
            "game.options: max_turn: unknown key; did you mean 'max_turns'?",
        ),
        (
            'id = "aliens"\noptions = { max_turns = "5" }',
            "game.options: max_turns: must be a whole number, not the text",
        ),
    ],
)
def test_the_game_is_checked(refused: Refused, game: str, text: str) -> None:
    """Game, table size and options are checked against the game itself."""
    assert text in refused(f'bots = ["x"]\n[game]\n{game}\n')


def test_a_missing_file_names_its_neighbour(cup: Cup, tmp_path: Path) -> None:
    """A league file that is not there is refused with the nearest that is."""
    cup.file("a", "b")
    with pytest.raises(ConfigError, match=r"there is no such file; did you mean '.*/cup.toml'\?"):
        load_config(tmp_path / "cupp.toml")


def test_a_file_saved_on_windows_is_read(cup: Cup) -> None:
    """A byte order mark and Windows line ends make no difference to a league file."""
    path = cup.file("a", "b")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_config(path).entries == (BotEntry(path="bots/a"), BotEntry(path="bots/b"))


def test_what_is_no_file_or_no_text_is_named(cup: Cup, tmp_path: Path) -> None:
    """A folder, and a file in another encoding, are refused by what they are."""
    with pytest.raises(ConfigError, match="is a folder; name the league's TOML file"):
        load_config(tmp_path)
    path = cup.file("a", "b")
    path.write_text(path.read_text(), encoding="utf-16")
    with pytest.raises(ConfigError, match="not UTF-8 text but UTF-16"):
        load_config(path)


def test_few_of_many_neighbours_are_told(cup: Cup, tmp_path: Path) -> None:
    """Among dozens of league files a missing one is not answered with all their names."""
    for number in range(40):
        (tmp_path / f"league-{number}.toml").touch()
    with pytest.raises(ConfigError, match=r"known: .*league-19\.toml and 28 more$"):
        load_config(tmp_path / "x.toml")


def test_bots_are_entered_in_order_with_their_names(cup: Cup) -> None:
    """Bots keep the order of the file, and the names it gives them."""
    path = cup.file("a", "b")
    path.write_text(path.read_text().replace('"bots/b"', '{ path = "bots/b", name = "bee" }'))
    entries = enter_bots(load_config(path), cup.fake.prepare)
    assert [bot.bot for bot in entries.bots] == ["a", "bee"]


def test_a_missing_bot_names_its_neighbour(cup: Cup) -> None:
    """A bot folder that is not there is refused with its place in the file and the nearest folder."""
    path = cup.file("greedy", "random")
    path.write_text(path.read_text().replace("bots/greedy", "bots/gredy"))
    with pytest.raises(ConfigError, match=r"bots\[0\]: there is no folder .*gredy; did you mean 'greedy'\?"):
        enter_bots(load_config(path), cup.fake.prepare)
    path.write_text(path.read_text().replace("bots/gredy", "nobots/greedy"))
    with pytest.raises(ConfigError, match=r"bots\[0\]: there is no folder .*greedy; nor is there .*nobots$"):
        enter_bots(load_config(path), cup.fake.prepare)


def test_paths_of_bots_start_at_the_league_file(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who names a bot as it is called in the current folder is told its path from the file."""
    path = cup.file("greedy", "random")
    path.write_text(path.read_text().replace("bots/greedy", "mine"))
    here = tmp_path / "elsewhere"
    (here / "mine").mkdir(parents=True)
    monkeypatch.chdir(here)
    with pytest.raises(ConfigError, match=r"start at the league file; did you mean 'elsewhere/mine'\?"):
        enter_bots(load_config(path), cup.fake.prepare)


@pytest.mark.parametrize("name", ["", " x", "a\\nb", "\\u001b[31mred", "x" * 65])
def test_a_name_that_tables_cannot_show_is_refused(cup: Cup, name: str) -> None:
    """A bot's name in the file is printable and short; the place of one that is not is named."""
    with pytest.raises(ConfigError, match=r"bots\[1\]\.name: must be 1 to 64 printable characters"):
        named(cup, "a", name)


def named(cup: Cup, one: str, other: str) -> LeagueConfig:
    """A league of two bots with these names."""
    path = cup.file("a", "b")
    text = path.read_text(encoding="utf-8")
    for folder, name in (("a", one), ("b", other)):
        text = text.replace(f'"bots/{folder}"', f'{{ path = "bots/{folder}", name = "{name}" }}')
    path.write_text(text, encoding="utf-8")
    return load_config(path)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ("charlie main", ""),
        ("Charliemain", ""),
        ("\u0421harlie main", r" \('.' is CYRILLIC CAPITAL LETTER ES\)"),
        ("Charlie m\u03b1in", r" \('.' is GREEK SMALL LETTER ALPHA\)"),
        ("\uff23harlie main", r" \('.' is FULLWIDTH LATIN CAPITAL LETTER C\)"),
        ("CharIie main", ""),
        ("Char1ie main", ""),
    ],
)
def test_names_that_look_alike_are_refused(cup: Cup, other: str, why: str) -> None:
    """Case, blanks and letters of other alphabets make no second name: both are told, and which letter it is."""
    told = f"the names 'Charlie main' and {other!r} look alike{why}; give one of"
    with pytest.raises(ConfigError, match=told):
        enter_bots(named(cup, "Charlie main", other), cup.fake.prepare)


@pytest.mark.parametrize(
    ("one", "other"), [("Zoé", "Zoe"), ("bot-1", "bot-2"), ("ail", "all"), ("a-b", "a b")]
)
def test_names_that_people_can_tell_apart_are_taken(cup: Cup, one: str, other: str) -> None:
    """Accents, signs and digits make another name."""
    assert [bot.bot for bot in enter_bots(named(cup, one, other), cup.fake.prepare).bots] == [one, other]


def test_missing_toolchains_are_errors_or_left_out(cup: Cup) -> None:
    """A bot whose compiler is missing stops the league, or is left out with one line, as the file says."""
    path = cup.file("a", "exotic", "b")
    with pytest.raises(MissingToolchain):
        enter_bots(load_config(path), cup.fake.prepare)
    path.write_text('missing = "skip"\n' + path.read_text())
    entries = enter_bots(load_config(path), cup.fake.prepare)
    assert [bot.bot for bot in entries.bots] == ["a", "b"]
    assert entries.skipped == ("exotic is left out: exotic: no compiler here",)


def test_names_in_the_file_must_be_bots(cup: Cup) -> None:
    """Anchor and challengers must be names of bots."""
    for extra in ("[rating]\nanchor = 'aa'", "kind = 'gauntlet'\nchallengers = ['aa']"):
        with pytest.raises(ConfigError, match="no bot is called 'aa'"):
            enter_bots(load_config(cup.file("a", "b", extra=extra)), cup.fake.prepare)


def test_a_gauntlet_needs_others(cup: Cup) -> None:
    """A gauntlet of challengers only is refused."""
    path = cup.file("a", "b", extra="kind = 'gauntlet'\nchallengers = ['a', 'b']")
    with pytest.raises(ConfigError, match="needs 1 bots that are not challengers, not 0"):
        enter_bots(load_config(path), cup.fake.prepare)


@pytest.mark.parametrize("game", ["captains", "sheets"])
def test_a_gauntlet_of_a_solo_game_says_what_to_write(cup: Cup, game: str) -> None:
    """A game whose tables have one seat unless told otherwise needs a line more, which the error gives."""
    path = cup.file("a", "b", extra="kind = 'gauntlet'")
    path.write_text(path.read_text().replace('id = "aliens"', f'id = "{game}"'))
    with pytest.raises(ConfigError, match=r"two or more; write  players = 2  under \[game\]$"):
        load_config(path)
    path.write_text(path.read_text().replace(f'id = "{game}"', f'id = "{game}"\nplayers = 2'))
    assert load_config(path).game.players == 2


def test_a_bot_of_any_game_plays_it(cup: Cup) -> None:
    """`games = ["*"]` is any game, those of third parties too."""
    config = load_config(cup.file("a", "b"))
    entries = enter_bots(config, lambda folder: cup.fake.FakeBundle(folder.name, "d", ("*",)))
    assert len(entries.bots) == 2


def test_the_snapshot_reads_back_as_the_same_league(cup: Cup) -> None:
    """The complete configuration, written as TOML, means the same league."""
    import tomli_w

    path = cup.file("a", "b", extra="[rating]\nanchor = 'a'\n[clock]\nbank_s = 2")
    path.write_text(path.read_text().replace('"bots/b"', '{ path = "bots/b", name = "bee" }'))
    config = load_config(path)
    copy = path.with_name("copy.toml")
    copy.write_text(tomli_w.dumps(config.to_toml()))
    assert load_config(copy).to_toml() == config.to_toml()
    assert "bee" in copy.read_text()
    assert "bots/b" in copy.read_text()


def test_what_is_stored_follows_from_the_class(cup: Cup) -> None:
    """A key that a class of tables gets is stored, but not what belongs to this machine; `path` is no key."""

    @attrs.frozen(kw_only=True)
    class NewConfig(LeagueConfig):
        new: SeasonTable = attrs.Factory(lambda: SeasonTable(beacon="tomorrow"))

    config = load_config(cup.file("a", "b", top='on_end = ["true"]', extra="[arena]\nfreeze = 'hidden'"))
    stored = NewConfig(**attrs.asdict(config, recurse=False)).to_toml()
    assert stored.pop("new") == {"beacon": "tomorrow"}
    assert stored == config.to_toml()
    assert set(stored).isdisjoint({"on_end", "arena", "path"})
    with pytest.raises(ConfigError, match="path: unknown key"):
        load_config(cup.file("a", "b", top='path = "cup.toml"'))


def test_pondering_is_a_condition_only_where_it_is_not_the_usual(cup: Cup) -> None:
    """Leagues of before keep their match ids; another policy makes other matches, and is played by."""

    def season(extra: str) -> Season:
        config = load_config(cup.file("a", "b", extra=extra))
        return Season.of(config, [SeatSpec(bot="a"), SeatSpec(bot="b")], b"s" * 32)

    usual, other = season('[rules]\npondering = "off"'), season('[rules]\npondering = "always-stop"')
    assert usual.conditions == season("").conditions
    assert usual.match_id(0, (0, 1)) != other.match_id(0, (0, 1))
    assert other.spec("m", 0, (0, 1)).pondering == "always-stop"


def test_illegal_says_how_often_a_decision_is_asked_again(cup: Cup) -> None:
    """`illegal` says in words how often bots may err; by default never."""
    usual = load_config(cup.file("a", "b"))
    lenient = load_config(cup.file("a", "b", extra="[rules]\nillegal = 'ask-again 3'"))
    assert (usual.rules.again, lenient.rules.again) == (0, 3)


def test_strikes_are_three_where_faults_are_substituted(cup: Cup) -> None:
    """A league that substitutes forgives three faults unless told otherwise; one that does not has no strikes."""
    rules = load_config(cup.file("a", "b", extra="[rules]\nfaults = 'substitute'")).rules
    assert (rules.faults, rules.strikes) == ("substitute", 3)
    assert load_config(cup.file("a", "b", extra="[rules]\nlevel = 'none'")).rules.strikes == 0


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ("tables = 6", "format.tables: at tables of one all bots play the same deals"),
        ("until = { top = 1 }", "needs tables of two or more"),
        ('kind = "ladder"', "a ladder needs tables of two or more"),
    ],
)
def test_what_tables_of_one_cannot_have(cup: Cup, extra: str, text: str) -> None:
    """Solo bots are compared on equal deals, and have nobody to be paired with."""
    with pytest.raises(ConfigError, match=text):
        load_config(cup.file("a", "b", extra=extra, deals=1, game='id = "sheets"\nplayers = 1'))


# Files that others wrote are read within bounds: nothing in them ends in a traceback or takes long.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = " + "[" * 20_000, "nests more than 32 levels"),
        ("x = " + "[" * 40 + "]" * 40, "nests more than 32 levels"),
        ("x = " + "{a = " * 40 + "1" + "}" * 40, "nests more than 32 levels"),
        (".".join("a" * 5000) + " = 1", "nests more than 32 levels"),
        ("[" + ".".join("a" * 5000) + "]", "nests more than 32 levels"),
        ("x = " + "9" * 5000, "a number has too many digits"),
        ("x = [1, " + "9" * 19 + "]", r"x\[1\]: the number has too many digits"),
        ("[a]\nb = -0x" + "f" * 40, "not TOML"),
        ("[a]\nb = 0x" + "f" * 40, "a.b: the number has too many digits"),
        ("x", "not TOML"),
    ],
)
def test_toml_beyond_all_need_is_refused(text: str, problem: str) -> None:
    """Deep nesting and endless numbers are refused with the file's name, and the key where it is known."""
    with pytest.raises(ConfigError, match=f"^cup.toml: .*{problem}"):
        parse_toml(text, "cup.toml")


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        ("a = 1\nid = aliens", "id = aliens", 'write a text in quotes: id = "aliens"'),
        ("bots = ../my-bot", "bots = ../my-bot", 'in quotes: bots = "../my-bot"'),
        ("logs = True", "logs = True", "write logs = true"),
        ("id = \u201caliens\u201d", "id = \u201caliens\u201d", "straight quotes"),
        ('"id": "aliens"', '"id": "aliens"', "not a colon"),
        ("move_s = 5s", "move_s = 5s", "without a unit"),
        ("seed =", "seed =", "write a value behind the ="),
        ('path = "..\\my-bot"', 'path = "..\\my-bot"', 'write / in paths, not \\: "../my-bot"'),
        ("// my league", "// my league", "begin a remark with #"),
        ('bots = ["a" "b"]', 'bots = ["a" "b"]', "comma between the values"),
        ('bots = ["a"\n[game]\n', "[game]", "end the list with ]"),
        ('[game\nid = "x"', "[game", "close the name of the table"),
        ('name = "x', 'name = "x', "close the quotes"),
        ("x = 1\nx = 2", "x = 2", "in the file twice"),
        ("[a]\nx = 1\n[a]", "[a]", "in the file twice"),
        ('{"record": 2}', "", "perhaps the record of a match"),
    ],
)
def test_what_beginners_write_is_told_with_its_line_and_the_remedy(text: str, line: str, remedy: str) -> None:
    """Text that is no TOML is refused with the line and how to write what was meant."""
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, "cup.toml")
    assert (f"the line is: {line}" if line else "this is JSON") in str(caught.value)
    assert remedy in str(caught.value)
    assert "\n" not in str(caught.value)


def test_toml_within_the_bounds_is_read() -> None:
    """What people write is read as it is."""
    deep = "x = " + "[" * (MAX_DEPTH - 2) + "1" + "]" * (MAX_DEPTH - 2)
    assert parse_toml(deep, "cup.toml")
    assert parse_toml("x = 9223372036854775807\n[a.b]\nc = nan", "cup.toml")["x"] == 2**63 - 1


@given(st.text(alphabet="ab=[]{}.,\"'#\n 0919eExtrue-:TZ_inf", max_size=60))
def test_any_text_is_toml_or_an_error_of_ours(text: str) -> None:
    """Whatever stands in a file, reading it ends in tables or in `ConfigError`."""
    with contextlib.suppress(ConfigError):
        assert isinstance(parse_toml(text, "x"), dict)


def test_only_plain_files_of_some_size_are_read(tmp_path: Path) -> None:
    """A pipe that nobody writes to, a device without end, and a file that is too long are refused at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    endless = tmp_path / "endless"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        with pytest.raises(ConfigError, match="not a plain file"):
            read_text(path, str(path))
    long = tmp_path / "long"
    long.write_bytes(b"#" * 2049)
    with pytest.raises(ConfigError, match="more than 2 KiB"):
        read_text(long, "long", 2)
    long.write_bytes(b"\xef\xbb\xbfx = 1")
    assert read_text(long, "long") == "x = 1"


# The league files that come with the project.


LEAGUES = sorted((Path(__file__).parents[2] / "leagues").glob("*.toml"))


@pytest.mark.parametrize("path", LEAGUES, ids=lambda path: path.stem)
def test_shipped_leagues_are_sound(path: Path) -> None:
    """Each shipped league file loads, and its bots' folders exist and claim its game."""
    game = "aliens" if path.stem == "demo" else path.stem.removeprefix("demo-").partition("-")[0]
    if game not in game_ids():
        pytest.skip(f"{game} is not installed")
    config = load_config(path)
    assert config.game.id == game
    for entry in config.entries:
        assert plays(read_manifest(path.parent / entry.path).games, game)


@pytest.mark.parametrize(
    "path", [path for path in LEAGUES if path.stem.startswith("demo")], ids=lambda path: path.stem
)
def test_python_is_enough_for_the_demo(path: Path) -> None:
    """Each league of the demo has as many bots in Python as its tables have seats, and skips all others."""
    config = load_config(path)
    manifests = [
        tomllib.loads((path.parent / entry.path / "bot.toml").read_text()) for entry in config.entries
    ]
    in_python = [entry for entry in manifests if entry["run"][0] == "python3" and "build" not in entry]
    assert len(in_python) >= config.game.players
    assert config.missing == "skip"


# What the strict converter takes and what it refuses, with which words.


@attrs.frozen
class Inner:
    turns: int = 3
    level: Literal["low", "high"] = "low"


@attrs.frozen
class Outer:
    name: str
    share: float = 0.5
    quick: bool = False
    note: str | None = None
    many: tuple[int, ...] = ()
    inner: Inner = Inner()
    either: str | Inner = "x"
    size: int | Literal["all"] = "all"
    free: dict[str, Any] = attrs.Factory(dict)
    positive: int = attrs.field(default=1, validator=attrs.validators.ge(1))


def test_good_data_becomes_the_class() -> None:
    """Data of the right types becomes the class, nested classes, unions and tuples included."""
    data = {
        "name": "a",
        "share": 2,
        "many": [1, 2],
        "inner": {"turns": 4},
        "either": {"level": "high"},
        "size": 7,
        "free": {"x": [1, {"y": None}]},
    }
    value = structure(data, Outer, "f.toml")
    assert value == Outer(
        name="a",
        share=2.0,
        many=(1, 2),
        inner=Inner(4),
        either=Inner(level="high"),
        size=7,
        free={"x": [1, {"y": None}]},
    )
    assert isinstance(value.share, float)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"inner": {"turns": "5"}}, "f.toml: inner.turns: must be a whole number, not the text '5'"),
        ({"inner": {"turns": 3.9}}, "f.toml: inner.turns: must be a whole number, not 3.9"),
        ({"inner": {"turns": True}}, "f.toml: inner.turns: must be a whole number, not true"),
        ({"inner": 3}, "f.toml: inner: must be a table, not 3"),
        ({"name": None}, "f.toml: name: must be a text, not null"),
        ({"share": False}, "f.toml: share: must be a number, not false"),
        ({"share": float("nan")}, "f.toml: share: must be a finite number, not nan"),
        ({"share": 10**400}, "f.toml: share: must be a number of fewer digits"),
        (
            {"many": [1.5, 10**5000], "note": 10**5000},
            "f.toml: note: must be a text, not a number of many digits",
        ),
        ({"\x1b[2J": 1}, r"f.toml: '\x1b[2J': unknown key"),
        ({"quick": 1}, "f.toml: quick: must be true or false, not 1"),
        ({"many": "12"}, "f.toml: many: must be a list, not the text '12'"),
        ({"many": [1, 2, "3"]}, "f.toml: many[2]: must be a whole number, not the text '3'"),
        ({"inner": {"level": "hihg"}}, "f.toml: inner.level: must be 'low' or 'high', not the text 'hihg'"),
        ({"size": "some"}, "f.toml: size: must be a whole number or 'all', not the text 'some'"),
        ({"either": {"turns": 2.5}}, "f.toml: either.turns: must be a whole number, not 2.5"),
        ({"innner": {}}, "f.toml: innner: unknown key; did you mean 'inner'?"),
        ({"inner": {"zzz": 1}}, "f.toml: inner.zzz: unknown key; known: turns, level"),
        ({"positive": 0}, "f.toml: positive: must be at least 1, not 0"),
    ],
)
def test_misfits_are_named(change: dict[str, Any], text: str) -> None:
    """A value that does not fit is refused with file, path, and what was wanted."""
    with pytest.raises(ConfigError) as caught:
        structure({"name": "a"} | change, Outer, "f.toml")
    assert text in str(caught.value)


def test_all_misfits_are_told_at_once() -> None:
    """Several misfits give one line each, a missing key among them."""
    with pytest.raises(ConfigError) as caught:
        structure({"share": "x", "many": [None], "inner": {"turn": 1}}, Outer, "f.toml")
    assert str(caught.value).splitlines() == [
        "f.toml: name: is required, but missing",
        "f.toml: share: must be a number, not the text 'x'",
        "f.toml: many[0]: must be a whole number, not null",
        "f.toml: inner.turn: unknown key; did you mean 'turns'?",
    ]
