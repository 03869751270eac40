"""A store or lock that is removed or replaced while a league is run: told, and nothing is said to be stored."""

import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.league.conftest import Command, OpenLeague, WriteLeague

from warpleague.errors import StoreError
from warpleague.league.play.running import run_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.upkeep.verifying import altered
from warpleague.match.spec import MatchSpec


def store_removed(folder: Path) -> None:
    for path in folder.glob("league.sqlite*"):
        path.unlink()


def folder_removed(folder: Path) -> None:
    shutil.rmtree(folder)


def folder_renamed(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def store_replaced(folder: Path) -> None:
    shutil.copyfile(folder / "league.sqlite", folder / "copy")
    (folder / "copy").replace(folder / "league.sqlite")


def lock_removed(folder: Path) -> None:
    (folder / "league.lock").unlink()


def lock_replaced(folder: Path) -> None:
    lock_removed(folder)
    (folder / "league.lock").touch()


HARMS = [store_removed, folder_removed, folder_renamed, store_replaced, lock_removed, lock_replaced]


def harming(play: Callable, harm: Callable[[Path], None], folder: Path, at: int) -> Callable:
    """Plays like `play`, and does harm in match number `at`."""
    played = []

    def harmful(spec: MatchSpec) -> Any:
        played.append(spec)
        if len(played) == at:
            harm(folder)
        return play(spec)

    return harmful


@pytest.mark.parametrize("at", [1, 4, 6])
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_store_that_is_gone_ends_the_run(
    command: Command,
    write_league: WriteLeague,
    fake: ModuleType,
    tmp_path: Path,
    harm: Any,
    at: int,
) -> None:
    """Whenever it happens, the last match included: one clear error, exit code 2, no word of stored matches."""
    path = write_league("a", "b")
    play = harming(fake.play, harm, tmp_path / "results" / "cup", at)
    code, out, err = command("run", path, "--quiet", play=play)
    assert (code, out) == (2, "")
    assert "was removed or replaced while the league was running" in err
    assert "Traceback" not in err


def test_two_runs_without_a_lock_store_nothing_twice(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """A second run that began since the lock was removed goes on; the first one stops before it writes again."""
    path = write_league("a", "b")

    def second(folder: Path) -> None:
        lock_removed(folder)
        with open_league(path) as league:
            assert run_league(league, executor=inline, play=fake.play).complete

    with open_league(path) as league:
        folder = league.store.path.parent
        with pytest.raises(StoreError, match=r"league\.lock: was removed or replaced"):
            run_league(league, executor=inline, play=harming(fake.play, second, folder, 3))
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert len(list(league.results())) == 6
        assert altered(league) == []


def test_a_reader_does_not_mind(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """Only who writes looks whether its files are still there."""
    path = write_league("a", "b")
    with open_league(path) as league:
        run_league(league, executor=inline, play=fake.play)
    with open_to_read(load_config(path), tmp_path / "results") as league:
        lock_removed(league.store.path.parent)
        assert len(list(league.results())) == 6
