"""Tests of strength: whether one bot is better than another by so much, with as few deals as that takes.

This is the generalised sequential probability ratio test (Wald 1945; Li, Liu and Ying 2014). Its unit is the deal
with all its matches, whose luck they share; for the two seat orders of two bots it is the pentanomial test. What is
tested is the mean of the deals' values, and nothing else is assumed of them: the likelihoods are those of a
multinomial distribution, each at its maximum under the hypothesis, exact also where an outcome was never seen.
"""

from __future__ import annotations

from math import erf, floor, log, sqrt
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

from warpleague.league.ratings.statistics import SCALE, elo_of, expected, limits_of_equal, t95

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Whole = NDArray[np.int64]


Unit = Literal["elo", "normalized"]
"""The unit of hypotheses: Elo, or normalised Elo, in which a match's value has a deviation of a half."""


@attrs.frozen
class Sprt:
    """A test of the hypothesis that the difference is `elo1` against the one that it is `elo0`.

    `alpha` is the probability to accept `elo1` if the truth is `elo0`, `beta` the one to accept `elo0` if it is
    `elo1`. `games` is the number of a bot's matches in a deal; normalised Elo refers to one of them.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    unit: Unit = "elo"
    games: int = 2

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratio at or below which `elo0` is accepted, and the one at or above for `elo1` (Wald)."""
        return log(self.beta / (1.0 - self.alpha)), log((1.0 - self.beta) / self.alpha)

    def shares(self, deviation: float) -> tuple[float, float]:
        """The mean values of a deal under both hypotheses, if its standard deviation is `deviation`."""
        if self.unit == "elo":
            return expected(self.elo0), expected(self.elo1)
        low, high = (self._ratio(elo) * deviation for elo in (self.elo0, self.elo1))
        return 0.5 + low, 0.5 + high

    def ratios(self, values: Array, counts: Array) -> Array:
        """The log likelihood ratio of `elo1` to `elo0`, for `counts` (..., n) of `values` (n) that deals had.

        `values` must include the least and the greatest value that a deal can have.
        """
        counts = np.asarray(counts, dtype=float)
        if self.unit == "elo":
            cost0, cost1 = (mean_cost(values, counts, expected(elo)) for elo in (self.elo0, self.elo1))
        else:
            cost0, cost1 = (
                normalized_cost(values, counts, 0.5, self._ratio(elo)) for elo in (self.elo0, self.elo1)
            )
        return cost0 - cost1

    def _ratio(self, elo: float) -> float:
        """The distance of a deal's mean value from a half, in its standard deviations."""
        # Elo is 2 * SCALE times the distance in deviations of one match, which is 0.5 without draws.
        return elo / (2.0 * SCALE) * sqrt(self.games)


@attrs.frozen
class Estimate:
    """A difference in Elo: `low` and `high` are its 95 % interval, None where there is no limit."""

    elo: float | None
    low: float | None
    high: float | None

    def to_json(self) -> dict[str, float | None]:
        """The estimate as a JSON object."""
        return {
            name: None if value is None else round(value, 2) for name, value in attrs.asdict(self).items()
        }


@attrs.frozen
class Shares:
    """A mean value of deals with its 95 % interval, which may reach beyond the values that deals can have.

    All are None without deals, the limits also where too few deals tell.
    """

    mean: float | None = None
    low: float | None = None
    high: float | None = None

    def to_elo(self) -> Estimate:
        """The same as a difference in Elo."""
        return Estimate(*(_elo(share) for share in (self.mean, self.low, self.high)))


