"""Submissions of which some are broken: told all at once, or left out; and what has changed since the last run."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.league.conftest import Command, Cup, MakeSeason, Refereed
from tests.league.inline import InlinePool, Trusting

from warpleague.cli import main
from warpleague.errors import BadInput, BotError, ConfigError, EntrantsError, StoreError
from warpleague.league.play.entering import commit, open_to_run
from warpleague.league.season.config import load_config
from warpleague.league.season.entry import enter_bots
from warpleague.league.store.events import commitment_to
from warpleague.league.upkeep.verifying import altered, verify_league
from warpleague.match.chance import beacon_secret, deal_key, season_commitment
from warpline.codec import canonical

Submit = Callable[..., Path]


GOOD = ("anna", "bert", "cleo")


@pytest.fixture
def submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Submit:
    """Writes a folder of submissions, three good ones and these broken ones, and the league of them all."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    bots = tmp_path / "bots"

    def bot(name: str, *lines: str, games: str = "aliens", run: str = '"python3", "bot.py"') -> Path:
        folder = bots / name
        folder.mkdir(parents=True)
        manifest = [f'name = "{name}"', f'games = ["{games}"]', f"run = [{run}]", *lines]
        (folder / "bot.toml").write_text("\n".join(manifest) + "\n")
        (folder / "bot.py").touch()
        return folder

    def no_folder() -> str:
        return "an"

    def no_manifest() -> str:
        (bot("nomanifest") / "bot.toml").unlink()
        return "nomanifest"

    def no_toml() -> str:
        (bot("notoml") / "bot.toml").write_text("name =")
        return "notoml"

    def misspelt() -> str:
        return bot("misspelt", 'biuld = ["make"]').name

    def build_fails() -> str:
        return bot("buildfails", """build = ["sh", "-c", "echo line 3: no semicolon >&2; exit 1"]""").name

    def loop() -> str:
        folder = bot("loop")
        (folder / "a").symlink_to("b")
        (folder / "b").symlink_to("a")
        return folder.name

    def toolchain() -> str:
        return bot("exotic", run='"no-such-interpreter"').name

    def other_game() -> str:
        return bot("othergame", games="chess").name

    def same_name() -> str:
        folder = bot("twin")
        (folder / "bot.toml").write_text('name = "anna"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n')
        return folder.name

    breakers = {
        breaker.__name__: breaker
        for breaker in (
            *(no_folder, no_manifest, no_toml, misspelt, build_fails, loop),
            *(toolchain, other_game, same_name),
        )
    }

    def write(*broken: str, top: str = "", extra: str = "", good: tuple[str, ...] = GOOD) -> Path:
        for name in good:
            bot(name)
        names = [*good, *(breakers[name]() for name in broken or breakers)]
        path = tmp_path / "cup.toml"
        listed = ", ".join(f'"bots/{name}"' for name in names)
        path.write_text(f'{top}\nbots = [{listed}]\n[game]\nid = "aliens"\n{extra}\n')
        return path

    return write


WHAT = {
    "an": ("there is no folder", "did you mean 'anna'?"),
    "nomanifest": ("no bot.toml in this folder", "it must say at least name, games, run"),
    "notoml": ("bot.toml: not TOML", "write a value behind the ="),
    "misspelt": ("biuld: unknown key", "did you mean 'build'?"),
    "buildfails": ("line 3: no semicolon", "warpleague bot check"),
    "loop": ("this link cannot be followed", "mend it"),
    "exotic": ("needs 'no-such-interpreter'", "install it"),
    "othergame": ("does not play aliens", "mend it"),
    "twin": ("two bots are called 'anna'", "give one of them another"),
}


def test_all_problems_are_told_at_once(submit: Submit) -> None:
    """Each of nine bots that cannot take part has its own entry: what is wrong, and what to do."""
    with pytest.raises(EntrantsError) as caught:
        enter_bots(load_config(submit()))
    found = {problem.bot: problem for problem in caught.value.problems}
    assert found.keys() == WHAT.keys()
    for name, (what, todo) in WHAT.items():
        assert what in found[name].what, found[name]
        assert todo in found[name].todo, found[name]
        assert what in str(caught.value)


