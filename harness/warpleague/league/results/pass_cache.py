"""What was worked out of a store's matches while they stand still, and what a later look at them can go on with.

Formats that go by results work out at each pass who met whom, which takes long for many matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.schedule import Course
from warpleague.league.store.columns import PARTS, gathered, joined

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.season.season import Season
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.journal import Head


@attrs.define
class Pass:
    """A pass through the schedule of a league whose format goes by results, as far as these are stored.

    It is kept from one look at a league to the next one, and goes on where it ended if only results have been added.
    """

    _known: tuple[Season, frozenset[int], int] | None = None
    _head: Head | None = None
    _course: Course | None = None
    _settled: Columns | None = None

    def look(self, league: League) -> tuple[Columns, int | None]:
        """All matches of the schedule that are stored, with all columns, and how many matches it has, if known."""
        schedule, store, players = league.schedule, league.store, league.season.players
        known = (league.season, schedule.barred, len(store.facts()))
        course, settled = self._course, self._settled
        if course is None or self._known != known or not (self._head and store.goes_back_to(self._head)):
            course, settled = Course(schedule), None
        self._course = None  # until all has been read
        course.go_on(schedule)
        parts = [] if settled is None else [settled]
        settled = joined([*parts, gathered(course.settled(), players, PARTS)], players)
        found = joined([settled, gathered(course.unsettled(), players, PARTS)], players)
        self._known, self._head, self._course, self._settled = known, store.head(), course, settled
        return found, course.tally()[1]


@attrs.define
class Still:
    """What has been worked out within one snapshot of a store; `begun` is what an earlier one has left."""

    begun: Pass
    total: int | None = None
    """How many matches the schedule has, if that is known, once `columns` has looked at them."""
    _columns: Columns | None = None

    def columns(self, league: League) -> Columns:
        """All matches of the schedule that are stored, with all columns."""
        if self._columns is None:
            if league.schedule.format.ahead is None:
                self._columns = gathered(league.stored(), league.season.players, PARTS)
            else:
                self._columns, self.total = self.begun.look(league)
        return self._columns