class DealCounts:
    """How often deals had each value; a value of a half means that both bots did equally well."""

    def __init__(
        self, low: float = 0.0, high: float = 1.0, counts: Mapping[float, int] | None = None
    ) -> None:
        self._counts: dict[float, int] = {low: 0, high: 0}
        for value, count in (counts or {}).items():
            self.add(value, count)

    def add(self, value: float, count: int = 1) -> None:
        """Count a deal of this value, or several of them."""
        value = round(value, 9)  # values are fractions: the same one must not come twice
        self._counts[value] = self._counts.get(value, 0) + count

    @property
    def deals(self) -> int:
        """How many deals were counted."""
        return sum(self._counts.values())

    def arrays(self) -> tuple[Array, Array]:
        """The values, the least and greatest possible ones included, and how often each was seen."""
        values = sorted(self._counts)
        return np.array(values), np.array([self._counts[value] for value in values], dtype=float)

    def of(self, low: float, high: float) -> int:
        """How many deals had a value above `low` and below `high`."""
        return sum(count for value, count in self._counts.items() if low < value < high)

    @property
    def mean(self) -> float:
        """The mean value; a half without deals."""
        deals = self.deals
        return sum(value * count for value, count in self._counts.items()) / deals if deals else 0.5

    @property
    def variance(self) -> float:
        """The variance of a deal's value; zero below two deals, and exactly so where all deals had one value."""
        if sum(1 for count in self._counts.values() if count) < 2:
            return 0.0
        mean, deals = self.mean, self.deals
        around = sum(count * (value - mean) ** 2 for value, count in self._counts.items())
        return around / max(deals - 1, 1) if deals else 0.0

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of the mean value, by Student's t over deals; None where they have no spread."""
        deals, variance = self.deals, self.variance
        return sqrt(variance / deals) * t95(deals - 1) if variance > 0 else None

    def to_json(self) -> list[list[float]]:
        """Pairs of a value and how often it was seen."""
        return [[value, count] for value, count in sorted(self._counts.items()) if count]


def ratio(test: Sprt, counts: DealCounts) -> float:
    """The log likelihood ratio of all deals counted."""
    return float(test.ratios(*counts.arrays())) if counts.deals else 0.0


def normal(x: float) -> float:
    """The probability that a standard normal value is below `x`."""
    return 0.5 * (1.0 + erf(x / sqrt(2.0)))


# -- likelihoods under a hypothesis ----------------------------------------------------------------------


_HALVINGS = 56  # of an interval, until nothing is left of it
_ROUNDS = 400  # of a fixed point that is usually reached in ten


def shortfall(centred: Array, counts: Array) -> tuple[Array, Array]:
    """How much likelihood a constraint costs, and the most likely distribution that keeps it.

    `counts` (..., n) are how often each of n outcomes was seen, and `centred` (..., n) is what the constraint asks the
    mean of to be zero; it must have values on both sides of zero. Returns the maximum of the log likelihood without
    the constraint less that with it (...), and probabilities (..., n). By duality the former is the maximum of
    sum(counts * log(1 + x * centred)) over all x that leave no factor negative, that of an unseen outcome included: at
    this limit such an outcome gets a probability.
    """
    counts, centred = np.broadcast_arrays(counts, centred)
    seen = counts > 0
    low, high = -1.0 / centred.max(axis=-1), -1.0 / centred.min(axis=-1)
    first, last = low, high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        factors = 1.0 + middle[..., None] * centred
        slope = np.where(seen, counts * centred / np.maximum(factors, 1e-300), 0.0).sum(axis=-1)
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    # At a limit the factor of an unseen outcome is zero: exactly zero, else rounding decides who gets the rest.
    at = np.where(low == first, first, np.where(high == last, last, (low + high) / 2))
    factors = 1.0 + at[..., None] * centred
    safe = np.where(seen & (factors > 0), factors, 1.0)
    cost = np.where(seen, counts * np.log(safe), 0.0).sum(axis=-1)
    likely = np.where(seen, counts / safe, 0.0) / counts.sum(axis=-1, keepdims=True)
    spare = np.maximum(1.0 - likely.sum(axis=-1), 0.0)
    np.put_along_axis(
        likely,
        np.where(seen, np.inf, factors).argmin(axis=-1)[..., None],
        np.take_along_axis(likely, np.where(seen, np.inf, factors).argmin(axis=-1)[..., None], -1)
        + spare[..., None],
        -1,
    )
    return cost, likely


def mean_cost(values: Array, counts: Array, mean: float) -> Array:
    """The loss of log likelihood if the mean of `values` (n) must be `mean`, for `counts` (..., n)."""
    return shortfall(values - mean, counts)[0]


def normalized_cost(values: Array, counts: Array, origin: float, ratio: float) -> Array:
    """The loss of log likelihood if (mean - `origin`) / standard deviation must be `ratio`.

    At the most likely distribution the constraint can be replaced by its tangent, which asks for a mean; this is
    repeated until the distribution stays (a fixed point, as in Van den Bergh, "Normalized Elo", 2020).
    """
    if not ratio:
        return mean_cost(values, counts, origin)
    counts = np.asarray(counts, dtype=float)
    likely = (counts + 0.5) / (counts.sum(axis=-1, keepdims=True) + 0.5 * values.size)
    # From a distribution that nearly keeps the constraint.
    mean = (likely * values).sum(axis=-1, keepdims=True)
    spread = np.sqrt((likely * (values - mean) ** 2).sum(axis=-1, keepdims=True))
    cost, likely = shortfall(values - origin - ratio * spread, counts)
    step = 1.0
    for turn in range(_ROUNDS):
        mean = (likely * values).sum(axis=-1, keepdims=True)
        spread = np.sqrt(np.maximum((likely * (values - mean) ** 2).sum(axis=-1, keepdims=True), 1e-12))
        tangent = values - origin - ratio * spread * (1.0 + ((values - mean) / spread) ** 2) / 2
        cost, shortfall_sum = shortfall(tangent, counts)
        if np.abs(shortfall_sum - likely).max() < 1e-9:
            break
        if turn % 20 == 19:
            step /= 2  # where it goes to and fro
        likely = likely + step * (shortfall_sum - likely)
    return cost


