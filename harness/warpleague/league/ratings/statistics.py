"""Elo, and the standard errors and confidence intervals of the figures in tables: means, shares, differences.

A difference d means an expected share of 1 / (1 + 10^(-d/400)). A table of three or more counts as its pairs, and a
shared place as half a point.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import atan, cos, erf, erfc, exp, lgamma, log, pi, sin, sqrt
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# -- elo -------------------------------------------------------------------------------------------------


SCALE = 400.0 / log(10.0)
"""Elo points for one unit of log odds."""


def expected(difference: float) -> float:
    """The expected share of a bot rated `difference` points above its opponent."""
    return 1.0 / (1.0 + exp(-difference / SCALE))


def elo_of(share: float) -> float:
    """The difference in rating at which `share`, above 0 and below 1, is expected."""
    return SCALE * log(share / (1.0 - share))


def pair_points(first: float, second: float) -> float:
    """The points of a bot of rank `first` against one of rank `second`."""
    return 0.5 if first == second else float(first < second)


class SequentialElo:
    """Elo match by match: every match changes the ratings that the next one starts from.

    All pairs of a table are judged by the ratings before it, each with `k` divided by the number of opponents,
    so that a table of any size moves a rating by at most `k`.
    """

    def __init__(self, bots: int, k: float = 16.0, start: float = 1500.0) -> None:
        self.ratings = [start] * bots
        self._k = k

    def add(self, seats: Sequence[int], ranks: Sequence[int]) -> None:
        """Count a match: the bot and the rank of each seat."""
        before = [self.ratings[bot] for bot in seats]
        k = self._k / max(len(seats) - 1, 1)
        for a, b in combinations(range(len(seats)), 2):
            change = k * (pair_points(ranks[a], ranks[b]) - expected(before[a] - before[b]))
            self.ratings[seats[a]] += change
            self.ratings[seats[b]] -= change


# -- statistics ------------------------------------------------------------------------------------------
# Standard errors and confidence intervals of the figures in a league's tables: means, shares, differences.


Z95: Final = 1.959964
"""Standard errors on each side of a 95 % interval, where they are known for sure; see `t95`."""

_NEARLY_NORMAL: Final = 1_000
_NOTHING: Final = 1e-12  # of the sum of squares: what rounding leaves


@attrs.define
class Mean:
    """A mean and its standard error, from a stream of values in groups.

    Values of one group, such as the matches on one deal, share their luck, so they are not independent. The error is
    that of a ratio estimator over groups (Cochran 1977, 9A). For groups of one value it is the usual standard error.
    """

    count: int = 0
    # The first value is subtracted from all others, so that squares of large, similar values lose no digits.
    _origin: float = 0.0
    _total: float = 0.0
    _group: int | None = None
    _sum: float = 0.0
    _size: int = 0
    _groups: int = 0
    _sums2: float = 0.0
    _products: float = 0.0
    _sizes2: int = 0

    @classmethod
    def of_sums(
        cls,
        count: int,
        origin: float,
        total: float,
        groups: int,
        sums2: float,
        products: float,
        sizes2: int,
    ) -> Mean:
        """The mean of `count` values in `groups`: of the values less `origin`, their `total`, and sums over groups.

        These are the sum of the squares of each group's sum, of its sum times its size, and of its size squared.
        """
        if not count:
            return cls()
        # The group that `add` has open is the empty one after the last.
        return cls(count, origin, total, None, 0.0, 0, groups - 1, sums2, products, sizes2)

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """The mean of values that are groups of their own."""
        mean = cls()
        for value in values:
            mean.add(value)
        return mean

    def __add__(self, other: Mean) -> Mean:
        """The mean of both, which have no group in common."""
        if not (self.count and other.count):
            return self if self.count else other
        ours, theirs = self._closed(), other._closed()
        shift = other._origin - self._origin
        return Mean.of_sums(
            self.count + other.count,
            self._origin,
            self._total + other._total + shift * other.count,
            ours[0] + theirs[0],
            ours[1] + theirs[1] + 2 * shift * theirs[2] + shift * shift * theirs[3],
            ours[2] + theirs[2] + shift * theirs[3],
            ours[3] + theirs[3],
        )

    def add(self, value: float, group: int | None = None) -> None:
        """Count one value. Values of one `group` must come one after another; None makes a group of its own."""
        if not self.count:
            self._origin = value
        elif group is None or group != self._group:
            self._groups, self._sums2, self._products, self._sizes2 = self._closed()
            self._sum, self._size = 0.0, 0
        self._group = group
        value -= self._origin
        self.count += 1
        self._total += value
        self._sum += value
        self._size += 1

    @property
    def mean(self) -> float:
        """The mean; zero without values."""
        return self._origin + self._total / max(self.count, 1)

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of the mean, by Student's t; None below two groups."""
        error = self.error
        # There is one degree of freedom less than there are groups; `_groups` does not count the last one yet.
        return None if error is None else error * t95(self._groups)

    @property
    def error(self) -> float | None:
        """The standard error of the mean; None below two groups, and where all went alike."""
        groups, sums2, products, sizes2 = self._closed()
        if groups < 2:
            return None
        mean = self._total / self.count
        spread = sums2 - 2 * mean * products + mean * mean * sizes2
        if spread <= _NOTHING * (sums2 + mean * mean * sizes2):
            return None
        return sqrt(spread * groups / (groups - 1)) / self.count

    def share_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a mean of shares, all from 0 to 1; None without values. It is never empty.

        Student's t alone is too narrow if most groups end alike, so one group of the usual size is added at either end
        (as Agresti and Coull 1998 and Agresti and Caffo 2000 do). If all went alike, it has the `limits_of_equal`.
        """
        groups = self._groups + 1
        if not self.count:
            return None
        if self.error is None:
            return limits_of_equal(self.mean, groups)
        size = max(1, round(self.count / groups))
        wide = self + Mean.of_sums(2 * size, 0.0, size, 2, size**2, size**2, 2 * size**2)
        half = wide.half or 0.0
        return max(0.0, wide.mean - half), min(1.0, wide.mean + half)

    def _closed(self) -> tuple[int, float, float, int]:
        """The number of groups, and over them the sums of sum², sum times size, and size², the last one included."""
        return (
            self._groups + 1,
            self._sums2 + self._sum * self._sum,
            self._products + self._sum * self._size,
            self._sizes2 + self._size * self._size,
        )


def rounded(value: float | None, digits: int = 2) -> float | None:
    """A figure as JSON has it, or None where there is none."""
    return None if value is None else round(value, digits)


@cache
def t95(freedom: int) -> float:
    """How many standard errors make half a 95 % interval, for an error with `freedom` degrees of freedom."""
    low, high = Z95, 13.0  # 12.7 for one degree
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if student(middle, freedom) > 0.975 else (middle, high)
    return high


def student(t: float, freedom: int) -> float:
    """The probability that Student's t with `freedom` > 0 degrees of freedom is below `t`.

    The finite sums of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4; the normal distribution beyond 1000 degrees.
    """
    if freedom > _NEARLY_NORMAL:
        return 0.5 * (1.0 + erf(t / sqrt(2.0)))
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for step in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (step - 1) / step
    within = (angle + sin(angle) * total) * 2.0 / pi if odd else sin(angle) * total
    return 0.5 * (1.0 + within)


def chi_square_tail(value: float, freedom: int) -> float:
    """The probability that chi-square with `freedom` > 0 degrees of freedom is above `value`.

    The finite sums of Abramowitz and Stegun (1964), 26.4.4 and 26.4.5.
    """
    half, odd = value / 2.0, freedom % 2
    if half <= 0.0:
        return 1.0
    powers = (step + odd / 2.0 for step in range(freedom // 2))
    terms = sum(exp(power * log(half) - half - lgamma(power + 1.0)) for power in powers)
    return terms + (erfc(sqrt(half)) if odd else 0.0)


def wilson_interval(won: int, played: int) -> tuple[float, float]:
    """The 95 % interval of a share of `played` > 0 matches (Wilson 1927). It is never empty, even at 0 or 1."""
    share, z2 = won / played, Z95 * Z95
    middle = (share + z2 / (2 * played)) / (1 + z2 / played)
    half = Z95 * sqrt(share * (1 - share) / played + z2 / (4 * played * played)) / (1 + z2 / played)
    return max(0.0, middle - half), min(1.0, middle + half)


def limits_of_equal(
    value: float, count: int, low: float = 0.0, high: float = 1.0, tail: float = 0.025
) -> tuple[float, float]:
    """The interval of a mean whose `count` > 0 values, from `low` to `high`, all were `value`.

    Its ends are the means at which that has a probability of `tail` at most, whatever the distribution of values is
    (by Markov's inequality, for each value). At `low` and `high` this is the interval of Clopper and Pearson (1934).
    """
    likely = tail ** (1 / count)
    return low + (value - low) * likely, high - (high - value) * likely


def differences_to_next(order: Sequence[int], values: Iterable[tuple[int, int, float]]) -> list[Mean]:
    """For each bot of `order` but the last: the mean difference to the next bot, over the deals both played.

    `values` are deal, bot and value; all values of a deal must come one after another. Luck that all bots share on a
    deal cancels out, so the error is smaller than that of the difference of the bots' means.
    """
    means = [Mean() for _ in order[1:]]
    here: int | None = None
    differences: dict[int, float] = {}

    def count() -> None:
        for place, mean in enumerate(means):
            one, other = differences.get(order[place]), differences.get(order[place + 1])
            if one is not None and other is not None:
                mean.add(one - other)

    for deal, bot, value in values:
        if deal != here:
            count()
            here, differences = deal, {}
        differences[bot] = value
    count()
    return means
