"""How strong a bot is beside opponents whose strengths are known: one likelihood over whole deals.

The likelihood does not depend on how opponents were chosen, so they may be chosen by the results so far.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import exp, log, log1p
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.ratings.statistics import SCALE, expected, rounded, t95

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.league.ratings.sprt import Estimate

_FAR: Final = 4_000.0  # Elo beyond the ends of the scale: further than any match tells
_BOUND: Final = 0.05  # the probability with which a bound for a bot that won or lost everything may be wrong
_MODERATION: Final = 4
"""Deals that count as if they varied as independent matches do, so that few deals that went alike do not seem sure."""
_SPREAD: Final = (
    300.0  # Elo: how far bots are from the middle of the scale; it only chooses the first opponents
)


@attrs.frozen
class Place:
    """Where a bot is on a scale, with the ends of its 95 % interval; an end is null where it is open."""

    level: float | None
    """2.5 is halfway from the second to the third; null: it won or lost everything, or is beyond the scale"""
    level_low: float | None
    level_high: float | None
    elo_over_random: float | None
    elo_over_random_low: float | None
    elo_over_random_high: float | None
    levels_beaten: int
    """how many levels it surely beats: those below its interval"""


@attrs.define
class Placement:
    """The deals of one bot against opponents of the strengths `levels`, in Elo, from weak to strong.

    The points of a deal have the expectation that Elo gives them; how much they vary is measured. The factor between
    this and the variance of independent matches is moderated towards 1 (Smyth 2004, with 4 deals for the prior), and
    divides the deviance; so the interval is asymmetric where the points are (McCullagh and Nelder 1989, 9.2).
    """

    levels: tuple[float, ...]
    _deals: Counter[tuple[int, float, int]] = attrs.field(factory=Counter)

    def add(self, level: int, points: float, matches: int) -> None:
        """Count a deal of `matches` matches against the opponent number `level`, from 0, with a point for each win."""
        self._deals[level, points, matches] += 1

    @property
    def deals(self) -> int:
        """How many deals were counted."""
        return self._deals.total()

    @property
    def matches(self) -> int:
        """How many matches were counted."""
        return sum(matches * count for (_, _, matches), count in self._deals.items())

    def against(self, level: int) -> tuple[float, int]:
        """The points, and the matches, against the opponent number `level`."""
        here = [(points * n, matches * n) for (of, points, matches), n in self._deals.items() if of == level]
        return sum(points for points, _ in here), sum(matches for _, matches in here)

    @property
    def one_way(self) -> int | None:
        """1 if the bot won every match, -1 if it lost every match; None elsewhere."""
        points = sum(points * count for (_, points, _), count in self._deals.items())
        if not self.deals or 0 < points < self.matches:
            return None
        return 1 if points else -1

    def estimate(self) -> Estimate:
        """The strength with its 95 % interval; after wins or losses only, a bound of 95 % on one side.

        The bound holds even if matches on one deal always end alike. All are None before the first deal.
        """
        from warpleague.league.ratings.sprt import Estimate  # numpy, which other leagues do without

        if not self.deals:
            return Estimate(None, None, None)
        bottom, top = self.levels[0] - _FAR, self.levels[-1] + _FAR
        if way := self.one_way:
            bound = _root(lambda elo: way * (log(_BOUND) - self._alike(elo)), bottom, top)
            return Estimate(None, bound, None) if way > 0 else Estimate(None, None, bound)
        elo = _root(self._score, bottom, top)
        freedom = _MODERATION + self.deals - 1
        most = self._likelihood(elo) - self._dispersion(elo, freedom) * t95(freedom) ** 2 / 2
        low = _root(lambda at: most - self._likelihood(at), bottom, elo)
        high = _root(lambda at: self._likelihood(at) - most, elo, top)
        return Estimate(elo, low, high)

    def next_level(self) -> int:
        """The opponent that tells most: the one whose strength is nearest to what is known of the bot's."""
        middle = sum(self.levels) / len(self.levels)
        weight = SCALE / _SPREAD**2
        likely = _root(
            lambda elo: self._score(elo) - (elo - middle) * weight,
            self.levels[0] - _FAR,
            self.levels[-1] + _FAR,
        )
        return min(range(len(self.levels)), key=lambda level: abs(self.levels[level] - likely))

    def place(self) -> Place:
        """Where the bot is on the scale of `levels`."""
        estimate = self.estimate()
        elo, low, high = estimate.elo, estimate.low, estimate.high
        at, at_low, at_high = (
            None if end is None else rounded(level_of(self.levels, end)) for end in (elo, low, high)
        )
        beaten = 0 if low is None else sum(level < low for level in self.levels)
        return Place(at, at_low, at_high, rounded(elo), rounded(low), rounded(high), beaten)

    def left(self, within: float) -> int | None:
        """About how many more deals make half the interval `within` Elo; None where nothing tells."""
        half = half_of(self.estimate())
        return None if half is None else max(round(self.deals * ((half / within) ** 2 - 1)), 0)

    def _score(self, elo: float) -> float:
        """By how many points the results are better than expected of `elo`: falls as it rises."""
        return sum(
            count * (points - matches * expected(elo - self.levels[level]))
            for (level, points, matches), count in self._deals.items()
        )

    def _likelihood(self, elo: float) -> float:
        """The logarithm of the likelihood, as if all matches were independent."""
        return sum(
            count * (points * _log_share(elo - at) + (matches - points) * _log_share(at - elo))
            for (level, points, matches), count in self._deals.items()
            for at in (self.levels[level],)
        )

    def _alike(self, elo: float) -> float:
        """The same if each deal were one match, for a bot that won or lost everything."""
        way = 1 if self.one_way == 1 else -1
        return sum(
            count * _log_share(way * (elo - self.levels[key[0]])) for key, count in self._deals.items()
        )

    def _dispersion(self, elo: float, freedom: int) -> float:
        """The variance of deals' points over that of independent matches."""
        seen = usual = 0.0
        for (level, points, matches), count in self._deals.items():
            share = expected(elo - self.levels[level])
            seen += count * (points - matches * share) ** 2
            usual += count * matches * share * (1.0 - share)
        return (_MODERATION + self.deals * seen / usual) / freedom


def half_of(estimate: Estimate) -> float | None:
    """Half the interval of an estimate, in Elo; None where it has an open end."""
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def level_of(levels: Sequence[float], elo: float) -> float | None:
    """Where `elo` is on a scale: 1 is its first level, 2.5 halfway from the second to the third; None beyond it."""
    for number, (low, high) in enumerate(pairwise(levels), start=1):
        if low <= elo <= high:
            return number + (elo - low) / (high - low)
    return None


def _log_share(difference: float) -> float:
    """The logarithm of the expected share, also where the share is almost 0."""
    odds = difference / SCALE
    return -log1p(exp(-odds)) if odds > 0 else odds - log1p(exp(odds))


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero between `low` and `high`, to a hundredth of an Elo point."""
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