# -- estimates after a test ------------------------------------------------------------------------------
# What stopped a sequential test made its results look better (or worse) than they are.
#
# All tests that could have been are followed deal by deal: how probable each sum of values is while the test
# goes on, and where it ends. The sooner a test ends, the stronger the truth (stagewise order; Siegmund 1978),
# and after the same number of deals, the further out its sum is. The estimate is the strength at which an end
# like this or a stronger one has a probability of a half; at the limits of the 95 % interval it is 2.5 and
# 97.5 %.
#
# - Deals have the values that were seen, as often as they were seen, and as if one more deal had had the
#   least value, or the greatest, by a half each. Another strength is this distribution tilted: each
#   probability times exp(tilt * value), and scaled. So the probability of an end follows from its number of
#   deals and its sum, and all tests need to be followed only once.
# - A test stops by its log likelihood ratio, which depends on how often each value was seen, not on the sum
#   alone. It is taken for the tilted distribution whose mean the sum gives. Whether the least and the
#   greatest value were seen at all makes a great difference to it, so these four cases are followed apart.
# - Many deals are followed in steps of several, as a normal distribution. Such a step passes the place
#   where the test stops by more than a single deal does, so this place is put nearer to the start by as much
#   (Siegmund 1985).


_STEPS = 200
_MAX_STEPS = 2000  # where nearly all deals went alike: no normal distribution describes these
_ODD = 20
_PASSED = 0.5826  # by how much a walk passes a line on average, in standard deviations of a step
_SPARE = 0.5  # of a deal, of the least and of the greatest value
_TAIL = 0.025
_FINEST = 64  # parts of a point: if values are multiples of such a part, their sums are followed exactly
_COARSE = 8  # parts of a standard deviation otherwise
_PLACES = 61  # of the mean, between which the ratio is interpolated
_DOUBLINGS = 4  # of a standard error, within which limits are searched
_STOPPING_HALVINGS = 22
_NEVER = 2**40  # a sum that is never reached, in parts


@attrs.frozen
class _Walk:
    """How the sum of values moves in one step, in whole parts of a point.

    `steps` are made, of `deals` deals each. The probabilities of `kernel` are those of `first`, `first` + 1 ... parts.
    `ends` are the shares of the least value and of the greatest one in it; None where they are not distinguished.
    """

    steps: int
    deals: float
    part: float
    first: int
    kernel: Array
    ends: tuple[Array, Array] | None


