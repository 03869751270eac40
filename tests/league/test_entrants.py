"""Submissions of which some are broken: told all at once, or left out; and what has changed since the last run."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.league.conftest import Command

from warpleague.errors import BadInput, BotError, ConfigError, EntrantsError
from warpleague.league.season.config import load_config
from warpleague.league.season.entry import enter_bots

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
