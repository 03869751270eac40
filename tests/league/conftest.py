"""Leagues of bots that do not exist: folders without programs, matches without play."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from tests.league.inline import Inline, InlinePool

from warpleague.cli import TOOLS, Tools, main
from warpleague.games import load_game
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.organising import Merged, merge_from
from warpleague.league.play.running import run_league
from warpleague.league.results.league import League, open_to_read
from warpleague.league.season.config import FormatTable, load_config
from warpleague.league.season.season import Season
from warpleague.league.store.schema import store_at
from warpleague.match.spec import Confinement, MatchResult, MatchSpec, SeatSpec, TimeControl

MakeSeason: TypeAlias = Callable[..., Season]
Refereed: TypeAlias = Callable[..., Callable[[MatchSpec], MatchResult]]
Command: TypeAlias = Callable[..., tuple[int, str, str]]


FAKES = Path(__file__).parent / "fakes"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The stand-ins, importable here and in child processes."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.syspath_prepend(str(FAKES))
    import fakeplay

    return fakeplay


SHORT = 'id = "aliens"\noptions = { max_turns = 10 }'
"""The game of short matches."""


class Cup:
    """A league of stand-ins in a folder: writes its file, opens it, plays its matches in this process, reads it."""

    short = SHORT

    def __init__(self, folder: Path, fake: ModuleType, kept: Path) -> None:
        self.folder, self.fake, self.inline, self.kept = folder, fake, Inline(), kept
        self.results = folder / "results"
        self.store = self.results / "cup" / "league.sqlite"

    def file(
        self,
        *bots: str,
        extra: str = "",
        deals: int = 3,
        top: str = 'seed = "test"',
        name: str = "cup",
        game: str = 'id = "aliens"',
    ) -> Path:
        """Write a league file with folders for its bots; `extra` is appended."""
        for bot in bots:
            (self.folder / "bots" / bot).mkdir(parents=True, exist_ok=True)
        listed = ", ".join(f'"bots/{bot}"' for bot in bots)
        path = self.folder / f"{name}.toml"
        text = f"{top}\nbots = [{listed}]\n[game]\n{game}\n[format]\ndeals = {deals}\n{extra}\n"
        path.write_text(text, "utf-8")
        return path

    def open(self, path: Path, results: Path | None = None) -> Any:
        """Open a league file to run."""
        return open_to_run(load_config(path), results or self.results, self.fake.prepare, new_pool=InlinePool)

    def read(self, path: Path) -> Any:
        """Open the league of a file to read."""
        return open_to_read(load_config(path), self.results)

    def run(self, league: League, **how: Any) -> Any:
        """Play the league, or a part of it."""
        return run_league(league, **{"executor": self.inline, "play": self.fake.play, **how})

    def play(self, path: Path, results: Path | None = None, **how: Any) -> Any:
        """Open a league file, play it, or a part of it, and close it again."""
        with self.open(path, results) as league:
            return self.run(league, **how)

    @contextmanager
    def altered(self) -> Iterator[sqlite3.Connection]:
        """The database of the store, as somebody with an editor has it."""
        with closing(sqlite3.connect(self.store)) as db, db:
            yield db

    def take_over(self, league: League, path: Path, *, trust: bool = False) -> Merged:
        """Merge the store at a path into an open league, as `league merge` does, but for its processes."""
        with league.store.writing() as db:
            theirs = store_at(path)
            return merge_from(league.store, db, league.season, theirs, trust=trust, new_pool=InlinePool)

    def play_once(self, path: Path, name: str, **how: Any) -> tuple[Path, Path]:
        """Play a league, or copy what another test played of the one with this name; its file, and its store's."""
        kept = self.kept / name
        if kept.exists():
            shutil.copytree(kept, self.results)
        else:
            self.play(path, **how)
            shutil.copytree(self.results, kept)
        return path, self.store

    def play_short(self, play: Any, extra: str = "") -> tuple[Path, Path]:
        """Play a league of six short matches with what `refereed` makes; its file, and the file of its store."""
        path = self.file("a", "b", extra=extra, game=SHORT)
        return self.play_once(path, f"short {sha256(extra.encode()).hexdigest()}", play=play)


@pytest.fixture
def cup(fake: ModuleType, tmp_path: Path, kept_leagues: Path) -> Cup:
    return Cup(tmp_path, fake, kept_leagues)


@pytest.fixture(scope="session")
def kept_leagues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of leagues that are played once for many tests."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="session")
def refereed() -> Refereed:
    """Makes what plays real matches: refereed in this process, between bots that always answer 0.

    `confinement` is what the records' headers say of how the bots were confined.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FAKES))
        import fakeplay

    def make(confinement: Confinement | None = None) -> Any:
        return partial(fakeplay.play_refereed, confinement=confinement)

    return make


@pytest.fixture(scope="session")
def make_season() -> MakeSeason:
    """A season of `n` bots at tables of `players`, without any file."""

    def make(n: int, players: int, secret: bytes = b"s" * 32, names: str = "bot", **form: Any) -> Season:
        return Season(
            game="aliens",
            rules=load_game("aliens").rules_version,
            options={},
            players=players,
            format=FormatTable(**form),
            clock=TimeControl(move_s=1.0),
            level="limits",
            faults="forfeit",
            strikes=0,
            secret=secret,
            bots=tuple(SeatSpec(bot=f"{names}{i}", digest=f"digest {i}") for i in range(n)),
        )

    return make


@pytest.fixture
def league_cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `warpleague league ACTION FILE ...`; gives exit code, output and remarks."""

    def run(action: str, path: Path, *arguments: str, tools: Tools = TOOLS) -> tuple[int, str, str]:
        words = ["league", action, str(path), "--results", str(tmp_path / "results"), *arguments]
        code = main(words, tools)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def tools(fake: ModuleType) -> dict[str, Any]:
    """Stand-ins: no bot is bundled, no match played, and no process started."""
    return {"prepare": fake.prepare, "play": fake.play, "new_pool": InlinePool}


@pytest.fixture
def command(tools: dict[str, Any], league_cli: Command) -> Command:
    """The same with the stand-ins, or with others."""
    return lambda *words, **others: league_cli(*words, tools=Tools(**{**tools, **others}))
