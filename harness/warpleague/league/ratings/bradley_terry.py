"""The joint fit: all results of a league at once, with error bars.

It is the Bradley-Terry model by maximum likelihood (Zermelo 1929; Bradley and Terry 1952). Its errors are clustered
sandwiches (Liang and Zeger 1986): the pairs of a table, and the matches on one deal, are not independent, and errors
that assume they are come out a fifth too small. They are widened because the ratings were fitted to the same results
(HC1; MacKinnon and White 1985); otherwise they would be too small in short leagues.
"""

from __future__ import annotations

from itertools import combinations
from math import erf, exp, log, sqrt
from typing import TYPE_CHECKING

import attrs

from warpleague.league.ratings.elo import SCALE, pair_points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from warpleague.league.ratings.outcomes import PairTotals

    Result = tuple[int, tuple[int, ...], tuple[int, ...]]
    """A match as ratings see it: its group (matches on one deal), the bot in each seat, the rank of each seat."""

_STEPS = 100
_PRECISE = 1e-10
_NO_VARIANCE = 1e-9  # squared Elo: what rounding leaves where all groups of matches went alike
Matrix = list[list[float]]


@attrs.frozen
class Fit:
    """The joint fit, by bot.

    `ratings`: Elo, None for a bot without matches. `errors`: one standard error; None where it cannot be estimated
    (a bot outside of tiers, a bot whose deals all went alike, and every bot if there are fewer deals than ratings).
    `tiers` numbers sets of bots that are linked by wins in both directions: only within a tier does a difference
    have a most likely value and an error. Where two tiers met, one won every match: their distance is the one at
    which such a sweep is 50 % likely. `above`: a bot that won every match is at least this strong, with 95 %
    confidence; `below`: one that lost every match is at most this strong. `islands` numbers sets of bots that are
    linked by matches: ratings of different islands must not be compared. `covariance` is in squared Elo, zero
    outside of tiers.
    """

    ratings: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    above: tuple[float | None, ...]
    below: tuple[float | None, ...]
    tiers: tuple[int | None, ...]
    islands: tuple[int | None, ...]
    covariance: tuple[tuple[float, ...], ...]

    def superiority(self, a: int, b: int) -> float | None:
        """The likelihood that `a` is the stronger of two bots, from 0 to 1; None if they have no error."""
        one, two = self.ratings[a], self.ratings[b]
        if one is None or two is None or self.tiers[a] != self.tiers[b]:
            return None
        variance = self.covariance[a][a] + self.covariance[b][b] - 2 * self.covariance[a][b]
        if variance < _NO_VARIANCE:
            return None
        return 0.5 * (1.0 + erf((one - two) / sqrt(2.0 * variance)))


def joint_fit(
    totals: PairTotals,
    results: Callable[[], Iterable[Result]],
    start: float = 1500.0,
    anchor: int | None = None,
) -> Fit:
    """Rate all bots together from `totals`; `results` streams the same matches again, for the errors.

    Matches of one group must follow each other. On each island, the mean of the largest tier is `start` (the mean of
    the island, if every bot is a tier of its own). On the island of the bot `anchor`, the rating of this bot is
    `start`, and errors are those of the difference to it.
    """
    n = len(totals.games)
    played = [bot for bot in range(n) if any(totals.games[bot])]
    tiers = _components(played, totals.points)
    islands = _components(played, totals.games)
    ratings = _placed(totals, tiers)
    for island in islands:
        largest = max((tier for tier in tiers if tier[0] in island), key=len)
        middle = largest if len(largest) > 1 else island
        mean = sum(ratings[bot] for bot in middle) / len(middle)
        shift = start - (ratings[anchor] if anchor in island else mean)
        for bot in island:
            ratings[bot] += shift
    covariance = _covariance(n, totals, tiers, ratings, results, anchor)
    errors: list[float | None] = [None] * n
    above: list[float | None] = [None] * n
    below: list[float | None] = [None] * n
    for tier in tiers:
        for bot in tier:
            if len(tier) > 1:
                variance = covariance[bot][bot]
                if variance > _NO_VARIANCE or bot == anchor:
                    errors[bot] = sqrt(max(variance, 0.0))
                continue
            met = [(ratings[other], totals.games[bot][other]) for other in played if totals.games[bot][other]]
            won = sum(totals.points[bot])
            if won == sum(totals.games[bot]):
                above[bot] = _sweep(met, 1.0, 0.05)
            elif won == 0:
                below[bot] = _sweep(met, -1.0, 0.05)
    return Fit(
        ratings=tuple(ratings.get(bot) for bot in range(n)),
        errors=tuple(errors),
        above=tuple(above),
        below=tuple(below),
        tiers=_numbered(n, tiers),
        islands=_numbered(n, islands),
        covariance=tuple(map(tuple, covariance)),
    )


