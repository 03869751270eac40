"""What a league file may say, and how it is told what is wrong."""

from pathlib import Path
from types import ModuleType

import pytest
from tests.league.conftest import WriteLeague

from warpleague.errors import BadInput, BotError, ConfigError, MissingToolchain
from warpleague.league.season.config import BotEntry, load_config
from warpleague.league.season.entry import enter_bots
from warpleague.league.season.season import Season
from warpleague.match.spec import SeatSpec, TimeControl


def test_a_short_file_means_the_defaults(write_league: WriteLeague) -> None:
    """A file with bots and a game is complete: name from the file, the smallest table, one second a move."""
    config = load_config(write_league("a", "b", top=""))
    assert (config.name, config.seed, config.game.players) == ("cup", None, 2)
    assert config.clock == TimeControl(move_s=1.0)
    assert config.game.options["max_turns"] > 0
    assert config.entries == (BotEntry(path="bots/a"), BotEntry(path="bots/b"))


def test_a_clock_says_all_there_is(write_league: WriteLeague) -> None:
    """A clock with a bank only has no cap on a decision."""
    config = load_config(write_league("a", "b", extra="[clock]\nbank_s = 5"))
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
    ],
)
def test_mistakes_are_named(write_league: WriteLeague, extra: str, text: str) -> None:
    """A wrong key or value is refused with file, path and the nearest right name."""
    with pytest.raises(ConfigError) as caught:
        load_config(write_league("a", "b", extra=extra))
    assert text in str(caught.value)


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
    tmp_path: Path, text: str, wanted: str
) -> None:
    """What stands in the wrong table, or a single value where a table must be, is refused with the right form."""
    path = tmp_path / "cup.toml"
    table = text.startswith("[")
    lines = [
        "bots = ['x']",
        *([] if table else [text]),
        "[game]",
        "id = 'aliens'",
        *([text] if table else []),
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput) as caught:
        load_config(path)
    assert wanted in str(caught.value)


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
def test_game_and_bots_have_one_form_each(tmp_path: Path, text: str, wanted: str) -> None:
    """Where the two things that each league needs are written otherwise, the right form is shown."""
    path = tmp_path / "cup.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert wanted in str(caught.value)


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
def test_the_game_is_checked(tmp_path: Path, game: str, text: str) -> None:
    """Game, table size and options are checked against the game itself."""
    path = tmp_path / "l.toml"
    path.write_text(f'bots = ["x"]\n[game]\n{game}\n')
    with pytest.raises(BadInput) as caught:
        load_config(path)
    assert text in str(caught.value)


def test_a_missing_file_names_its_neighbour(write_league: WriteLeague, tmp_path: Path) -> None:
    """A league file that is not there is refused with the nearest that is."""
    write_league("a", "b")
    with pytest.raises(ConfigError, match=r"there is no such file; did you mean '.*/cup.toml'\?"):
        load_config(tmp_path / "cupp.toml")


def test_a_file_saved_on_windows_is_read(write_league: WriteLeague) -> None:
    """A byte order mark and Windows line ends make no difference to a league file."""
    path = write_league("a", "b")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_config(path).entries == (BotEntry(path="bots/a"), BotEntry(path="bots/b"))


def test_what_is_no_file_or_no_text_is_named(write_league: WriteLeague, tmp_path: Path) -> None:
    """A folder, and a file in another encoding, are refused by what they are."""
    with pytest.raises(ConfigError, match="is a folder; name the league's TOML file"):
        load_config(tmp_path)
    path = write_league("a", "b")
    path.write_text(path.read_text(), encoding="utf-16")
    with pytest.raises(ConfigError, match="not UTF-8 text but UTF-16"):
        load_config(path)


def test_few_of_many_neighbours_are_told(write_league: WriteLeague, tmp_path: Path) -> None:
    """Among dozens of league files a missing one is not answered with all their names."""
    for number in range(40):
        (tmp_path / f"league-{number}.toml").touch()
    with pytest.raises(ConfigError, match=r"known: .*league-19\.toml and 28 more$"):
        load_config(tmp_path / "x.toml")


def test_bots_are_entered_in_order_with_their_names(write_league: WriteLeague, fake: ModuleType) -> None:
    """Bots keep the order of the file, and the names it gives them."""
    path = write_league("a", "b")
    path.write_text(path.read_text().replace('"bots/b"', '{ path = "bots/b", name = "bee" }'))
    entries = enter_bots(load_config(path), fake.prepare)
    assert [bot.bot for bot in entries.bots] == ["a", "bee"]


def test_a_missing_bot_names_its_neighbour(write_league: WriteLeague, fake: ModuleType) -> None:
    """A bot folder that is not there is refused with its place in the file and the nearest folder."""
    path = write_league("greedy", "random")
    path.write_text(path.read_text().replace("bots/greedy", "bots/gredy"))
    with pytest.raises(ConfigError, match=r"bots\[0\]: there is no folder .*gredy; did you mean 'greedy'\?"):
        enter_bots(load_config(path), fake.prepare)
    path.write_text(path.read_text().replace("bots/gredy", "nobots/greedy"))
    with pytest.raises(ConfigError, match=r"bots\[0\]: there is no folder .*greedy; nor is there .*nobots$"):
        enter_bots(load_config(path), fake.prepare)


