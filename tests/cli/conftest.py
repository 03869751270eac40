"""Shares the command line called in this process, bots made of a few lines, and one recorded match.

What the commands must do is told by the tests.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from warpleague.cli import main
from warpleague.games import load_game

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeBot = Callable[..., Path]
    Run = Callable[..., "Outcome"]

FIRST = """
from warpline.client import run

run(lambda question: 0, wants=())
"""


class Outcome(NamedTuple):
    """What a command left: its exit code, and what it wrote."""

    code: Any
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


def write_bot(folder: Path, source: str = FIRST, manifest: str = "") -> Path:
    """A Python bot for aliens in `folder`; `manifest` replaces its bot.toml."""
    folder.mkdir(parents=True)
    told = f'name = "{folder.name}"\nversion = "1"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'
    (folder / "bot.toml").write_text(manifest or told)
    (folder / "bot.py").write_text(source)
    return folder


ROOM = {("match",): ("--move-s", "60", "--start-s", "60"), ("bot", "check"): ("--move-s", "60")}
"""Time for every decision, where a test says nothing of time: the machine may be busy."""


def with_room(arguments: list[str]) -> list[str]:
    """The arguments, with time for the bots if the command plays any."""
    if "--move-s" in arguments or "--bank-s" in arguments or "--league" in arguments:
        return arguments
    return arguments + [
        word for verb, more in ROOM.items() if tuple(arguments[: len(verb)]) == verb for word in more
    ]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Calls the command line with some arguments."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        try:
            code: Any = main(with_room([str(argument) for argument in arguments]))
        except SystemExit as exit_:  # argparse
            code = exit_.code
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run


@pytest.fixture
def make_bot(tmp_path: Path) -> MakeBot:
    """Writes a bot under a name."""
    return lambda name, *rest, **more: write_bot(tmp_path / name, *rest, **more)


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bot that always takes the first legal action."""
    return write_bot(tmp_path_factory.mktemp("bots") / "first")


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory, first: Path, bot_cache: Path) -> Path:
    """The record of a match of eight turns between two of `first`."""
    path = tmp_path_factory.mktemp("record") / "match.jsonl"
    arguments = ["match", "aliens", first, first, "--seed", "kept", "--option", "max_turns=8", "--json"]
    assert main(with_room([*map(str, arguments), "--record", str(path)])) == 0
    return path


@pytest.fixture
def position() -> dict[str, Any]:
    """A position of aliens after the opening roll, as JSON."""
    game = load_game("aliens")
    state = game.initial(2, game.Options(max_turns=8))
    state, _ = game.apply(state, (0, 1, 2, 3))
    return json.loads(json.dumps(game.to_json(state)))
