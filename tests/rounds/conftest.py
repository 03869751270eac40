"""Shares files of rounds, authors made of a few lines of shell, and the command line called in this process.

The rounds are as small as can be: one deal, matches of two turns, no earlier versions, and bots that wait for more.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Outcome

from warpleague.cli import main

Run = Callable[..., "Outcome"]
Make = Callable[..., Path]


ROOT = Path(__file__).resolve().parents[2]
BOT = """
from warpline.client import run

CHOICE = 0
run(lambda question: min(CHOICE, len(question.legal) - 1), wants=("legal",), reusable=True)
"""
HEAD = """
rounds = {rounds}
deals = 1
seed = "test"
{more}
[game]
id = "aliens"
options = {{ max_turns = 2 }}
[clock]
move_s = 60
start_s = 60
[rules]
level = "{level}"
[run]
jobs = 2
affinity = "none"
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Calls `warpleague rounds` with results in a folder of the test's own."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        words = ["rounds", *map(str, arguments), "--results", str(tmp_path / "results")]
        try:
            code: Any = main(words)
        except SystemExit as exit_:  # argparse
            code = exit_.code
        return Outcome(code, *capsys.readouterr())

    return run


def write_rounds(
    folder: Path,
    authors: dict[str, str],
    rounds: int = 2,
    level: str = "limits",
    more: str = "previous = 0",
    **own: str,
) -> Path:
    """A file of rounds: `authors` are shell scripts by name, `own` are lines for the table of an author.

    An author whose script is empty is fixed.
    """
    bot = folder / "start"
    bot.mkdir(parents=True, exist_ok=True)
    (bot / "bot.py").write_text(BOT, "utf-8")
    (bot / "bot.toml").write_text(
        'name = "start"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\nreusable = true\n', "utf-8"
    )
    text = HEAD.format(rounds=rounds, level=level, more=more)
    for name, script in authors.items():
        text += f'[[authors]]\nname = "{name}"\nstart = "start"\n'
        if not script:
            text += "fixed = true\n"
            continue
        program = folder / f"{name}.sh"
        program.write_text(f"#!/bin/sh\nset -eu\n{script}\n", "utf-8")
        program.chmod(0o755)
        text += f'edit = ["./{name}.sh"]\n{own.get(name, "")}\n'
    path = folder / "small.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a file of rounds, as `write_rounds` does."""
    return lambda authors, **more: write_rounds(tmp_path, authors, **more)


def place(tmp_path: Path) -> Path:
    """The folder of the run of `small.toml`."""
    return tmp_path / "results" / "small"
