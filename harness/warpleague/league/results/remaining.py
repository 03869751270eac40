"""How much of a league is played, and what is left to play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.league.schedule.schedule import Course

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.schedule.schedule import Schedule


def count_played(league: League) -> int:
    """How many of the matches that count are stored; without a look at each, where they are numbered."""
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
    if league.schedule.format.ahead is not None or not league.is_numbered:
        return league.due
    numbers = league.store.numbers()
    stored = bytearray(max(numbers, default=0) + 1)
    for number in numbers:
        stored[number] = 1
    return league.due.skipping(bytes(stored))
