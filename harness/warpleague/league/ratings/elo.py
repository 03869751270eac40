"""Elo: what a difference in rating means, and the rating that changes match by match.

A difference d means an expected share of 1 / (1 + 10^(-d/400)). A table of three or more counts as its pairs, and a
shared place as half a point.
"""

from __future__ import annotations

from itertools import combinations
from math import exp, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SCALE = 400.0 / log(10.0)
"""Elo points for one unit of log odds."""


def expected(difference: float) -> float:
    """The expected share of a bot rated `difference` points above its opponent."""
    return 1.0 / (1.0 + exp(-difference / SCALE))


def elo_of(share: float) -> float:
    """The difference in rating at which `share`, above 0 and below 1, is expected."""
    return SCALE * log(share / (1.0 - share))


def pair_points(first: int, second: int) -> float:
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