def test_paths_of_bots_start_at_the_league_file(
    write_league: WriteLeague, fake: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who names a bot as it is called in the current folder is told its path from the file."""
    path = write_league("greedy", "random")
    path.write_text(path.read_text().replace("bots/greedy", "mine"))
    here = tmp_path / "elsewhere"
    (here / "mine").mkdir(parents=True)
    monkeypatch.chdir(here)
    with pytest.raises(ConfigError, match=r"start at the league file; did you mean 'elsewhere/mine'\?"):
        enter_bots(load_config(path), fake.prepare)


@pytest.mark.parametrize("name", ["", " x", "a\\nb", "\\u001b[31mred", "x" * 65])
def test_a_name_that_tables_cannot_show_is_refused(write_league: WriteLeague, name: str) -> None:
    """A bot's name in the file is printable and short; the place of one that is not is named."""
    path = write_league("a", "b")
    told = f'{{ path = "bots/b", name = "{name}" }}'
    path.write_text(path.read_text().replace('"bots/b"', told))
    with pytest.raises(ConfigError, match=r"bots\[1\]\.name: must be 1 to 64 printable characters"):
        load_config(path)


def test_two_bots_of_one_name_are_refused(write_league: WriteLeague, fake: ModuleType) -> None:
    """The same folder twice needs two names."""
    with pytest.raises(ConfigError, match="two bots are called 'a'; give one of them another"):
        enter_bots(load_config(write_league("a", "a")), fake.prepare)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ("charlie main", ""),
        ("Charlie  main", ""),
        ("Charliemain", ""),
        ("\u0421harlie main", r" \('.' is CYRILLIC CAPITAL LETTER ES\)"),
        ("Charlie m\u03b1in", r" \('.' is GREEK SMALL LETTER ALPHA\)"),
        ("\uff23harlie main", r" \('.' is FULLWIDTH LATIN CAPITAL LETTER C\)"),
        ("CharIie main", ""),
        ("Char1ie main", ""),
    ],
)
def test_names_that_look_alike_are_refused(
    write_league: WriteLeague, fake: ModuleType, other: str, why: str
) -> None:
    """Case, blanks and letters of other alphabets make no second name: both are told, and which letter it is."""
    path = write_league("a", "b", "c")
    text = path.read_text(encoding="utf-8")
    for folder, name in (("a", "Charlie main"), ("b", other)):
        text = text.replace(f'"bots/{folder}"', f'{{ path = "bots/{folder}", name = "{name}" }}')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        ConfigError, match=f"the names 'Charlie main' and {other!r} look alike{why}; give one of"
    ):
        enter_bots(load_config(path), fake.prepare)


@pytest.mark.parametrize(
    ("one", "other"), [("Zoé", "Zoe"), ("bot-1", "bot-2"), ("ail", "all"), ("a-b", "a b")]
)
def test_names_that_people_can_tell_apart_are_taken(
    write_league: WriteLeague, fake: ModuleType, one: str, other: str
) -> None:
    """Accents, signs and digits make another name."""
    path = write_league("a", "b")
    text = path.read_text(encoding="utf-8")
    for folder, name in (("a", one), ("b", other)):
        text = text.replace(f'"bots/{folder}"', f'{{ path = "bots/{folder}", name = "{name}" }}')
    path.write_text(text, encoding="utf-8")
    assert [bot.bot for bot in enter_bots(load_config(path), fake.prepare).bots] == [one, other]


def test_missing_toolchains_are_errors_or_left_out(write_league: WriteLeague, fake: ModuleType) -> None:
    """A bot whose compiler is missing stops the league, or is left out with one line, as the file says."""
    path = write_league("a", "exotic", "b")
    with pytest.raises(MissingToolchain):
        enter_bots(load_config(path), fake.prepare)
    path.write_text('missing = "skip"\n' + path.read_text())
    entries = enter_bots(load_config(path), fake.prepare)
    assert [bot.bot for bot in entries.bots] == ["a", "b"]
    assert entries.skipped == ("exotic is left out: exotic: no compiler here",)


def test_too_few_bots_are_refused(write_league: WriteLeague, fake: ModuleType) -> None:
    """A table needs as many bots as it has seats; those left out are told."""
    path = write_league("a", "exotic", top='missing = "skip"')
    with pytest.raises(ConfigError, match=r"a table of 2 needs as many bots, not 1\n  exotic is left out"):
        enter_bots(load_config(path), fake.prepare)


