"""Estimates after a sequential test: what stopped it made the results look better (or worse) than they are.

The log likelihood ratio is taken as a Brownian motion between two walls, which is what it is in the limit. The time at
which it reached a wall tells how strong the drift was: the sooner, the stronger (stagewise order; Siegmund 1978).
The estimate is the strength at which an end like this or a stronger one has a probability of a half; at the limits of
the 95 % interval it is 2.9 and 97.1 %, since tests end less often early on than such a motion does. Both walls lie a
little further away than where the test stops, since it looks after whole deals only (Siegmund 1985).
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warpleague.league.ratings.elo import elo_of
from warpleague.league.ratings.sprt import Estimate

if TYPE_CHECKING:
    from warpleague.league.ratings.sprt import DealCounts, Sprt

_OVERSHOOT = 0.5826  # in standard deviations of one deal
_IMAGES = 6
_WAVES = 12
_GRID = 400
# Of 95 %, less what whole deals add: so the intervals cover 93 to 97 % for luck of any strength (`make simulations`).
_TAIL = 0.029
_REACH = 9.0  # standard errors around the mean within which limits are looked for


def estimate(test: Sprt, counts: DealCounts, decision: int) -> Estimate:
    """The difference in Elo after a test that accepted `elo1` (decision 1), `elo0` (-1), or came to no end (0)."""
    deals, mean, variance = counts.deals, counts.mean, counts.variance
    if not deals:
        return Estimate(None, None, None)
    if not variance:
        # Where all deals went alike, as if one more had had the least value, or the greatest, by a half each.
        values, seen = counts.arrays()
        low_value, high_value = float(values[0]), float(values[-1])
        around = float((seen * (values - mean) ** 2).sum())
        around += ((low_value - mean) ** 2 + (high_value - mean) ** 2) / 2
        variance = around / (deals + 1)
        mean = (mean * deals + (low_value + high_value) / 2) / (deals + 1)
    deviation = sqrt(variance)
    low_share, high_share = test.shares(deviation)
    middle = (low_share + high_share) / 2
    below, above = (bound * deviation / (high_share - low_share) for bound in test.bounds)
    end = (mean - middle) * deals / deviation
    low_wall, high_wall = below - _OVERSHOOT, above + _OVERSHOOT
    if decision < 0:
        low_wall = -_reached(-end, -below)
    elif decision > 0:
        high_wall = _reached(end, above)
    walls = low_wall, high_wall
    error = deviation / sqrt(deals)

    def stronger(share: float) -> float:
        """The probability of an end like this or a stronger one."""
        drift = (share - middle) / deviation
        if decision > 0:
            return _exit_above(deals, drift, *walls)
        if decision < 0:
            return 1.0 - _exit_above(deals, -drift, -walls[1], -walls[0])
        return _exit_above(deals, drift, *walls) + _left_above(deals, drift, *walls, end)

    def share_at(probability: float) -> float:
        lowest, highest = mean - _REACH * error, mean + _REACH * error
        for _ in range(50):
            share = (lowest + highest) / 2
            lowest, highest = (share, highest) if stronger(share) < probability else (lowest, share)
        return (lowest + highest) / 2

    low, best, high = (share_at(probability) for probability in (_TAIL, 0.5, 1.0 - _TAIL))
    return Estimate(_elo(best), _elo(low), _elo(high))


def _reached(end: float, wall: float) -> float:
    """Where the wall stands that was reached: between where the test is now and where it is on average.

    Where few deals make it no such motion at all, it is where the test is now.
    """
    return end if end > 2 * wall else (max(end, wall) + wall + _OVERSHOOT) / 2


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


def _exit_above(time: float, drift: float, low: float, high: float) -> float:
    """The probability that a Brownian motion from 0 between two walls leaves by the upper one until `time`."""
    width = high - low
    if time < width * width:
        # Early on: mirror images in both walls, those with a wall beyond it taking away.
        total = 0.0
        for image in range(-_IMAGES, _IMAGES + 1):
            far = high + 2 * image * width
            away, root = abs(far), sqrt(time)
            part = exp(drift * (high - away) + _log_normal((drift * time - away) / root))
            part += exp(drift * (high + away) + _log_normal(-(drift * time + away) / root))
            total += part if far > 0 else -part
        return min(max(total, 0.0), 1.0)
    # Later: waves, of which the fast ones have died away.
    start = -low
    if abs(drift) * width < 1e-9:
        ever = start / width
    elif drift > 0:
        ever = (1 - exp(-2 * drift * start)) / (1 - exp(-2 * drift * width))
    else:
        # The same, written so that nothing overflows.
        ever = exp(2 * drift * high) * (1 - exp(2 * drift * start)) / (1 - exp(2 * drift * width))
    later = 0.0
    for n in range(1, _WAVES + 1):
        rate = drift * drift / 2 + (n * pi / width) ** 2 / 2
        size = n * pi / width**2 * sin(n * pi * start / width) * exp(drift * high - rate * time) / rate
        later += size if n % 2 else -size
    return min(max(ever - later, 0.0), 1.0)


def _left_above(time: float, drift: float, low: float, high: float, end: float) -> float:
    """The probability that a Brownian motion has left by neither wall until `time`, and is then above `end`."""
    width = high - low
    if end >= high:
        return 0.0
    places = np.linspace(max(end, low), high, _GRID)
    density = np.zeros(_GRID)
    moved = drift * places - drift * drift * time / 2
    if time < width * width:
        for image in range(-_IMAGES, _IMAGES + 1):
            density += np.exp(moved - (places - 2 * image * width) ** 2 / (2 * time))
            density -= np.exp(moved - (places - 2 * high - 2 * image * width) ** 2 / (2 * time))
        density /= sqrt(2 * pi * time)
    else:
        for n in range(1, _WAVES + 1):
            wave = np.sin((places - low) * (n * pi / width)) * sin(-low * n * pi / width)
            density += 2 / width * wave * np.exp(moved - (n * pi / width) ** 2 * time / 2)
    return float(min(max(np.trapezoid(density, places), 0.0), 1.0))


def _log_normal(x: float) -> float:
    """The logarithm of the probability that a standard normal value is below `x`."""
    if x < -30.0:
        return -x * x / 2 - log(-x * sqrt(2 * pi))
    return log(erfc(-x / sqrt(2.0)) / 2)
