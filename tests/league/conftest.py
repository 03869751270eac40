"""Leagues of bots that do not exist: folders without programs, matches without play."""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from tests.league.inline import Inline, InlinePool

from warpleague.cli import main
from warpleague.cli.tools import TOOLS, Tools
from warpleague.games import load_game
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.running import run_league
from warpleague.league.results.league import League
from warpleague.league.season.config import FormatTable, load_config
from warpleague.league.season.season import Season
from warpleague.league.store.schema import store_at
from warpleague.league.upkeep.organising import Merged, merge_from
from warpleague.match.spec import Confinement, MatchResult, MatchSpec, SeatSpec, TimeControl

WriteLeague: TypeAlias = Callable[..., Path]
OpenLeague: TypeAlias = Callable[..., League]
MakeSeason: TypeAlias = Callable[..., Season]
Refereed: TypeAlias = Callable[..., Callable[[MatchSpec], MatchResult]]
TakeOver: TypeAlias = Callable[..., Merged]
PlayShort: TypeAlias = Callable[..., tuple[Path, Path]]
Command: TypeAlias = Callable[..., tuple[int, str, str]]


FAKES = Path(__file__).parent / "fakes"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The stand-ins, importable here and in child processes."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.syspath_prepend(str(FAKES))
    import fakeplay

    return fakeplay


@pytest.fixture
def inline() -> Executor:
    return Inline()


@pytest.fixture
def write_league(tmp_path: Path) -> WriteLeague:
    """Writes a league file with folders for its bots; `extra` is appended."""

    def write(
        *bots: str,
        extra: str = "",
        deals: int = 3,
        top: str = 'seed = "test"',
        name: str = "cup",
        game: str = 'id = "aliens"',
    ) -> Path:
        for bot in bots:
            (tmp_path / "bots" / bot).mkdir(parents=True, exist_ok=True)
        listed = ", ".join(f'"bots/{bot}"' for bot in bots)
        path = tmp_path / f"{name}.toml"
        path.write_text(
            f"{top}\nbots = [{listed}]\n[game]\n{game}\n[format]\ndeals = {deals}\n{extra}\n", "utf-8"
        )
        return path

    return write


@pytest.fixture
def open_league(fake: ModuleType, tmp_path: Path) -> OpenLeague:
    """Opens a league file to run, with the stand-in bundles."""

    def opened(path: Path, results: Path | None = None) -> Any:
        return open_to_run(
            load_config(path), results or tmp_path / "results", fake.prepare, new_pool=InlinePool
        )

    return opened


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


SHORT = 'id = "aliens"\noptions = { max_turns = 10 }'


@pytest.fixture
def short() -> str:
    """The game of short matches, for `write_league`."""
    return SHORT


@pytest.fixture
def take_over() -> TakeOver:
    """Merges the store at a path into an open league, as `league merge` does, but for its processes."""

    def take_over(league: League, path: Path, *, trust: bool = False) -> Merged:
        with league.store.writing() as db:
            return merge_from(
                league.store, db, league.season, store_at(path), trust=trust, new_pool=InlinePool
            )

    return take_over


@pytest.fixture
def play_short(
    write_league: WriteLeague,
    open_league: OpenLeague,
    inline: Executor,
    tmp_path: Path,
) -> PlayShort:
    """Plays a league of six short matches with what `refereed` makes; gives its file, and the file of its store."""

    def run(play: Any, extra: str = "") -> tuple[Path, Path]:
        path = write_league("a", "b", extra=extra, game=SHORT)
        with open_league(path) as league:
            run_league(league, executor=inline, play=play)
        return path, tmp_path / "results" / "cup" / "league.sqlite"

    return run


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