def test_names_in_the_file_must_be_bots(write_league: WriteLeague, fake: ModuleType) -> None:
    """Anchor and challengers must be names of bots."""
    for extra in ("[rating]\nanchor = 'aa'", "kind = 'gauntlet'\nchallengers = ['aa']"):
        with pytest.raises(ConfigError, match="no bot is called 'aa'"):
            enter_bots(load_config(write_league("a", "b", extra=extra)), fake.prepare)


def test_a_gauntlet_needs_others(write_league: WriteLeague, fake: ModuleType) -> None:
    """A gauntlet of challengers only is refused."""
    path = write_league("a", "b", extra="kind = 'gauntlet'\nchallengers = ['a', 'b']")
    with pytest.raises(ConfigError, match="needs 1 bots that are not challengers, not 0"):
        enter_bots(load_config(path), fake.prepare)


@pytest.mark.parametrize("game", ["captains", "sheets"])
def test_a_gauntlet_of_a_solo_game_says_what_to_write(write_league: WriteLeague, game: str) -> None:
    """A game whose tables have one seat unless told otherwise needs a line more, which the error gives."""
    path = write_league("a", "b", extra="kind = 'gauntlet'")
    path.write_text(path.read_text().replace('id = "aliens"', f'id = "{game}"'))
    with pytest.raises(ConfigError, match=r"two or more; write  players = 2  under \[game\]$"):
        load_config(path)
    path.write_text(path.read_text().replace(f'id = "{game}"', f'id = "{game}"\nplayers = 2'))
    assert load_config(path).game.players == 2


def test_a_bot_of_any_game_plays_it(write_league: WriteLeague, fake: ModuleType) -> None:
    """`games = ["*"]` is any game, those of third parties too."""
    config = load_config(write_league("a", "b"))
    entries = enter_bots(config, lambda folder: fake.FakeBundle(folder.name, "d", ("*",)))
    assert len(entries.bots) == 2


GAMES = {"a": ("chess",), "b": ("aliens",)}


def test_a_bot_must_play_the_game(write_league: WriteLeague, fake: ModuleType) -> None:
    """A bot of another game is refused with the games it plays."""
    config = load_config(write_league("a", "b"))
    with pytest.raises(BotError, match="a does not play aliens"):
        enter_bots(config, lambda folder: fake.FakeBundle(folder.name, "d", GAMES[folder.name]))


def test_the_snapshot_reads_back_as_the_same_league(write_league: WriteLeague) -> None:
    """The complete configuration, written as TOML, means the same league."""
    import tomli_w

    path = write_league("a", "b", extra="[rating]\nanchor = 'a'\n[clock]\nbank_s = 2")
    path.write_text(path.read_text().replace('"bots/b"', '{ path = "bots/b", name = "bee" }'))
    config = load_config(path)
    copy = path.with_name("copy.toml")
    copy.write_text(tomli_w.dumps(config.to_toml()))
    assert load_config(copy).to_toml() == config.to_toml()
    assert "bee" in copy.read_text()
    assert "bots/b" in copy.read_text()


def test_pondering_is_a_condition_only_where_it_is_not_the_usual(write_league: WriteLeague) -> None:
    """Leagues of before keep their match ids; another policy makes other matches, and is played by."""

    def season(extra: str) -> Season:
        config = load_config(write_league("a", "b", extra=extra))
        return Season.of(config, [SeatSpec(bot="a"), SeatSpec(bot="b")], b"s" * 32)

    usual, other = season('[rules]\npondering = "off"'), season('[rules]\npondering = "always-stop"')
    assert usual.conditions == season("").conditions
    assert usual.match_id(0, (0, 1)) != other.match_id(0, (0, 1))
    assert other.spec("m", 0, (0, 1)).pondering == "always-stop"


def test_illegal_says_how_often_a_decision_is_asked_again(write_league: WriteLeague) -> None:
    """`illegal` says in words how often bots may err; by default never."""
    usual = load_config(write_league("a", "b"))
    lenient = load_config(write_league("a", "b", extra="[rules]\nillegal = 'ask-again 3'"))
    assert (usual.rules.again, lenient.rules.again) == (0, 3)


def test_strikes_are_three_where_faults_are_substituted(write_league: WriteLeague) -> None:
    """A league that substitutes forgives three faults unless told otherwise; one that does not has no strikes."""
    rules = load_config(write_league("a", "b", extra="[rules]\nfaults = 'substitute'")).rules
    assert (rules.faults, rules.strikes) == ("substitute", 3)
    assert load_config(write_league("a", "b", extra="[rules]\nlevel = 'none'")).rules.strikes == 0


def test_solo_tables_are_not_sampled(write_league: WriteLeague) -> None:
    """Solo bots are compared on equal deals, which a number of tables would not give them."""
    path = write_league("a", "b", extra="tables = 6")
    path.write_text(path.read_text().replace('id = "aliens"', 'id = "sheets"\nplayers = 1'), "utf-8")
    with pytest.raises(ConfigError, match=r"format\.tables: at tables of one all bots play the same deals"):
        load_config(path)
