"""Output that is kept: the same command prints it again without work, and never after anything has changed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

import warpleague
from warpleague.cli import kept_output, main
from warpleague.cli.common import open_league

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE = """
name = "cup"
bots = [{ path = "one", name = "one" }, { path = "bots/random-python", name = "two" }]
[game]
id = "aliens"
options = { max_turns = 10 }
[rules]
level = "none"
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own, and files that count as left alone at once."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_output, "_SETTLED_S", 0.0)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Has an entry for each time that a command opened a league."""
    found: list[Any] = []

    def noted(args: Any) -> Any:
        found.append(args)
        return open_league(args)

    monkeypatch.setattr("warpleague.cli.league.open_league", noted)
    return found


@pytest.fixture
def cup(tmp_path: Path, bots: Path) -> Path:
    """The file of a league that was played."""
    shutil.copytree(bots / "random-python", tmp_path / "one")
    file = tmp_path / "cup.toml"
    file.write_text(FILE)
    assert main(["league", "run", str(file), "--results", str(tmp_path / "results"), "--quiet"]) == 0
    return file


def test_a_look_at_a_league_is_kept_until_something_changes(
    cup: Path,
    opened: list[Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second look opens no store; after a match, a decision, another file, bot, version or width it does."""
    results = ("--results", str(tmp_path / "results"))

    def look(*words: str) -> str:
        capsys.readouterr()
        assert main(["league", "standings", str(cup), *results, *words]) == 0
        return capsys.readouterr().out

    def twice() -> str:
        """What the two next looks print: only the first one opens the store."""
        before = len(opened)
        first = look()
        assert len(opened) == before + 1
        assert look() == first
        assert len(opened) == before + 1
        return first

    def change_the_file() -> None:
        cup.write_text(FILE + "[format]\ndeals = 2\n")

    def play() -> None:
        assert main(["league", "run", str(cup), *results, "--quiet"]) == 0

    def disqualify() -> None:
        assert main(["league", "disqualify", str(cup), "one", "--reason", "a copy", *results]) == 0

    seen = [twice()]
    assert "2 matches" in seen[0]
    change_the_file()
    assert look() == seen[0]  # shown is the league as it was played; and a remark, each time
    assert look() == seen[0]
    assert len(opened) == 3
    changes: list[Callable[[], object]] = [
        play,
        disqualify,
        lambda: monkeypatch.setattr(warpleague, "__version__", "9.9.9"),
        lambda: monkeypatch.setenv("COLUMNS", "70"),
        lambda: (tmp_path / "one").touch(),
    ]
    for change in changes:
        change()
        seen.append(twice())
    assert "4 matches" in seen[1]
    assert "a copy" in seen[2]
    assert len(set(seen)) == 4
    assert look("--json") != seen[-1]
    (tmp_path / "one" / "bot.py").write_text("raise SystemExit(1)\n")
    main(["league", "standings", str(cup), *results])
    assert "one has other content" in capsys.readouterr().err


def test_outputs_of_another_user_or_damaged_ones_are_not_used(
    cup: Path, opened: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is kept is no part of the results; where it cannot be read or written, the command does its work."""
    command = ["league", "status", str(cup), "--results", str(tmp_path / "results"), "--json"]
    capsys.readouterr()
    assert main(command) == 0
    told = capsys.readouterr().out
    (kept,) = (tmp_path / "cache" / "outputs").iterdir()
    for data in (b"", b"{}", b"[]\nmore", b'{"key": 1, "sources": [], "names": []}\n', b"\xff"):
        kept.write_bytes(data)
        assert main(command) == 0
        assert capsys.readouterr().out == told
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").touch()
    assert main(command) == 0
    assert capsys.readouterr().out == told
    assert len(opened) == 7


def test_files_that_have_just_changed_are_looked_at_again(
    cup: Path, opened: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change may get the time of the first one, so nothing is kept so soon after one."""
    monkeypatch.setattr(kept_output, "_SETTLED_S", 3600.0)
    for _ in range(2):
        assert main(["league", "seats", str(cup), "--results", str(tmp_path / "results")]) == 0
    assert len(opened) == 2


def test_few_outputs_are_kept(
    cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Any]
) -> None:
    """The oldest ones go."""
    monkeypatch.setattr(kept_output, "_MAX_OUTPUTS", 2)
    for action in ("seats", "times", "faults", "status"):
        assert main(["league", action, str(cup), "--results", str(tmp_path / "results")]) == 0
    assert len(list((tmp_path / "cache" / "outputs").iterdir())) == 2
