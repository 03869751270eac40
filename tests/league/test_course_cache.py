"""What a later look at a league goes on with: it finds what a look from the beginning would find."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import attrs
import pytest
from tests.league.conftest import OpenLeague, WriteLeague

from warpleague.errors import StoreError
from warpleague.league.results.league import CourseCache, League, open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.store.columns import PARTS
from warpleague.league.store.disqualifications import disqualify

LADDER = 'kind = "ladder"\nmax_matches = 60'
FORMATS = [LADDER, 'kind = "swiss"\nrounds = 4', 'kind = "knockout"']


class Ladder(NamedTuple):
    """A ladder that is open, what a look at it has begun, and how to store some more of its matches."""

    path: Path
    league: League
    begun: CourseCache
    add: Callable[[int], int]


def add_some(league: League, fake: ModuleType, rng: Random, most: int) -> int:
    """Store some of the matches that are known and not stored, in any order; how many."""
    left = [fixture for fixture in league.schedule if fixture.id not in league.store]
    chosen = rng.sample(left, min(len(left), most))
    specs = [(one, league.season.spec(one.id, one.deal, one.seats)) for one in chosen]
    league.store.add([(one, spec.seats, fake.play(spec)) for one, spec in specs])
    return len(chosen)


@pytest.fixture
def ladder(write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType) -> Iterator[Ladder]:
    """A ladder of some forty matches, which has been looked at."""
    path, begun, rng = write_league("a", "b", "c", deals=1, extra=LADDER), CourseCache(), Random(1)
    with open_league(path) as league:
        while add_some(league, fake, rng, 4) and league.store.count() < 40:
            pass
        look(path, begun)
        yield Ladder(path, league, begun, lambda most: add_some(league, fake, rng, most))


def look(path: Path, begun: CourseCache | None = None, results: str = "results") -> tuple[Any, int | None]:
    """All matches of a league and their number, as an own reader sees them."""
    with open_to_read(load_config(path), path.parent / results) as league:
        if begun is None:
            return league.columns(*PARTS), league.schedule.total
        league = attrs.evolve(league, course=begun)
        with league.store.snapshot():
            return league.columns(*PARTS, everything=True), league.scheduled()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_a_look_that_goes_on_finds_the_same(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, form: str, seed: int
) -> None:
    """Whatever was stored between two looks, in whatever order, all columns and the total are the same."""
    path, begun, rng = write_league("a", "b", "c", "d", deals=1, extra=form), CourseCache(), Random(seed)
    with open_league(path) as league:
        while add_some(league, fake, rng, rng.randrange(1, 7)):
            found, total = look(path, begun)
            fresh, fresh_total = look(path)
            assert found.same(fresh)
            assert total == fresh_total
        assert total == len(found) == league.store.count()


@pytest.mark.parametrize("change", ["removed", "disqualified", "another store"])
def test_it_begins_anew_if_more_than_results_has_changed(
    ladder: Ladder, open_league: OpenLeague, fake: ModuleType, change: str
) -> None:
    """A match that is gone, or a bot that plays no more, changes what follows from the beginning on."""
    store = ladder.league.store
    if change == "removed":
        first = next(iter(ladder.league.schedule))
        with store.writing():
            store.remove(first.id, "a test")
    elif change == "disqualified":
        disqualify(store, "a", "a test", "stay")
    else:
        with open_league(ladder.path, ladder.path.parent / "other") as other:
            while add_some(other, fake, Random(9), 4) and other.store.count() < 40:
                pass
    results = "other" if change == "another store" else "results"
    found, total = look(ladder.path, ladder.begun, results)
    fresh, fresh_total = look(ladder.path, results=results)
    assert found.same(fresh)
    assert total == fresh_total


def test_after_an_error_it_begins_anew(ladder: Ladder) -> None:
    """A damaged match is told at each look, and once it is mended all are found."""
    store = ladder.league.store
    before = set(store.ids())
    ladder.add(9)
    last = (set(store.ids()) - before).pop()
    with store.writing() as db:
        db.execute("UPDATE match SET lines = 'x' WHERE id = ?", (last,))
    for _ in range(2):
        with pytest.raises(StoreError, match=last):
            look(ladder.path, ladder.begun)
    with store.writing() as db:
        db.execute("UPDATE match SET lines = 1 WHERE id = ?", (last,))
    assert look(ladder.path, ladder.begun)[0].same(look(ladder.path)[0])
