"""Estimates after a sequential test: what stopped it made the results look better (or worse) than they are.

The log likelihood ratio is taken as a Brownian motion between two walls, which is what it is in the limit. The time at
which it reached a wall tells how strong the drift was: the sooner, the stronger (the stagewise order of Siegmund 1978).
The estimate is the strength at which an end like this or a stronger one has a probability of a half; at the limits of
the 95 % interval it is 2.5 and 97.5 %. Both walls lie a little further away than where the test stops, since it looks
after whole deals only (Siegmund 1985).
"""

from __future__ import annotations

from math import exp, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warpleague.league.ratings.elo import elo_of
from warpleague.league.ratings.sprt import Estimate

if TYPE_CHECKING:
    from warpleague.league.ratings.sprt import DealCounts, Sprt

_OVERSHOOT = 0.5826  # in standard deviations of one deal
_TERMS = 4_000
_GRID = 400
_REACH = 9.0  # standard errors around the mean within which limits are looked for


def estimate(test: Sprt, counts: DealCounts, decision: int) -> Estimate:
    """The difference in Elo after a test that accepted `elo1` (decision 1), `elo0` (-1), or came to no end (0)."""
    deals, deviation = counts.deals, sqrt(counts.variance)
    if deals < 2 or not deviation:
        return Estimate(_elo(counts.mean) if deals else None, None, None)
    low_share, high_share = test.shares(deviation)
    middle = (low_share + high_share) / 2
    below, above = (bound * deviation / (high_share - low_share) for bound in test.bounds)
    walls = below - _OVERSHOOT, above + _OVERSHOOT
    end = (counts.mean - middle) * deals / deviation
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
        lowest, highest = counts.mean - _REACH * error, counts.mean + _REACH * error
        for _ in range(50):
            share = (lowest + highest) / 2
            lowest, highest = (share, highest) if stronger(share) < probability else (lowest, share)
        return (lowest + highest) / 2

    low, best, high = (share_at(probability) for probability in (0.025, 0.5, 0.975))
    return Estimate(_elo(best), _elo(low), _elo(high))


def fixed_estimate(counts: DealCounts, half: float | None) -> Estimate:
    """The difference in Elo after a test of a size that was fixed before; `half` of the mean's 95 % interval."""
    if not counts.deals:
        return Estimate(None, None, None)
    if half is None:
        return Estimate(_elo(counts.mean), None, None)
    return Estimate(*(_elo(counts.mean + part) for part in (0.0, -half, half)))


def _elo(share: float) -> float | None:
    return elo_of(share) if 0.0 < share < 1.0 else None


def _exit_above(time: float, drift: float, low: float, high: float) -> float:
    """The probability that a Brownian motion from 0 between two walls leaves by the upper one until `time`."""
    width, start = high - low, -low
    if abs(drift) * width < 1e-9:
        ever = start / width
    elif drift > 0:
        ever = (1 - exp(-2 * drift * start)) / (1 - exp(-2 * drift * width))
    else:
        # The same, written so that nothing overflows.
        ever = exp(2 * drift * high) * (1 - exp(2 * drift * start)) / (1 - exp(2 * drift * width))
    n = np.arange(1, _TERMS + 1)
    rate = drift * drift / 2 + (n * pi / width) ** 2 / 2
    signs = np.where(n % 2, 1.0, -1.0)
    later = (n * pi / width**2) * signs * np.sin(n * pi * start / width)
    later = later * np.exp(np.minimum(drift * high - rate * time, 700.0)) / rate
    return float(min(max(ever - later.sum(), 0.0), 1.0))


def _left_above(time: float, drift: float, low: float, high: float, end: float) -> float:
    """The probability that a Brownian motion has left by neither wall until `time`, and is then above `end`."""
    width, start = high - low, -low
    if end >= high:
        return 0.0
    places = np.linspace(max(end, low), high, _GRID)
    n = np.arange(1, _TERMS + 1)
    rate = drift * drift / 2 + (n * pi / width) ** 2 / 2
    weight = np.exp(np.minimum(-rate * time, 700.0)) * np.sin(n * pi * start / width)
    kept = np.abs(weight) > 1e-14 * np.abs(weight).max()
    waves = np.sin(np.outer(places - low, n[kept]) * pi / width) @ weight[kept]
    density = 2 / width * np.exp(drift * places) * waves
    return float(min(max(np.trapezoid(density, places), 0.0), 1.0))