def test_the_broken_are_left_out(submit: Submit) -> None:
    """With `missing = "skip"` the others are entered, and each of the broken has one line."""
    entries = enter_bots(load_config(submit(top='missing = "skip"')))
    assert [bot.bot for bot in entries.bots] == list(GOOD)
    assert [line.split(" is left out: ")[0] for line in entries.skipped] == list(WHAT)
    assert not any("\n" in line for line in entries.skipped)


@pytest.mark.parametrize("broken", ["no_folder", "misspelt", "build_fails", "same_name"])
def test_one_problem_is_told_in_full(submit: Submit, broken: str) -> None:
    """Where one bot only is broken, its own error is raised, with all that it has to say."""
    with pytest.raises((BotError, ConfigError)) as caught:
        enter_bots(load_config(submit(broken)))
    assert not isinstance(caught.value, EntrantsError)


def test_too_few_left_are_refused(submit: Submit) -> None:
    """Where no table is left, the error tells how many bots there are, and who was left out why."""
    path = submit(top='missing = "skip"', good=("anna",))
    with pytest.raises(ConfigError) as caught:
        enter_bots(load_config(path))
    told = str(caught.value)
    assert "a table of 2 needs as many bots, not 1" in told
    assert all(f"\n  {name} is left out: " in told for name in WHAT)


def test_a_challenger_that_is_left_out_is_told(submit: Submit) -> None:
    """A name in the file whose bot was left out is refused with the reason."""
    path = submit("misspelt", top='missing = "skip"', extra='[rating]\nanchor = "misspelt"')
    with pytest.raises(ConfigError, match=r"rating\.anchor: no bot is called 'misspelt'") as caught:
        enter_bots(load_config(path))
    assert "misspelt is left out: " in str(caught.value)


def test_the_machine_is_nobodys_problem(submit: Submit) -> None:
    """What this machine lacks for the level is raised at once: no bot is left out for it."""

    def prepare(folder: Path) -> Any:
        raise BadInput("level sandbox needs bubblewrap")

    with pytest.raises(BadInput, match="needs bubblewrap"):
        enter_bots(load_config(submit(top='missing = "skip"')), prepare)


# Commands


@pytest.fixture
def tools(tools: dict[str, Any]) -> dict[str, Any]:
    """The stand-ins, but for bots: these are real."""
    return {**tools, "prepare": None}


def test_a_run_tells_all_problems_in_a_table(command: Command, submit: Submit, tmp_path: Path) -> None:
    """Without skip the exit code is 2, nothing is played, and the table and the way on are on standard error."""
    path = submit()
    code, out, err = command("run", path)
    assert (code, out) == (2, "")
    assert "9 of 12 bots cannot take part" in err
    assert all(name in err for name in WHAT)
    assert 'missing = "skip"' in err
    code, out, _ = command("run", path, "--json")
    assert code == 2
    assert [problem["bot"] for problem in json.loads(out)["problems"]] == list(WHAT)


def test_a_run_plays_without_the_broken_and_says_so(command: Command, submit: Submit, tmp_path: Path) -> None:
    """With skip the league is played; who was left out is told before and after, in status, JSON and on the site."""
    path = submit(top='missing = "skip"')
    code, out, err = command("run", path, "--quiet")
    assert code == 0
    assert err.count(" is left out: ") == len(WHAT)
    assert "Left out: 9 of 12 bots:" in out
    assert out.count(" is left out: ") == len(WHAT)
    assert command("status", path)[1].count("is left out: ") == len(WHAT)
    assert len(json.loads(command("status", path, "--json")[1])["skipped"]) == len(WHAT)
    command("report", path, "--replays", "none")
    page = (tmp_path / "results" / "cup" / "report" / "index.html").read_text("utf-8")
    assert page.count(" is left out: ") == len(WHAT)
    assert command("status", path)[2] == ""  # who was left out then is no change


