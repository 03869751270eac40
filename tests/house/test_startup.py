"""Checks that asking the program what it is costs little more than starting Python.

What the answers say is the command line's own tests' business.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from warpleague.cli import main

# Each costs tens of milliseconds, and none has a part in printing a help text.
HEAVY = (
    "asyncio",
    "backports.zstd",
    "cattrs",
    "concurrent.futures",
    "jinja2",
    "msgspec",
    "rich.live",
    "rich.markdown",
    "sqlite3",
    "trio",
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No output is kept from before."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))


def loaded_by(*arguments: str, before: str = "") -> set[str]:
    """The modules loaded when the program ends after being called with these arguments, code `before` it."""
    code = (
        f"{before}"
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from warpleague.cli import main\n"
        f"sys.argv = ['warpleague', *{arguments!r}]\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    return set(done.stderr.split())


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_start_up_is_cheap(argument: str) -> None:
    """Help and version load neither the event loop nor the converters, the database or the drawing."""
    assert loaded_by(argument) & set(HEAVY) == set()


def test_listing_the_games_is_cheap() -> None:
    """The list of games loads no engine, and neither the event loop nor the converters, the database or the arrays."""
    heavy = {*HEAVY, "attr", "importlib.metadata", "numpy", "warpleague.games.api", "warpline.messages"}
    assert loaded_by("games") & heavy == set()


def test_the_status_of_a_league_is_cheap(tmp_path: Path) -> None:
    """Looking how far a league is loads neither the event loop nor the arrays that tables are counted with."""
    config = ("leagues/demo-sheets.toml", "--results", str(tmp_path))
    assert main(["league", "commit", *config, "--entrants"]) == 0
    heavy = {"asyncio", "concurrent.futures", "jinja2", "numpy", "trio", "warpline.messages"}
    assert loaded_by("league", "status", *config) & heavy == set()


def test_a_quiet_run_draws_nothing(tmp_path: Path) -> None:
    """A run without progress and tables does not load what draws them: all cores would wait for it at the end."""
    config = ("leagues/demo-sheets.toml", "--results", str(tmp_path))
    loaded = loaded_by("league", "run", *config, "--quiet", "--jobs", "1", "--matches", "1")
    assert "warpleague.league.play.running" in loaded
    assert {name for name in loaded if name.split(".")[0] == "rich"} == set()


def test_importing_the_wire_loads_no_harness() -> None:
    """A bot that imports the client pays for nothing of the harness."""
    code = "import sys, warpline; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name for name in done.stdout.split() if name.split(".")[0] in ("warpleague", "trio", "rich")}
