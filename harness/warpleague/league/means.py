"""How sure a number in a table is: means and their errors, shares and their intervals, differences on equal deals.

Leaves what is averaged to `standings`.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Z95: Final = 1.959964
"""Standard errors on each side of a 95 % interval."""


@attrs.define
class Mean:
    """A mean and its standard error, from a stream (Welford 1962)."""

    count: int = 0
    mean: float = 0.0
    _squares: float = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self._squares += delta * (value - self.mean)

    @property
    def error(self) -> float | None:
        """The standard error of the mean; None below two values."""
        return sqrt(self._squares / (self.count - 1) / self.count) if self.count > 1 else None


def share_interval(won: int, played: int) -> tuple[float, float]:
    """The 95 % interval of a share of `played` > 0 matches (Wilson 1927): never empty, not even at 0 or 1."""
    share, z2 = won / played, Z95 * Z95
    middle = (share + z2 / (2 * played)) / (1 + z2 / played)
    half = Z95 * sqrt(share * (1 - share) / played + z2 / (4 * played * played)) / (1 + z2 / played)
    return max(0.0, middle - half), min(1.0, middle + half)


def differences_to_next(order: Sequence[int], values: Iterable[tuple[int, int, float]]) -> list[Mean]:
    """For each bot of `order` but the last: the mean difference to the next bot, over the deals both played.

    `values` are deal, bot and value, those of one deal in one run. What a deal is worth to everyone cancels
    out, so that the error is smaller than that of the difference of the bots' means.
    """
    means = [Mean() for _ in order[1:]]
    here: int | None = None
    found: dict[int, float] = {}

    def count() -> None:
        for place, mean in enumerate(means):
            one, other = found.get(order[place]), found.get(order[place + 1])
            if one is not None and other is not None:
                mean.add(one - other)

    for deal, bot, value in values:
        if deal != here:
            count()
            here, found = deal, {}
        found[bot] = value
    count()
    return means
