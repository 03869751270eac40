"""How many matches of a league are played, and which are missing."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from warpleague.league.schedule.schedule import Course

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.results.league import League
    from warpleague.league.schedule.schedule import Schedule
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch


def count_played(league: League) -> int:
    """How many of the matches that count are stored; where they are numbered, it need not read each."""
    if league.schedule.format.ahead is not None:
        return Course(league.counting).tally()[0]
    return sum(league.count_confinements().values())


def progress_of(league: League, course: Course) -> tuple[int, int | None]:
    """How many of the matches that count are stored, and how many there will be, if known; `course` is what is due."""
    form = league.schedule.format
    if form.ahead is None or league.disqualified:
        stored = count_played(league)
        return stored, league.total(stored)
    stored, total = course.tally()
    known = form.total(frozenset())
    return stored, total if known is None else known


def left_of(league: League) -> Schedule:
    """The matches that are due, without those that have a number in the store, if the format needs no results."""
    return _unnumbered(league, league.due) if league.is_numbered else league.due


def listed(league: League) -> Iterator[tuple[Fixture, StoredMatch | None]]:
    """All matches of the schedule, in its order, each with its result or None; their `times` may be left empty.

    Where they are numbered in the store, none is looked up by its id. The caller reads in one `Store.snapshot`: else
    a match that is stored meanwhile may come twice.
    """
    if not league.is_numbered:
        return league.store.look_up(league.schedule)
    stored = league.store.numbered(league.season, times=False)
    if not league.schedule.left_out and league.schedule.fixed_total == league.store.count_numbered().total():
        return stored
    missing = ((fixture, None) for fixture in _unnumbered(league, league.schedule))
    return merge(stored, missing, key=lambda row: row[0].number)


def _unnumbered(league: League, schedule: Schedule) -> Schedule:
    """The matches of `schedule` that have no number in the store; of a format that needs no results."""
    numbers = league.store.numbers()
    stored = bytearray(max(numbers, default=0) + 1)
    for number in numbers:
        stored[number] = 1
    return schedule.skipping(bytes(stored))