def _numbered(n: int, sets: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """For each bot the number of the set it is in."""
    return tuple(next((i for i, members in enumerate(sets) if bot in members), None) for bot in range(n))


def _placed(totals: PairTotals, tiers: Sequence[Sequence[int]]) -> dict[int, float]:
    """Rate each tier by itself, and set it above those it beat, weakest first."""
    ratings: dict[int, float] = {}
    left = list(tiers)
    while left:
        # Wins between tiers never go in a circle, so that one has beaten none of those left.
        tier = next(
            tier
            for tier in left
            if not any(totals.points[a][b] for a in tier for rest in left if rest is not tier for b in rest)
        )
        left.remove(tier)
        own = {bot: theta * SCALE for bot, theta in zip(tier, _newton(totals, tier), strict=True)}
        met = [
            (ratings[other] - own[bot], totals.games[bot][other])
            for bot in tier
            for other in ratings
            if totals.games[bot][other]
        ]
        shift = _sweep(met, 1.0, 0.5) if met else 0.0
        ratings |= {bot: rating + shift for bot, rating in own.items()}
    return ratings


def _components(bots: Sequence[int], edges: Sequence[Sequence[float]]) -> list[list[int]]:
    """The strongly connected components of a graph (an edge where `edges` is not zero), in order of bots."""

    def reached(start: int, forward: bool) -> set[int]:
        seen, todo = {start}, [start]
        while todo:
            at = todo.pop()
            for other in bots:
                if other not in seen and (edges[at][other] if forward else edges[other][at]):
                    seen.add(other)
                    todo.append(other)
        return seen

    found: list[list[int]] = []
    for bot in bots:
        if not any(bot in component for component in found):
            found.append(sorted(reached(bot, True) & reached(bot, False)))
    return found


def _newton(totals: PairTotals, tier: Sequence[int]) -> list[float]:
    """The maximum-likelihood log strengths of a tier, with mean zero."""
    n = len(tier)
    theta = [0.0] * n
    for _ in range(_STEPS):
        gradient, information = _score(totals, tier, theta)
        inverse = _inverse(information)
        step = [sum(inverse[i][j] * gradient[j] for j in range(n)) for i in range(n)]
        longest = max(map(abs, step), default=0.0)
        # Full steps overshoot from far away; one unit is 174 Elo.
        scale = min(1.0, 1.0 / longest) if longest else 1.0
        theta = [old + scale * change for old, change in zip(theta, step, strict=True)]
        mean = sum(theta) / n
        theta = [value - mean for value in theta]
        if longest < _PRECISE:
            break
    return theta


def _score(totals: PairTotals, tier: Sequence[int], theta: Sequence[float]) -> tuple[list[float], Matrix]:
    """The gradient and the information (negative Hessian) of the log likelihood, over the bots of a tier."""
    n = len(tier)
    gradient = [0.0] * n
    information = [[0.0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        games = totals.games[tier[i]][tier[j]]
        if not games:
            continue
        share = 1.0 / (1.0 + exp(theta[j] - theta[i]))
        surplus = totals.points[tier[i]][tier[j]] - games * share
        weight = games * share * (1.0 - share)
        gradient[i] += surplus
        gradient[j] -= surplus
        information[i][i] += weight
        information[j][j] += weight
        information[i][j] -= weight
        information[j][i] -= weight
    return gradient, information


def _inverse(information: Matrix) -> Matrix:
    """The inverse on the space of mean zero: inv(H + J/n) - J/n, which unlike a pseudo-inverse is stable."""
    n = len(information)
    rows = [
        [value + 1.0 / n for value in row] + [float(i == j) for j in range(n)]
        for i, row in enumerate(information)
    ]
    for column in range(n):
        pivot = max(range(column, n), key=lambda r: abs(rows[r][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for r in range(n):
            factor = rows[r][column]
            if r != column and factor:
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[column], strict=True)]
    return [[value - 1.0 / n for value in row[n:]] for row in rows]


def _sweep(met: Sequence[tuple[float, int]], sign: float, chance: float) -> float:
    """The rating at which winning (`sign` 1) or losing (-1) all of `met` (rating, games) has this `chance`."""
    low, high = -20_000.0, 20_000.0
    for _ in range(200):
        middle = (low + high) / 2
        likelihood = sum(games * _log_expected(sign * (middle - rating)) for rating, games in met)
        if (likelihood < log(chance)) == (sign > 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _log_expected(difference: float) -> float:
    """The logarithm of `expected`, exact where that underflows."""
    x = -difference / SCALE
    return -(x + log(1.0 + exp(-x))) if x > 0 else -log(1.0 + exp(x))


def _covariance(
    n: int,
    totals: PairTotals,
    tiers: Sequence[Sequence[int]],
    ratings: Mapping[int, float],
    results: Callable[[], Iterable[Result]],
    anchor: int | None,
) -> Matrix:
    """The clustered sandwich covariance of all tiers, in squared Elo; bots that are alone have zeros."""
    tier_of = {bot: index for index, tier in enumerate(tiers) for bot in tier}
    meats = [[[0.0] * n for _ in range(n)] for _ in tiers]
    clusters = [0] * len(tiers)
    strengths = [ratings.get(bot, 0.0) / SCALE for bot in range(n)]
    for surplus in _cluster_scores(results(), tier_of, strengths):
        for index in {tier_of[bot] for bot in surplus}:
            inside = [(bot, value) for bot, value in surplus.items() if tier_of[bot] == index]
            clusters[index] += 1
            meat = meats[index]
            for a, x in inside:
                row = meat[a]
                for b, y in inside:
                    row[b] += x * y
    covariance = [[0.0] * n for _ in range(n)]
    for tier, meat, count in zip(tiers, meats, clusters, strict=True):
        fitted = len(tier) - 1
        if count <= fitted or not fitted:
            continue
        theta = [strengths[bot] for bot in tier]
        bread = _inverse(_score(totals, tier, theta)[1])
        inner = [[meat[a][b] for b in tier] for a in tier]
        small = SCALE * SCALE * count / (count - fitted)
        spread = _product(_product(bread, inner), bread)
        if anchor in tier:
            spread = _relative(spread, tier.index(anchor))
        for i, a in enumerate(tier):
            for j, b in enumerate(tier):
                covariance[a][b] = spread[i][j] * small
    return covariance


def _cluster_scores(
    results: Iterable[Result], tier_of: dict[int, int], strengths: Sequence[float]
) -> Iterator[dict[int, float]]:
    """For each group of matches, what its bots scored above expectation against bots of their own tier."""
    at: int | None = None
    surplus: dict[int, float] = {}
    for group, seats, ranks in results:
        if group != at:
            if surplus:
                yield surplus
            at, surplus = group, {}
        for a, b in combinations(range(len(seats)), 2):
            one, two = seats[a], seats[b]
            if tier_of.get(one, -1) != tier_of.get(two, -2):
                continue
            share = 1.0 / (1.0 + exp(strengths[two] - strengths[one]))
            more = pair_points(ranks[a], ranks[b]) - share
            surplus[one] = surplus.get(one, 0.0) + more
            surplus[two] = surplus.get(two, 0.0) - more
    if surplus:
        yield surplus


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def _relative(spread: Matrix, anchor: int) -> Matrix:
    """The covariance of the differences to the anchor."""
    n, at = len(spread), spread[anchor][anchor]
    return [[spread[i][j] - spread[i][anchor] - spread[anchor][j] + at for j in range(n)] for i in range(n)]
