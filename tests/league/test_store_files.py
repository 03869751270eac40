"""A store or lock that is removed or replaced while a league is run: told, and nothing is said to be stored."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.league.conftest import Command, Cup

from warpleague.errors import StoreError
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
def test_a_store_that_is_gone_ends_the_run(command: Command, cup: Cup, harm: Any, at: int) -> None:
    """Whenever it happens, the last match included: one clear error, exit code 2, no word of stored matches."""
    path = cup.file("a", "b")
    play = harming(cup.fake.play, harm, cup.results / "cup", at)
    code, out, err = command("run", path, "--quiet", play=play)
    assert (code, out) == (2, "")
    assert "was removed or replaced while the league was running" in err
    assert "Traceback" not in err


def test_two_runs_without_a_lock_store_nothing_twice(cup: Cup) -> None:
    """A second run that began since the lock was removed goes on; the first one stops before it writes again."""
    path = cup.file("a", "b")

    def second(folder: Path) -> None:
        lock_removed(folder)
        with cup.open(path) as league:
            assert cup.run(league).complete

    with cup.open(path) as league:
        folder = league.store.path.parent
        with pytest.raises(StoreError, match=r"league\.lock: was removed or replaced"):
            cup.run(league, play=harming(cup.fake.play, second, folder, 3))
    with cup.read(path) as league:
        assert len(list(league.results())) == 6
        assert altered(league) == []


def test_a_reader_does_not_mind(cup: Cup) -> None:
    """Only who writes looks whether its files are still there."""
    path = cup.file("a", "b")
    cup.play(path)
    with cup.read(path) as league:
        lock_removed(league.store.path.parent)
        assert len(list(league.results())) == 6
