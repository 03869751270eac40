"""What results so far say of all ratings, as one normal distribution: which order is settled, which match tells most.

The model is Bradley and Terry's, with a normal prior for each bot (Laplace's approximation). Matches on one deal share
its luck, so results are weighted by how much the deals scatter, compared with independent matches.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from math import erfc, sqrt
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.league.ratings.elo import SCALE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.league.formats.api import Outcome
    from warpleague.league.ratings.rows import Floats

    Cell = tuple[int, int, float, int]  # two bots, the first one's points, and how often they met on a deal

PRIOR_ELO: Final = 200.0
"""How far bots are from the mean, beforehand: one standard deviation."""
_STEPS: Final = 30
_DIGITS: Final = 9  # what is compared has no more, so that machines that round differently choose alike
_KNOWN: Final = 30.0  # the scatter counts as if so much of it had been seen that is as usual
_LEAST_SCATTER: Final = 0.25
_erfc = np.frompyfunc(erfc, 1, 1)


@attrs.define
class Posterior:
    """The ratings of `bots` bots in units of e, about zero: `mean`, as of the last `update`.

    `distances` are the variances of the differences of pairs. `deals` counts the deals of each bot. `scatter` is the
    variance of deals, divided by that of independent matches.
    """

    bots: int
    mean: Floats = attrs.field(init=False)
    distances: Floats = attrs.field(init=False)
    deals: list[int] = attrs.field(init=False)
    scatter: float = 1.0
    _precision: Floats = attrs.field(init=False)
    _points: Floats = attrs.field(init=False)
    _games: Floats = attrs.field(init=False)
    _kinds: Counter[tuple[Cell, ...]] = attrs.Factory(Counter)  # deals that came out alike

    def __attrs_post_init__(self) -> None:
        n = self.bots
        self.mean = np.zeros(n)
        self.distances = (1 - np.eye(n)) * 2 * (PRIOR_ELO / SCALE) ** 2
        self.deals = [0] * n
        self._precision = np.eye(n) * (SCALE / PRIOR_ELO) ** 2
        self._points, self._games = np.zeros((n, n)), np.zeros((n, n))

    def add(self, outcome: Outcome) -> None:
        """Count a deal that was played; `update` takes it into account."""
        points: dict[tuple[int, int], list[float]] = {}
        for seats, result in zip(outcome.group.seats, outcome.played or (), strict=True):
            for (one, rank), (two, other) in combinations(zip(seats, result.ranks, strict=True), 2):
                won = (1 + (rank < other) - (rank > other)) / 2
                pair, value = ((one, two), won) if one < two else ((two, one), 1 - won)
                points.setdefault(pair, []).append(value)
        for (one, two), values in points.items():
            self._points[one, two] += sum(values)
            self._points[two, one] += len(values) - sum(values)
            self._games[one, two] += len(values)
            self._games[two, one] += len(values)
        for bot in {bot for pair in points for bot in pair}:
            self.deals[bot] += 1
        if points:
            kind = tuple((*pair, sum(values), len(values)) for pair, values in sorted(points.items()))
            self._kinds[kind] += 1

    def update(self) -> None:
        """Find the most likely ratings, by Newton's method, and their covariance."""
        prior = (SCALE / PRIOR_ELO) ** 2
        points, games = self._points / self.scatter, self._games / self.scatter
        for _ in range(_STEPS):
            share = 1 / (1 + np.exp(self.mean[None, :] - self.mean[:, None]))
            weight = games * share * (1 - share)
            precision = np.diag(weight.sum(axis=1) + prior) - weight
            slope = (points - games * share).sum(axis=1) - prior * self.mean
            step = np.clip(np.linalg.solve(precision, slope), -1, 1)
            self.mean += step
            if np.abs(step).max() < 1e-10:
                break
        self._precision = precision
        self.distances = _distances(precision)
        self._scattered()

    def _scattered(self) -> None:
        """How much the points of a bot on a deal scatter, all its opponents there taken together."""
        if not self._kinds:
            return
        cells = [(kind, *cell) for kind, deal in enumerate(self._kinds) for cell in deal]
        kind, one, two, points, games = np.array(cells).T
        kind, one, two = kind.astype(int), one.astype(int), two.astype(int)
        often = np.array(list(self._kinds.values()))
        share = 1 / (1 + np.exp(self.mean[two] - self.mean[one]))
        off, usual = points - games * share, games * share * (1 - share)
        size = len(often) * self.bots
        more = np.bincount(kind * self.bots + one, off, size) - np.bincount(kind * self.bots + two, off, size)
        seen = (more * more).reshape(len(often), self.bots).sum(axis=1) @ often / 2
        expected = usual @ often[kind]
        self.scatter = max(float((seen + _KNOWN) / (expected + _KNOWN)), _LEAST_SCATTER)

    def order(self, present: Sequence[int]) -> list[int]:
        """Some bots, the strongest first."""
        return sorted(present, key=lambda bot: (-round(float(self.mean[bot]), _DIGITS), bot))

    def doubts(self) -> Floats:
        """For each pair how likely it is that the one with the lower rating is the stronger one, at most a half."""
        lead = np.abs(self.mean[:, None] - self.mean[None, :])
        deviations = lead / np.sqrt(self.distances + np.eye(self.bots))
        found: Floats = np.asarray(_erfc(deviations / sqrt(2)), dtype=float) / 2
        return found

    def doubt(self, present: Sequence[int], top: int) -> float:
        """At most so likely it is that the first `top` places of some bots are not those that the ratings say."""
        order, doubts = self.order(present), self.doubts()
        top = min(top, len(order) - 1)
        pairs = list(pairwise(order[:top]))
        pairs += [(order[top - 1], bot) for bot in order[top:]]
        return round(sum(float(doubts[pair]) for pair in pairs), _DIGITS)

    def worth(self, present: Sequence[int], top: int) -> Floats:
        """How much a match of each pair tells of the first `top` places, for each unit of `distances`.

        It is much where a pair is even, and it is not settled who of them is the stronger one.
        """
        place = np.full(self.bots, self.bots)
        place[self.order(present)] = range(len(present))
        share = 1 / (1 + np.exp(self.mean[None, :] - self.mean[:, None]))
        here = place < self.bots
        told = (np.minimum(place[:, None], place[None, :]) < top) & here[:, None] & here[None, :]
        found: Floats = self.doubts() * share * (1 - share) * told
        np.fill_diagonal(found, 0.0)
        return found

    def expect(self, table: Sequence[int], matches: int) -> None:
        """Take it that a deal is played: `distances` become what they will be about, the ratings stay."""
        for one, two in combinations(table, 2):
            share = 1 / (1 + np.exp(self.mean[two] - self.mean[one]))
            weight = matches * share * (1 - share) / self.scatter
            shared = (self.distances[two] - self.distances[one]) / 2
            factor = weight / (1 + weight * self.distances[one, two])
            self.distances -= factor * np.square(shared[:, None] - shared[None, :])

    def expect_all(self, tables: Iterable[Sequence[int]], matches: int) -> None:
        """Take it that these deals are played, all at once; to be called after `update`."""
        share = 1 / (1 + np.exp(self.mean[None, :] - self.mean[:, None]))
        met = np.zeros_like(self._precision)
        for table in tables:
            for one, two in combinations(table, 2):
                met[one, two] += 1
                met[two, one] += 1
        weight = matches * met * share * (1 - share) / self.scatter
        self.distances = _distances(self._precision + np.diag(weight.sum(axis=1)) - weight)


def _distances(precision: Floats) -> Floats:
    """The variances of the differences of pairs."""
    covariance = np.linalg.inv(precision)
    own = covariance.diagonal()
    found: Floats = np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0)
    return found
