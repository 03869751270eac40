"""What comes with Warp League, wherever a command is given: bots and leagues by their names, the demo, the pages.

That an installed wheel brings all of it is tested with real installations.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpleague.cli import demo
from warpleague.report.terminal.console import make_console
from warpleague.report.wording.docs import Page, dead_ends, page_text, pages
from warpleague.runner.bundle.shipped import located, shipped_root, short_name

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_here_goes_before_what_is_shipped(here: Path) -> None:
    """`bots/NAME` is the user's own folder if there is one, and what comes with Warp League if not."""
    name = Path("bots/random-python")
    shipped = shipped_root() / name
    assert located(name) == located(name, base=here / "leagues") == shipped
    assert short_name(shipped) == name
    (here / name).mkdir(parents=True)
    assert located(name) == name
    assert located(name, base=here) == short_name(here / name).absolute() == here / name
    assert short_name(shipped) == shipped


def test_a_league_of_a_checkout_finds_its_bots_elsewhere(here: Path) -> None:
    """`../bots/NAME` in a league file is the bot there, or what comes with Warp League, unlike on a command line."""
    name, leagues = Path("../bots/random-python"), here / "leagues"
    assert located(name, base=leagues) == shipped_root() / "bots/random-python"
    assert located(name) == name
    assert located(Path("../../bots/random-python"), base=leagues) == leagues / "../../bots/random-python"
    leagues.mkdir()
    (here / "bots/random-python").mkdir(parents=True)
    assert located(name, base=leagues) == leagues / name


@pytest.mark.parametrize(
    "path",
    ["bots/nothing", f"bots/{'x' * 300}", "random-python", "bots/../bots/random-python", "docs/league.md"],
)
def test_other_paths_stay_as_they_are(here: Path, path: str) -> None:
    """Only `bots/...` and `leagues/...` name something shipped, and only if it is there."""
    assert located(Path(path)) == Path(path)


def test_a_league_of_ones_own_may_name_shipped_bots(run: Run, here: Path) -> None:
    """In a league file anywhere, `bots/NAME` is a bot that comes with Warp League."""
    (here / "mine.toml").write_text(
        'bots = ["bots/sheets-greedy", "bots/random-python"]\n[game]\nid = "sheets"\nplayers = 2\n'
    )
    done = run("league", "run", "mine.toml", "--json")
    assert (done.code, done.json["played"]) == (0, 2)


def league(path: Path, *bots: str, players: int = 2) -> None:
    """Write a league of solo or small tables that takes little time."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'bots = {json.dumps(bots)}\nmissing = "skip"\n[game]\nid = "sheets"\nplayers = {players}\n'
    )


@pytest.fixture
def lacking(here: Path) -> str:
    """A bot in a language that is nowhere installed."""
    folder = here / "bots" / "cobol-bot"
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(
        'name = "cobol-bot"\ngames = ["sheets"]\nrun = ["no-such-cobol", "bot.cob"]\n'
    )
    return "../bots/cobol-bot"


def test_the_demo_plays_every_league_with_what_is_here(
    run: Run, here: Path, lacking: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bot whose language is missing is told in one line; a league without a full table ends no other."""
    league(here / "leagues" / "first.toml", "bots/random-python", lacking, players=1)
    league(here / "leagues" / "second.toml", "bots/random-python", lacking)
    league(here / "leagues" / "third.toml", "bots/random-python", players=1)
    assert demo.play_all(("first", "second"), "third", Path("out")) == 2
    done = capsys.readouterr()
    lines = done.err.splitlines()
    told = "cobol-bot is left out: cobol-bot: needs 'no-such-cobol', which is not installed here"
    assert lines[0] == f"note: {told}"
    assert lines[1].startswith(
        "warpleague: leagues/second.toml: bots: a table of 2 needs as many bots, not 1"
    )
    assert told in lines[2]
    assert "third: sheets, 1 bot;" in done.err
    assert "Standings of first" in done.out
    assert done.out.splitlines()[-1] == "open out/third/report/index.html"
    assert (here / "out" / "first" / "report" / "index.html").is_file()
    # Each step is shown as a command that can be given again.
    steps = [
        line.partition(" league ")[2]
        for line in done.out.splitlines()
        if " leagues/" in line and ":" not in line
    ]
    assert "run leagues/first.toml --results out --quiet" in steps
    assert run("league", "status", "leagues/third.toml", "--results", "out").code == 0


def test_the_demo_is_the_shipped_one() -> None:
    """Every league of the demo comes with Warp League."""
    for name in (*demo.SMALL, demo.LAST):
        assert (shipped_root() / "leagues" / f"{name}.toml").is_file()


