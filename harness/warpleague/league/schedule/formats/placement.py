"""Placement: the first bot meets opponents of known strength, always the one that tells most about it.

Deals are counted in the order of the schedule, as in a test of strength.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.ratings.placement import Placement, half_of
from warpleague.league.ratings.statistics import pair_points
from warpleague.league.schedule.formats.api import Batches, describe_seatings, seatings_count
from warpleague.league.schedule.formats.round_robin import group_of
from warpleague.text import counted

if TYPE_CHECKING:
    from warpleague.league.season.fixture import Fixture, Group, Outcome, StoredMatch, Table
    from warpleague.league.season.season import Season
    from warpleague.match.spec import MatchResult

_RATED: Final = 0
_FEWEST: Final = 6  # deals before it may end
_BEYOND: Final = (
    100.0  # Elo outside of the scale: who is surely so far from its ends need not be known better
)
_LEAST, _MAX, _PART = 2, 16, 8  # deals in a batch, and which part of those played it is


@attrs.frozen
class PlacementFormat:
    """Batches of whole deals against one opponent each, until the strength is known well enough."""

    season: Season
    ahead: int | None = 1

    def batches(self) -> Batches:
        """The deals of the first bot against the opponent that is nearest to it by then."""
        form, known = self.season.format, Placement(self.season.format.levels)
        orders = seatings_count(form.seats, self.season.players)
        most = None if form.max_matches is None else max(form.max_matches // orders, 1)
        rounds: Counter[int] = Counter()
        waiting = 0
        while True:
            given = rounds.total()
            size = min(max(_LEAST, given // _PART), _MAX)
            if most is not None:
                size = min(size, most - given)
            level = known.next_level()
            outcomes = yield [self._group(level, rounds[level] + number) for number in range(size)]
            rounds[level] += size
            waiting += 1 if size else 0
            if outcomes:
                waiting -= 1
                for outcome in outcomes:
                    count_deal(known, outcome)
                if enough(known, form.within):
                    return True
            if not size and not waiting:
                return False

    def total(self, without: frozenset[int]) -> int | None:
        """Results decide it."""
        return 0 if _RATED in without else None

    def describe(self) -> str:
        """Who is placed, and how well."""
        form, names = self.season.format, self.season.names
        among = counted(len(form.levels), "opponent")
        return (
            f"placement: {names[_RATED]} among {among} of known strength, within {form.within:g} Elo, "
            f"{describe_seatings(form)}"
        )

    def _group(self, level: int, round_: int) -> Group:
        return group_of(self.season, (_RATED, 1 + level), round_)


def _points(seats: Table, result: StoredMatch | MatchResult) -> float:
    seat = seats.index(_RATED)
    return pair_points(result.ranks[seat], result.ranks[1 - seat])


def count_deal(known: Placement, outcome: Outcome) -> None:
    """Count a deal that was played to its end."""
    if outcome.played is None:
        return
    points = sum(map(_points, outcome.group.seats, outcome.played))
    known.add(sum(outcome.group.seats[0]) - 1, points, len(outcome.group.seats))


class PlacementFollower:
    """Counts matches that end in any order: each deal once it is whole. Their order has no effect."""

    def __init__(self, season: Season) -> None:
        self.state, self.within = Placement(season.format.levels), season.format.within
        self._size = seatings_count(season.format.seats, season.players)
        self._open: dict[int, list[float]] = {}

    def finished(self, fixture: Fixture, result: StoredMatch | MatchResult) -> None:
        """A match has ended."""
        points = self._open.setdefault(fixture.group, [])
        points.append(_points(fixture.seats, result))
        if len(points) == self._size:
            self.state.add(sum(fixture.seats) - 1, sum(self._open.pop(fixture.group)), self._size)


def enough(known: Placement, within: float) -> bool:
    """Whether the strength is known well enough: half its interval, or that it is far beyond the scale."""
    if known.deals < _FEWEST:
        return False
    estimate = known.estimate()
    half = half_of(estimate)
    return (
        (half is not None and half <= within)
        or (estimate.low is not None and estimate.low > known.levels[-1] + _BEYOND)
        or (estimate.high is not None and estimate.high < known.levels[0] - _BEYOND)
    )
