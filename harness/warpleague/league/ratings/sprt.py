"""Tests of strength: whether one bot is better than another by so much, with as few deals as that takes.

This is the generalised sequential probability ratio test (Wald 1945; Li, Liu and Ying 2014). Its unit is the deal
with all its matches, whose luck they share; for the two seat orders of two bots it is the pentanomial test. What is
tested is the mean of the deals' values, and nothing else is assumed of them: the likelihoods are those of a
multinomial distribution, each at its maximum under the hypothesis, exact also where an outcome was never seen.
"""

from __future__ import annotations

from math import erf, log, sqrt
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

from warpleague.league.ratings.elo import SCALE, expected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Unit = Literal["elo", "normalized"]
"""The unit of hypotheses: Elo, or normalised Elo, in which a match's value has a deviation of a half."""

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

    def to_json(self) -> list[list[float]]:
        """Pairs of a value and how often it was seen."""
        return [[value, count] for value, count in sorted(self._counts.items()) if count]


def ratio(test: Sprt, counts: DealCounts) -> float:
    """The log likelihood ratio of all deals counted."""
    return float(test.ratios(*counts.arrays())) if counts.deals else 0.0


def normal(x: float) -> float:
    """The probability that a standard normal value is below `x`."""
    return 0.5 * (1.0 + erf(x / sqrt(2.0)))