# What has changed since the last run


@pytest.fixture
def run(command: Command, submit: Submit) -> Path:
    """A league of three bots that was run."""
    path = submit("misspelt", top='missing = "skip"')
    assert command("run", path, "--quiet")[0] == 0
    return path


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def added(path: Path) -> None:
    edit(path, '"bots/bert"', '"bots/bert", { path = "bots/bert", name = "dora" }')


def removed(path: Path) -> None:
    edit(path, '"bots/bert", ', "")


def content(path: Path) -> None:
    (path.parent / "bots" / "bert" / "bot.py").write_text("print()")


def broken(path: Path) -> None:
    (path.parent / "bots" / "bert" / "bot.toml").unlink()


def longer(path: Path) -> None:
    edit(path, 'id = "aliens"', 'id = "aliens"\n[format]\ndeals = 2\n[rating]\nk = 8')


CHANGES = [
    (added, [("added", "dora")], "dora was added"),
    (removed, [("removed", "bert")], "bert was removed"),
    (content, [("content", "bert")], "bert has other content"),
    (broken, [("broken", "bert")], "bert cannot take part any more ("),
    (
        longer,
        [("format", None), ("rating", None)],
        "format.deals: was 1, is now 2; rating.k: was 16.0, is now 8.0",
    ),
]


def test_a_large_file_that_is_linked_is_no_change(command: Command, submit: Submit) -> None:
    """Of a file that is linked the manifest has the digest: that its bytes are in the folder changes nothing."""
    path = submit("misspelt", top='missing = "skip"')
    folder = path.parent / "bots" / "bert"
    (folder / "model.bin").write_bytes(b"weights")
    with (folder / "bot.toml").open("a") as manifest:
        manifest.write(f'[files]\n"model.bin" = {{ sha256 = "{sha256(b"weights").hexdigest()}" }}\n')
    assert command("run", path, "--quiet")[0] == 0
    assert command("standings", path)[2] == ""


@pytest.mark.parametrize(
    ("change", "found", "text"), CHANGES, ids=lambda value: getattr(value, "__name__", "")
)
def test_what_has_changed_is_told(
    command: Command, run: Path, tmp_path: Path, change: Any, found: Any, text: str
) -> None:
    """Every look tells on standard error, in one line, what is not as it was run; the site and JSON have it too."""
    every = change is content  # what tells of one change tells of all
    looks = ("standings", "matches", "status", "verify", "export") if every else ("standings",)
    assert {command(action, run)[2] for action in looks[:3]} == {""}
    change(run)
    for action in looks:
        line, *_ = command(action, run)[2].splitlines()
        assert line.startswith(f"note: {run} has changed since the last run: ")
        assert text in line
    for action in ("status", "report") if every else ("status",):
        data = json.loads(command(action, run, "--json")[1])
        assert [(row["what"], row["bot"]) for row in data["changed"]] == found
    if every:
        assert text in (tmp_path / "results" / "cup" / "report" / "index.html").read_text("utf-8")


def test_a_run_takes_the_changes_in(command: Command, run: Path) -> None:
    """Once it is run again, nothing has changed."""
    for change in (added, content, longer):
        change(run)
    assert command("run", run, "--quiet")[0] == 0
    assert command("standings", run)[2] == ""


def test_many_changes_are_one_line(command: Command, run: Path) -> None:
    """However much has changed, the line stays readable."""
    more = "".join(f'{{ path = "bots/bert", name = "new{number}" }}, ' for number in range(20))
    edit(run, "bots = [", f"bots = [{more}")
    (line,) = command("standings", run)[2].splitlines()
    assert "new6 was added; 13 more changes." in line


# The second commitment of a season, to its entrants, and the beacon, which comes after both.


BEACON = '[season]\nbeacon = "the lottery of 5 December"'