def test_every_page_is_listed(run: Run, here: Path) -> None:
    """All pages of the documentation are found by their names, and tell what they are good for."""
    docs = shipped_root() / "docs"
    found = pages()
    assert {page.path for page in found.values()} >= {path.resolve() for path in docs.rglob("*.md")}
    listed = run("docs").out
    for page in found.values():
        assert page.name in listed
        assert page.title in listed
        assert page.purpose in listed
    assert [page["page"] for page in run("docs", "--json").json] == list(found)
    assert run("docs", "--path").out.strip() == str(docs)


@pytest.mark.parametrize("name", ["league", "league.md", "../docs/league.md#json", "League"])
def test_a_page_is_printed_as_it_is_written(run: Run, name: str) -> None:
    """A page that is not shown in a terminal is Markdown, without the comments for the tests."""
    done = run("docs", name)
    assert (done.code, done.err) == (0, "")
    page = pages()["league"]
    assert done.out == page_text(page)
    assert "\n```toml\n" in done.out
    assert "<!--" not in done.out
    assert run("docs", name, "--path").out.strip() == str(page.path)


def test_a_page_is_laid_out_for_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a terminal, links are told as the pages they lead to; code and its brackets stay."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    out = run("docs", "write-a-bot").out
    assert "The protocol (page spec) has" in " ".join(out.split())
    assert "](" not in out
    assert "```" not in out
    assert 'name = "runner"' in out


@pytest.mark.parametrize("term", ["dumb", "unknown", "xterm"])
def test_forced_colours_change_nothing_but_colours(
    run: Run, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    """Into a pipe, a table with them is as wide as without, and nothing is drawn as on a screen."""
    plain = run("games").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", term)
    forced = run("games").out
    assert re.sub(r"\x1b\[[\d;]*m", "", forced) == plain != forced
    assert max(map(len, plain.splitlines())) > 80
    assert not make_console().is_terminal


def test_a_word_that_is_no_page_is_searched(run: Run) -> None:
    """Sections whose heading has the word come before those whose text has it; case does not matter."""
    hits = run("docs", "RECEIPT", "--json").json
    assert hits[0] == {"page": "league", "heading": "Receipts", "text": hits[0]["text"]}
    assert "receipt" in hits[0]["text"]
    assert {"league-reference", "glossary"} <= {hit["page"] for hit in hits[1:]}
    assert all("receipt" in (hit["heading"] + hit["text"]).lower() for hit in hits)
    done = run("docs", "elo0")
    assert (done.code, done.err) == (0, "")
    assert "compare" in done.out
    assert run("docs", "elo0", "--path").code == 2


def test_links_out_of_what_is_shipped_are_found(tmp_path: Path) -> None:
    """Links to files that are not there are told, once each; code, headings and other hosts are no such links."""
    (tmp_path / "a.md").write_text(
        "# A\n[b](b.md) [c](../c/d.py) [c again](../c/d.py#x) [e](https://host/x) [here](#a) `[f](g)`\n"
        "```text\n[h](i)\n```\n"
    )
    (tmp_path / "b.md").touch()
    assert dead_ends(Page("a", "A", "", tmp_path / "a.md")) == ["../c/d.py"]


NOT_REUSABLE = {"gtp-engine", "uci-engine", "llm"}
"""Bots with a process or a thread besides, which would run on between two matches."""

PYTHON_BOTS = [
    pytest.param(path, id=path.parent.name)
    for path in sorted((shipped_root() / "bots").glob("**/bot.toml"))
    if "python3" in path.read_text(encoding="utf-8") and "engine" not in path.parent.name
]


def test_every_bot_that_keeps_nothing_may_be_reused() -> None:
    """Starting a bot anew takes longer than many a match: shipped bots say that they may play match after match."""
    found = {
        path.parent.name: tomllib.loads(path.read_text("utf-8"))
        for path in shipped_root().glob("bots/**/bot.toml")
    }
    assert {name for name, manifest in found.items() if not manifest.get("reusable")} == NOT_REUSABLE


@pytest.mark.parametrize("manifest", PYTHON_BOTS)
def test_a_bot_says_in_its_hello_what_its_manifest_says(manifest: Path) -> None:
    """Only a bot that says so in both places is kept for the next match."""
    declared = tomllib.loads(manifest.read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, *declared["run"][1:]],
        cwd=manifest.parent,
        input=b'{"type":"hello","protocol":1}\n{"type":"quit"}\n',
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert json.loads(done.stdout).get("reusable", False) == declared.get("reusable", False)