def estimate(test: Sprt, counts: DealCounts, decision: int, max_steps: int = _STEPS) -> Shares:
    """The mean value after a test that accepted `elo1` (decision 1), `elo0` (-1), or came to no end (0).

    A test of more than `max_steps` deals is computed in `max_steps` steps of several deals.
    """
    if not counts.deals:
        return Shares()
    values, seen = counts.arrays()
    shape = seen.copy()
    shape[[0, -1]] += _SPARE
    shape /= shape.sum()
    mean = float(shape @ values)
    deviation = sqrt(float(shape @ (values - mean) ** 2))
    walk = _walk(values, shape, mean, deviation, counts.deals, max_steps)
    low, high = _walls(test, values, shape, mean, deviation, walk)
    end = round(counts.mean * counts.deals / walk.part)
    case = -1 if walk.ends is None else (1 if seen[0] else 0) + (2 if seen[-1] else 0)
    # The walls are those of likely counts; what this test did is known.
    if decision > 0:
        high[-1, case] = min(high[-1, case], end)
    elif decision < 0:
        low[-1, case] = max(low[-1, case], end)
    else:
        low[-1], high[-1] = np.minimum(low[-1], end - 1), np.maximum(high[-1], end + 1)
    # Of an end above, how probable those above it are; of one below, those below it.
    side = decision or (1 if counts.mean > sum(test.shares(deviation)) / 2 else -1)
    times, sums, chances = _ends(walk, low, high, side, bool(decision))
    stronger = np.where(times == walk.steps, np.sign(side * (sums - end)), 1.0)
    if decision and walk.deals > 1:
        # Of the last step's deals, only the last is like this end.
        stronger[times == walk.steps] = 1.0 - 1.0 / walk.deals
    # An end just like this one counts by a half, unless there is no stronger one.
    counted = (stronger + 1.0) / 2.0 if (stronger > 0).any() else (stronger >= 0).astype(float)
    known = counted * chances > 0
    times, reached, weights = times[known], sums[known] * walk.part, np.log((counted * chances)[known])
    parts = (walk.first + np.arange(walk.kernel.size)) * walk.part

    def at(tilt: float) -> tuple[float, float]:
        """The mean of this tilt, and the probability of an end like this or a stronger one."""
        tilted = walk.kernel * np.exp(tilt * parts - (most := (tilt * parts).max()))
        total = float(tilted.sum())
        total_weight = float(np.exp(weights + tilt * reached - times * (log(total) + most)).sum())
        return float(tilted @ parts) / total / walk.deals, total_weight if side > 0 else 1.0 - total_weight

    def share_at(probability: float) -> float:
        # Outwards first: far out, ends are so improbable that they get lost.
        way = 1.0 if at(0.0)[1] < probability else -1.0
        inner, outer = 0.0, way / (deviation * sqrt(counts.deals))
        for _ in range(_DOUBLINGS):
            if (at(outer)[1] < probability) != (way > 0):
                break
            inner, outer = outer, 2.0 * outer
        for _ in range(_STOPPING_HALVINGS):
            tilt = (inner + outer) / 2
            inner, outer = (tilt, outer) if (at(tilt)[1] < probability) == (way > 0) else (inner, tilt)
        return at((inner + outer) / 2)[0]

    low_share, best, high_share = (share_at(probability) for probability in (_TAIL, 0.5, 1.0 - _TAIL))
    return Shares(best, low_share, high_share)


def share_limits(counts: DealCounts, tail: float = 0.025) -> tuple[float, float] | None:
    """The two-sided 95 % interval of the mean value of a deal, after a number of deals fixed before; None without any.

    By Student's t over deals; where all deals had one value, by `limits_of_equal` with this `tail`.
    """
    if not counts.deals:
        return None
    values, mean, half = counts.arrays()[0], counts.mean, counts.half
    low, high = float(values[0]), float(values[-1])
    if half is not None:
        return max(mean - half, low), min(mean + half, high)
    return limits_of_equal(mean, counts.deals, low, high, tail)


def fixed_estimate(counts: DealCounts) -> Shares:
    """The mean value after a test of a size that was fixed before, with `share_limits`.

    If all deals had the least or the greatest value, there is but one limit, and it may be wrong in 5 % of cases.
    """
    values, one_sided = counts.arrays()[0], not counts.variance
    limits = share_limits(counts, 0.05 if one_sided and counts.mean in (values[0], values[-1]) else 0.025)
    if limits is None:
        return Shares()
    return Shares(counts.mean, *limits)


def _elo(share: float | None) -> float | None:
    return None if share is None or not 0.0 < share < 1.0 else elo_of(share)


def _walk(values: Array, shape: Array, mean: float, deviation: float, deals: int, max_steps: int) -> _Walk:
    """How the sum moves: by single deals, or in steps of several if there are too many."""
    odd = deals * (1.0 - float(shape.max()))  # deals unlike most
    if deals > (max_steps if odd > _ODD else _MAX_STEPS):
        each = deals / max_steps
        spread = deviation * sqrt(each)
        part = spread / _COARSE
        first, last = (floor((each * mean + way * spread) / part) for way in (-8.0, 8.0))
        kernel = np.exp(-(((np.arange(first, last + 1) * part - each * mean) / spread) ** 2) / 2)
        return _Walk(max_steps, each, part, first, kernel / kernel.sum(), None)
    exact = (n for n in range(1, _FINEST + 1) if np.abs(values * n - np.rint(values * n)).max() < 1e-6)
    part = 1.0 / next(exact, _COARSE / deviation)
    # A value between two parts is shared out between them, which keeps the mean.
    places = values / part
    below = np.floor(places + 1e-6).astype(np.int64)
    above = np.clip(places - below, 0.0, 1.0)
    above[above < 1e-5] = 0.0
    first = int(below[0])

    def spread_out(weights: Array) -> Array:
        spread = np.zeros(int(below[-1]) - first + 2)
        np.add.at(spread, below - first, weights * (1.0 - above))
        np.add.at(spread, below - first + 1, weights * above)
        return spread

    least, greatest = np.zeros(values.size), np.zeros(values.size)
    least[0], greatest[-1] = shape[0], shape[-1]
    return _Walk(deals, 1.0, part, first, spread_out(shape), (spread_out(least), spread_out(greatest)))