def test_the_commitment_covers_all_that_is_open_to_choice(make_season: MakeSeason) -> None:
    """Names, contents, order, conditions and format change it; secret, versions and how bots are run do not."""
    season = make_season(3, 2)
    base = commitment_to(season)
    what: dict[str, Any] = {
        "bots": [[bot.bot, bot.digest] for bot in season.bots],
        "conditions": season.conditions,
        "format": {**attrs.asdict(season.format), "seeding": "order", "seating": 2},
    }
    for key in ("ratings", "until", "time_share"):
        del what["format"][key]
    assert base == sha256(canonical(json.loads(json.dumps(what)))).hexdigest()
    first, *rest = season.bots
    for changed in (
        attrs.evolve(season, bots=(attrs.evolve(first, bot="bot0 "), *rest)),
        attrs.evolve(season, bots=(attrs.evolve(first, digest="x"), *rest)),
        attrs.evolve(season, bots=(*rest, first)),
        attrs.evolve(season, bots=tuple(rest)),
        attrs.evolve(season, level="none"),
        attrs.evolve(season, options={"max_turns": 9}),
        attrs.evolve(season, awaits="something"),
        make_season(3, 2, deals=2),
        make_season(3, 2, seats="fixed"),
        make_season(3, 2, dice="own"),
        make_season(3, 2, kind="swiss", rounds=2, seeding="rating", ratings="season.toml"),
        attrs.evolve(season, seeds=("bot1", "bot0", "bot2")),
    ):
        assert commitment_to(changed) != base
    for same in (
        attrs.evolve(season, secret=b"t" * 32),
        attrs.evolve(season, bots=(attrs.evolve(first, version="9", run=("x",)), *rest)),
        attrs.evolve(season, beacon="7"),
    ):
        assert commitment_to(same) == base


def test_each_change_of_entrants_is_a_further_entry(cup: Cup, command: Command) -> None:
    """The commitment is told before a match is played; the same entrants have one entry, others a further one."""
    path = cup.file("a", "b", top="")
    code, out, err = command("run", path, "--json")
    assert code == 0
    first = json.loads(out)["entrants"]
    assert f"commitment to the entrants (SHA-256): {first}" in err
    command("run", path)
    status = json.loads(command("status", path, "--json")[1])
    assert ([line["commitment"] for line in status["entered"]], status["entrants"]) == ([first], first)
    path = cup.file("a", "b", "late", top="")
    code, _, err = command("run", path)
    assert (code, "the entrants or the format have changed since" in err) == (0, True)
    status = json.loads(command("status", path, "--json")[1])
    assert [line["commitment"] for line in status["entered"]] == [first, status["entrants"]]
    assert first in command("status", path)[1]
    with cup.read(path) as league:
        assert status["entrants"] == commitment_to(league.season)
        assert altered(league) == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "UPDATE fact SET said = replace(said, '\"a\"', '\"x\"') WHERE kind = 'entrants'",
            "was stored before its",
        ),
        (
            "UPDATE fact SET said = replace(said, '\"a\"', '\"x\"') WHERE kind = 'entrants'",
            "does not fit what it",
        ),
        ("UPDATE fact SET said = '{}' WHERE kind = 'entrants'", "does not fit what it says"),
    ],
)
def test_matches_of_bots_that_nobody_entered_are_told(cup: Cup, statement: str, problem: str) -> None:
    """A name that was altered in the entry of entrants fits neither its commitment nor the matches that follow."""
    path = cup.file("a", "b")
    cup.play(path)
    with cup.altered() as db:
        db.execute(statement)
    with cup.read(path) as league:
        assert any(problem in told for _, _, told in altered(league))


