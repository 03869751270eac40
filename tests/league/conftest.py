"""Leagues of bots that do not exist: folders without programs, matches without play."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpleague.games import load_game
from warpleague.league.config import FormatTable, load_config
from warpleague.league.league import open_to_run
from warpleague.league.season import Season
from warpleague.match.spec import Clock, SeatSpec

if TYPE_CHECKING:
    from types import ModuleType

FAKES = Path(__file__).parent / "fakes"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The stand-ins, importable here and in child processes."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.syspath_prepend(str(FAKES))
    import fakeplay

    return fakeplay


class Inline(Executor):
    """Runs a call when it is submitted."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future


@pytest.fixture
def inline() -> Executor:
    return Inline()


@pytest.fixture
def write_league(tmp_path: Path):
    """Writes a league file with folders for its bots; `extra` is appended."""

    def write(
        *bots: str, extra: str = "", deals: int = 3, top: str = 'seed = "test"', name: str = "cup"
    ) -> Path:
        for bot in bots:
            (tmp_path / "bots" / bot).mkdir(parents=True, exist_ok=True)
        listed = ", ".join(f'"bots/{bot}"' for bot in bots)
        path = tmp_path / f"{name}.toml"
        path.write_text(
            f'{top}\nbots = [{listed}]\n[game]\nid = "aliens"\n[format]\ndeals = {deals}\n{extra}\n', "utf-8"
        )
        return path

    return write


@pytest.fixture
def open_league(fake: ModuleType, tmp_path: Path):
    """Opens a league file to run, with the stand-in bundles."""

    def opened(path: Path, results: Path | None = None):
        return open_to_run(load_config(path), results or tmp_path / "results", fake.prepare)

    return opened


@pytest.fixture(scope="session")
def make_season():
    """A season of `n` bots at tables of `players`, without any file."""

    def make(n: int, players: int, secret: bytes = b"s" * 32, names: str = "bot", **form: object) -> Season:
        return Season(
            game="aliens",
            rules=load_game("aliens").rules_version,
            options={},
            players=players,
            format=FormatTable(**form),
            clock=Clock(move_s=1.0),
            level="limits",
            faults="forfeit",
            strikes=0,
            secret=secret,
            bots=tuple(SeatSpec(bot=f"{names}{i}", digest=f"digest {i}") for i in range(n)),
        )

    return make


class InlinePool(Inline):
    """A referee pool without processes."""

    jobs = 2

    def __init__(self, *_: object) -> None:
        pass

    def kill(self) -> None:
        pass


@pytest.fixture
def inline_pool() -> type[InlinePool]:
    return InlinePool