def _walls(
    test: Sprt, values: Array, shape: Array, mean: float, deviation: float, walk: _Walk
) -> tuple[Whole, Whole]:
    """The sums at or below which the test stops, and those at or above, after each step in each case (steps, cases).

    Case 3 is that the least value and the greatest were seen, case 1 only the least, 2 only the greatest, 0 none.
    """
    cases = 1 if walk.ends is None else 4
    width = float(values[-1] - values[0])
    tilts = np.linspace(-1.0, 1.0, _PLACES)
    tilts = np.sign(tilts) * np.abs(tilts) ** 1.5 * min(max(12.0 / width, 3.0 / deviation), 600.0 / width)
    deals = np.arange(1, walk.steps + 1) * walk.deals
    nearer = _PASSED * deviation * (sqrt(walk.deals) - 1.0)
    below, above = test.bounds
    lows, highs = np.full((walk.steps, cases), -_NEVER), np.full((walk.steps, cases), _NEVER)
    shapes = np.tile(shape, (cases, 1))
    if cases > 1:
        shapes[:, 0] *= [0, 1, 0, 1]
        shapes[:, -1] *= [0, 0, 1, 1]
    some = np.flatnonzero(shapes.any(axis=1))  # all but case 0 where there are no other values
    tilted = shapes[some, None, :] * np.exp(np.outer(tilts, values - mean))
    tilted /= tilted.sum(axis=-1, keepdims=True)
    means, ratios = tilted @ values, np.maximum.accumulate(test.ratios(values, tilted), axis=-1)
    for case, places, heights in zip(some, means, ratios, strict=True):
        high = np.interp(above / deals, heights, places, right=np.inf) * deals - nearer
        low = np.interp(below / deals, heights, places, left=-np.inf) * deals + nearer
        highs[:, case] = np.ceil(np.minimum(high / walk.part - 1e-6, _NEVER))
        lows[:, case] = np.floor(np.maximum(low / walk.part + 1e-6, -_NEVER))
    return lows, highs


def _ends(walk: _Walk, low: Whole, high: Whole, side: int, decided: bool) -> tuple[Whole, Whole, Array]:
    """The ends above (side 1) or below (-1), those of tests that go on after the last step too unless `decided`.

    Steps, sums in parts, and probabilities, of each (ends).
    """
    going, start = np.zeros((low.shape[1], 1)), 0
    going[0] = 1.0
    times, sums, chances = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for step in range(walk.steps):
        going, start = _moved(walk, going), start + walk.first
        places = np.arange(start, start + going.shape[1])
        ended_above, ended_below = places >= high[step][:, None], places <= low[step][:, None]
        ends = np.where(ended_above if side > 0 else ended_below, going, 0.0).sum(axis=0)
        going[ended_above | ended_below] = 0.0
        if not decided and step == walk.steps - 1:
            ends += going.sum(axis=0)
        at = np.flatnonzero(ends)
        times.append(np.full(at.size, step + 1))
        sums.append(places[at])
        chances.append(ends[at])
        first = max(int(low[step].min()) + 1 - start, 0)
        last = min(int(high[step].max()) - start, going.shape[1])
        going, start = (going[:, first:last], start + first) if first < last else (going[:, :1] * 0.0, start)
    return np.concatenate(times), np.concatenate(sums), np.concatenate(chances)


def _moved(walk: _Walk, going: Array) -> Array:
    """The probabilities (cases, sums) after one more step, of sums from `walk.first` more on."""
    if walk.ends is None:
        return np.convolve(going[0], walk.kernel)[None]
    least, greatest = walk.ends
    others = walk.kernel - least - greatest
    return np.stack(
        [
            np.convolve(going[0], others),
            np.convolve(going[1], others) + np.convolve(going[0] + going[1], least),
            np.convolve(going[2], others) + np.convolve(going[0] + going[2], greatest),
            np.convolve(going[3], walk.kernel)
            + np.convolve(going[2], least)
            + np.convolve(going[1], greatest),
        ]
    )