def test_a_beacon_comes_after_both_commitments(
    cup: Cup, refereed: Refereed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is played before entrants are committed to and the value is known; then neither can change any more."""
    results = cup.results

    def run(*bots: str, beacon: str | None = None, deals: int = 1) -> Any:
        path = cup.file(*bots, deals=deals, game=cup.short, extra=BEACON)
        return open_to_run(load_config(path), results, cup.fake.prepare, beacon)

    for value in (None, "4 8 15"):
        with pytest.raises(StoreError, match="so commit to its entrants first"):
            run("a", "b", beacon=value)
    config = load_config(cup.file("a", "b", deals=1, game=cup.short, extra=BEACON))
    told = commit(config, results, with_entrants=True, prepare=cup.fake.prepare)
    assert (len(told.entrants or ""), told.played) == (64, 0)
    with pytest.raises(StoreError, match=r"waits for its beacon .the lottery of 5 December."):
        run("a", "b")
    with pytest.raises(StoreError, match="so commit to its entrants first"):
        run("a", "renamed", beacon="4 8 15")
    with pytest.raises(BadInput, match="--beacon: must be 1 to"):
        run("a", "b", beacon="4\n8")
    with run("a", "b", beacon="4 8 15") as league:
        season = league.season
        for fixture in league.schedule:
            key = season.spec(fixture.id, fixture.deal, fixture.seats).key
            assert key == deal_key(beacon_secret(season.secret, "4 8 15"), fixture.deal)
        cup.run(league, play=refereed())
    with run("a", "b") as league:
        assert league.season.beacon == "4 8 15"
        assert cup.run(league, play=refereed()).played == 0
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool)] == [None, None]
        assert altered(league) == []
    with pytest.raises(BadInput, match="is '4 8 15', not '4 8 16'; it cannot change"):
        run("a", "b", beacon="4 8 16")
    for bots, deals in ((("a", "b", "c"), 1), (("a", "renamed"), 1), (("a", "b"), 2)):
        with pytest.raises(StoreError, match="its bots and its format cannot change any more"):
            run(*bots, deals=deals)
        with pytest.raises(StoreError, match="its bots and its format cannot change any more"):
            commit(
                load_config(cup.file(*bots, deals=deals, game=cup.short, extra=BEACON)),
                results,
                with_entrants=True,
                prepare=cup.fake.prepare,
            )


def test_a_beacon_is_settled_with_the_conditions(cup: Cup) -> None:
    """Whether there is one, and which, cannot be chosen later; where the file names none, no value is taken."""
    path = cup.file("a", "b")
    with pytest.raises(BadInput, match="the league file names no beacon"):
        open_to_run(load_config(path), cup.results, cup.fake.prepare, "7")
    commit(load_config(path), cup.results)
    cup.file("a", "b", extra=BEACON)
    with pytest.raises(StoreError, match='beacon: was not set, is now "the lottery of 5 December"'):
        commit(load_config(path), cup.results)


def test_the_dice_differ_with_the_beacon_and_ids_too(make_season: MakeSeason) -> None:
    """Another value gives other dice and other matches; without a beacon all is as it always was."""
    season = make_season(3, 2)
    one, two = (attrs.evolve(season, awaits="x", beacon=value) for value in ("1", "2"))
    deal = season.deal((0, 1), 0, 0)
    assert deal == one.deal((0, 1), 0, 0)
    assert len({found.key_of(deal) for found in (season, one, two)}) == 3
    assert len({found.match_id(deal, (0, 1)) for found in (season, one, two)}) == 3
    assert season.key_of(deal) == deal_key(season.secret, deal)
    pairs = [(bot.bot, bot.digest) for bot in season.bots[:2]]
    assert one.id_of(deal, pairs) == one.match_id(deal, (0, 1))


def test_an_old_receipt_is_checked_by_verify(
    command: Command, cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run ends with a receipt; `verify --head` finds it, and exits with 1 once the store was cut before it."""
    path = cup.file("a", "b")
    code, out, _ = command("run", path, "--quiet")
    assert code == 0
    (receipt,) = [line.split()[1] for line in out.splitlines() if line.startswith("Receipt:")]
    assert json.loads(command("status", path, "--json")[1])["head"] == receipt
    assert receipt in command("status", path)[1]
    code, out, _ = command("verify", path, "--head", receipt, new_pool=Trusting)
    assert (code, "It goes back to the head that was given." in out) == (0, True)
    strange = f"{receipt.split('-')[0]}-{'0' * 64}"
    code, out, _ = command("verify", path, "--head", receipt, "--head", strange, new_pool=Trusting)
    assert code == 1
    assert f"WRONG  the store: its journal does not go back to the head {strange}" in out
    code, _, err = command("verify", path, "--head", "nonsense")
    assert (code, "is not the head of a journal" in err) == (2, True)


# `league commit`: the secret is settled, and its commitment told, before there is a match or a bot.


COMMITMENT = "commitment to the season's secret (SHA-256): "


@pytest.fixture
def committed(league_cli: Command) -> Command:
    """Runs `warpleague league commit FILE`, or another action; gives exit code, output and remarks."""
    return lambda path, *arguments, action="commit": league_cli(action, path, *arguments)


def test_a_random_secret_is_settled_once(committed: Command, cup: Cup) -> None:
    """Asked again, before, during and after the run, the same commitment is told; the run uses its secret."""
    path = cup.file("a", "b", top="")
    code, out, err = committed(path)
    assert code == 0
    assert out.startswith(COMMITMENT)
    assert "0 matches played since" in err
    assert committed(path)[1] == out
    with cup.open(path) as league:
        assert COMMITMENT + season_commitment(league.season.secret) + "\n" == out
        assert committed(path)[1] == out
        cup.run(league)
    code, again, err = committed(path)
    assert (code, again) == (0, out)
    assert "6 matches played since" in err


def test_bots_need_not_be_there_yet(committed: Command, cup: Cup) -> None:
    """A file without bots, or whose bots are no folders yet, can be committed to; they are entered later."""
    path = cup.file(top="")
    told = committed(path)[1]
    assert told.startswith(COMMITMENT)
    assert main(["league", "run", str(path), "--results", str(cup.results)]) == 2
    path.write_text(path.read_text("utf-8").replace("bots = []", 'bots = ["bots/x", "bots/y"]'), "utf-8")
    assert committed(path)[1] == told
    cup.file("x", "y", top="")
    with cup.open(path) as league:
        assert told == f"{COMMITMENT}{league.season.commitment}\n"


def test_a_seed_is_committed_to_as_well(committed: Command, cup: Cup) -> None:
    """With a seed in the file its secret is the one committed to, and that the file gives it away is said."""
    code, out, err = committed(cup.file("a", "b"), "--json")
    told = json.loads(out)
    assert (code, told["played"]) == (0, 0)
    again = json.loads(committed(cup.file("a", "b"), "--json")[1])
    assert again["commitment"] == told["commitment"]
    assert told.keys() == {"league", "commitment", "committed", "entrants", "entered", "played", "store"}
    assert (told["entrants"], told["entered"]) == (None, None)
    assert err == ""
    assert "the secret follows from the seed" in committed(cup.file("a", "b", name="mug"))[2]


def test_other_conditions_are_refused(committed: Command, cup: Cup) -> None:
    """Once committed to, a season's conditions are settled, too: the commitment is to these dice in this game."""
    path = cup.file("a", "b", top="")
    committed(path)
    cup.file("a", "b", top="", extra="[clock]\nmove_s = 3")
    code, out, err = committed(path)
    assert (code, out) == (2, "")
    assert "clock.move_s: was 1.0, is now 3.0" in err


def test_looks_say_that_nothing_was_played(committed: Command, cup: Cup) -> None:
    """After the commitment alone every look says that nothing has been played, and what to do."""
    path = cup.file("a", "b", top="")
    told = committed(path)[1].removeprefix(COMMITMENT).strip()
    code, _, err = committed(path, action="status")
    assert code == 2
    assert f"(commitment {told}), but nothing has been played yet; start with: warpleague league run" in err


def test_the_time_of_the_commitment_stays(committed: Command, cup: Cup) -> None:
    """Status tells since when the secret is settled, which a later run does not change."""
    path = cup.file("a", "b", top="")
    committed = json.loads(committed(path, "--json")[1])["committed"]
    with cup.open(path) as league:
        assert league.store.committed() == committed
    assert json.loads(committed(path, "--json", action="status")[1])["committed"] == committed
    assert load_config(path).seed is None
