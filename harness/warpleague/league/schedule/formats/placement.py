"""Placement: the first bot meets opponents of known strength, always the one that tells most about it.

The two exchange their seats on each deal; the field has all other seats. Alone at the table each plays the deal, and
the higher score wins it. Deals are counted in the order of the schedule, as in a test of strength.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.ratings.placement import Placement, half_of
from warpleague.league.ratings.statistics import pair_points
from warpleague.league.season.fixture import Group
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.schedule.formats.api import Batches
    from warpleague.league.season.fixture import Fixture, StoredMatch, Table
    from warpleague.league.season.season import Season
    from warpleague.match.spec import MatchResult

    Match = tuple[Table, StoredMatch | MatchResult]
    """The bot in each seat, and the result."""

MATCHES_A_DEAL: Final = 2

_RATED: Final = 0
_FEWEST: Final = 6  # deals before it may end
_BEYOND: Final = (
    100.0  # Elo outside of the scale: who is surely so far from its ends need not be known better
)
_LEAST, _MAX, _PART = 2, 16, 8  # deals in a batch, and which part of those played it is


def seats_of(players: int, number: int) -> tuple[int, ...]:
    """The seats that the two bots of a deal exchange: each pair in turn; alone at the table both have the only one."""
    pairs: list[tuple[int, ...]] = [*combinations(range(players), 2)] or [(0,)]
    return pairs[number % len(pairs)]


@attrs.frozen
class PlacementFormat:
    """Batches of whole deals against one opponent each, until the strength is known well enough."""

    season: Season
    ahead: int | None = 1

    def batches(self) -> Batches:
        """The deals of the first bot against the opponent that is nearest to it by then."""
        form, known = self.season.format, Placement(self.season.format.levels)
        most = None if form.max_matches is None else max(form.max_matches // MATCHES_A_DEAL, 1)
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
                    if outcome.played is not None:
                        count_deal(known, list(zip(outcome.group.seats, outcome.played, strict=True)))
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
        field = names[1 + len(form.levels) :]
        beside = f" beside {', '.join(field)}" if field else ""
        return (
            f"placement: {names[_RATED]} among {among} of known strength{beside}, within {form.within:g} Elo"
        )

    def _group(self, level: int, round_: int) -> Group:
        """The two matches of a deal."""
        players, other = self.season.players, 1 + level
        field = tuple(range(1 + len(self.season.format.levels), len(self.season.bots)))
        seats, tables = seats_of(players, round_), []
        for pair in ((_RATED, other), (other, _RATED)):
            both, others = dict(zip(seats, pair, strict=False)), iter(field)
            tables.append(tuple(both[seat] if seat in both else next(others) for seat in range(players)))
        return Group((_RATED, other, *field), tuple(tables), round_)


def count_deal(known: Placement, matches: Sequence[Match]) -> None:
    """Count a deal of the first bot against an opponent."""
    tables = [seats for seats, _ in matches]
    (other,) = {bot for seats in tables for bot in seats if _RATED < bot <= len(known.levels)}
    if len(tables[0]) == 1:
        scores = {seats[0]: result.scores[0] - (result.rival or 0.0) for seats, result in matches}
        known.add(other - 1, pair_points(-scores[_RATED], -scores[other]), 1)
        return
    points = sum(
        pair_points(result.ranks[seats.index(_RATED)], result.ranks[seats.index(other)])
        for seats, result in matches
    )
    known.add(other - 1, points, len(matches))


class PlacementFollower:
    """Counts matches that end in any order: each deal once it is whole. Their order has no effect."""

    def __init__(self, season: Season) -> None:
        self.state, self.within = Placement(season.format.levels), season.format.within
        self._open: dict[int, list[Match]] = {}

    def finished(self, fixture: Fixture, result: StoredMatch | MatchResult) -> None:
        """A match has ended."""
        matches = self._open.setdefault(fixture.group, [])
        matches.append((fixture.seats, result))
        if len(matches) == MATCHES_A_DEAL:
            count_deal(self.state, self._open.pop(fixture.group))


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
