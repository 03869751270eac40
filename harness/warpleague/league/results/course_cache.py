"""Remembers a pass through the schedule of a format that goes by results, so that a later look goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.schedule import Course

if TYPE_CHECKING:
    from warpleague.league.schedule.schedule import Schedule
    from warpleague.league.season.season import Season
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.journal import Head
    from warpleague.league.store.store import Store


@attrs.define
class CourseCache:
    """A pass through a schedule as far as its results are stored, with these results as arrays.

    It serves one league after the other that is opened for the same season: it goes on where it ended if only results
    have been added since, and starts again otherwise.
    """

    _known: tuple[Season, frozenset[int], int] | None = None
    _head: Head | None = None
    _course: Course | None = None
    _settled: Columns | None = None
    _cached: tuple[Columns, int | None] | None = None

    def columns(self, schedule: Schedule, store: Store) -> tuple[Columns, int | None]:
        """All matches of the schedule that are stored, with all columns, and how many matches it has, if known."""
        from warpleague.league.store.columns import PARTS, gathered, joined

        players = schedule.season.players
        head, known = store.head(), (schedule.season, schedule.barred, len(store.facts()))
        if self._cached is not None and (head, known) == (self._head, self._known):
            return self._cached
        course, settled = self._course, self._settled
        if course is None or self._known != known or not (self._head and store.goes_back_to(self._head)):
            course, settled = Course(schedule), None
        self._course = self._cached = None  # until all has been read
        course.go_on(schedule)
        parts = [] if settled is None else [settled]
        settled = joined([*parts, gathered(course.settled(), players, PARTS)], players)
        joined_columns = joined([settled, gathered(course.unsettled(), players, PARTS)], players)
        self._known, self._head, self._course, self._settled = known, head, course, settled
        self._cached = joined_columns, course.tally()[1]
        return self._cached
