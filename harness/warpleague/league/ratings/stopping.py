"""Estimates after a sequential test: what stopped it made the results look better (or worse) than they are.

All tests that could have been are followed deal by deal: how probable each sum of values is while the test goes on,
and where it ends. The sooner a test ends, the stronger the truth (stagewise order; Siegmund 1978), and after the same
number of deals, the further out its sum is. The estimate is the strength at which an end like this or a stronger one
has a probability of a half; at the limits of the 95 % interval it is 2.5 and 97.5 %.

- Deals have the values that were seen, as often as they were seen, and as if one more deal had had the least value, or
  the greatest, by a half each. Another strength is this distribution tilted: each probability times exp(tilt * value),
  and scaled. So the probability of an end follows from its number of deals and its sum, and all tests need to be
  followed only once.
- A test stops by its log likelihood ratio, which depends on how often each value was seen, not on the sum alone. It is
  taken for the tilted distribution whose mean the sum gives. Whether the least and the greatest value were seen at all
  makes a great difference to it, so these four cases are followed apart.
- Many deals are followed in steps of several, as a normal distribution. Such a step passes the place where the test
  stops by more than a single deal does, so this place is put nearer to the start by as much (Siegmund 1985).
"""

from __future__ import annotations

from math import floor, log, sqrt
from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.league.ratings.elo import elo_of
from warpleague.league.ratings.sprt import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpleague.league.ratings.sprt import Array, DealCounts, Sprt

    Whole = NDArray[np.int64]

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
_HALVINGS = 22
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


def estimate(test: Sprt, counts: DealCounts, decision: int, max_steps: int = _STEPS) -> Estimate:
    """The difference in Elo after a test that accepted `elo1` (decision 1), `elo0` (-1), or came to no end (0).

    A test of more than `max_steps` deals is computed in `max_steps` steps of several deals.
    """
    if not counts.deals:
        return Estimate(None, None, None)
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
    beyond = np.where(times == walk.steps, np.sign(side * (sums - end)), 1.0)
    if decision and walk.deals > 1:
        # Of the last step's deals, only the last is like this end.
        beyond[times == walk.steps] = 1.0 - 1.0 / walk.deals
    # An end just like this one counts by a half, unless there is no stronger one.
    counted = (beyond + 1.0) / 2.0 if (beyond > 0).any() else (beyond >= 0).astype(float)
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
        for _ in range(_HALVINGS):
            tilt = (inner + outer) / 2
            inner, outer = (tilt, outer) if (at(tilt)[1] < probability) == (way > 0) else (inner, tilt)
        return at((inner + outer) / 2)[0]

    low_share, best, high_share = (share_at(probability) for probability in (_TAIL, 0.5, 1.0 - _TAIL))
    return Estimate(_elo(best), _elo(low_share), _elo(high_share))


def fixed_estimate(counts: DealCounts, half: float | None) -> Estimate:
    """The difference in Elo after a test of a size that was fixed before; `half` of the mean's 95 % interval.

    Where all deals had one value, the limits are the means at which that has a probability of 2.5 % at most, whatever
    the distribution of deals is (by Markov's inequality, for each deal); 5 % if it is the least or the greatest value,
    since there is but one limit then.
    """
    if not counts.deals:
        return Estimate(None, None, None)
    if not counts.variance:
        values, mean = counts.arrays()[0], counts.mean
        low, high = float(values[0]), float(values[-1])
        likely = (0.025 if low < mean < high else 0.05) ** (1 / counts.deals)
        limits = low + (mean - low) * likely, high - (high - mean) * likely
        return Estimate(*(_elo(share) for share in (mean, *limits)))
    if half is None:
        return Estimate(_elo(counts.mean), None, None)
    return Estimate(*(_elo(counts.mean + part) for part in (0.0, -half, half)))


def _elo(share: float) -> float | None:
    return elo_of(share) if 0.0 < share < 1.0 else None


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
