"""How strong the bots are: sequential Elo, and a joint fit of all results with honest error bars.

Leaves reading results to `standings`. Elo points throughout: a difference d means an expected share of
1 / (1 + 10^(-d/400)); a table of several counts as its pairs, a shared place as half.

The joint fit is the Bradley-Terry model by maximum likelihood (Zermelo 1929; Bradley and Terry 1952). Its errors
are clustered sandwiches (Liang and Zeger 1986): the pairs of a table, and the matches on one deal, are not
independent, and errors that assume they are come out a fifth too small.
"""

from __future__ import annotations

from itertools import combinations
from math import erf, exp, isfinite, log, sqrt
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Result = tuple[int, tuple[int, ...], tuple[int, ...]]
    """A match as ratings see it: its group (matches on one deal), the bot in each seat, the rank of each seat."""

SCALE = 400.0 / log(10.0)
"""Elo points for one unit of log odds."""

_STEPS = 100
_PRECISE = 1e-10
Matrix = list[list[float]]


def expected(difference: float) -> float:
    """The expected share of a bot rated `difference` points above its opponent."""
    return 1.0 / (1.0 + exp(-difference / SCALE))


def pair_points(first: int, second: int) -> float:
    """The points of a bot of rank `first` against one of rank `second`."""
    return 0.5 if first == second else float(first < second)


class SequentialElo:
    """Elo as the season goes: every match changes the ratings that the next one starts from.

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


@attrs.frozen
class Fit:
    """The joint fit, by bot.

    `ratings`: Elo, None for a bot without matches. `errors`: one standard error, None where there is none.
    `above`: the bot's rating is at least this, with 95 % confidence, though its best value is without bound:
    it has won everything. `below`: likewise at most this, having lost everything. For such a bot `ratings`
    holds the value at which its sweep has probability one half. `islands` numbers sets of bots that results
    compare with each other; ratings of different islands must not be compared. `covariance` is in squared
    Elo, zero for bots without an error.
    """

    ratings: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    above: tuple[float | None, ...]
    below: tuple[float | None, ...]
    islands: tuple[int | None, ...]
    covariance: tuple[tuple[float, ...], ...]

    def superiority(self, a: int, b: int) -> float | None:
        """The likelihood that `a` is the stronger of two bots, from 0 to 1; None if nothing compares them."""
        one, two = self.ratings[a], self.ratings[b]
        if one is None or two is None or self.islands[a] != self.islands[b]:
            return None
        if self.errors[a] is None or self.errors[b] is None:
            return None
        variance = self.covariance[a][a] + self.covariance[b][b] - 2 * self.covariance[a][b]
        if variance <= 0.0:
            return None
        return 0.5 * (1.0 + erf((one - two) / sqrt(2.0 * variance)))


class PairTotals:
    """The points of each bot against each other and the number of their meetings; all a fit needs but errors."""

    def __init__(self, bots: int) -> None:
        self.points: Matrix = [[0.0] * bots for _ in range(bots)]
        self.games = [[0] * bots for _ in range(bots)]

    def add(self, seats: Sequence[int], ranks: Sequence[int]) -> None:
        """Count a match: the bot and the rank of each seat."""
        for a, b in combinations(range(len(seats)), 2):
            one, two = seats[a], seats[b]
            won = pair_points(ranks[a], ranks[b])
            self.points[one][two] += won
            self.points[two][one] += 1.0 - won
            self.games[one][two] += 1
            self.games[two][one] += 1


def joint_fit(
    totals: PairTotals,
    results: Callable[[], Iterable[Result]],
    start: float = 1500.0,
    anchor: int | None = None,
) -> Fit:
    """Rate all bots together from `totals`; `results` streams the same matches again, for the errors.

    Matches of one group must follow each other. The mean of each island is `start`, or, on its island, the
    rating of the bot `anchor`; errors are then those of the difference to it.
    """
    n = len(totals.games)
    cores, swept = _peel(totals)
    ratings: list[float | None] = [None] * n
    islands: list[int | None] = [None] * n
    above: list[float | None] = [None] * n
    below: list[float | None] = [None] * n
    for island, core in enumerate(cores):
        for bot, theta in zip(core, _newton(totals, core), strict=True):
            ratings[bot], islands[bot] = theta * SCALE, island
    # A swept bot is placed by those it met that were left when it was set aside, hence in reverse.
    for bot, others, won in reversed(swept):
        met = [(other, totals.games[bot][other]) for other in others if totals.games[bot][other]]
        known = [(ratings[o] or 0.0, games) for o, games in met if ratings[o] is not None]
        sign = 1.0 if won else -1.0
        middle, bound = (_sweep(known, sign, chance) for chance in (0.5, 0.05))
        ratings[bot], islands[bot] = middle, islands[met[0][0]]
        (above if won else below)[bot] = bound
    shifts = _shifts(ratings, islands, cores, start, anchor)

    def moved(values: Sequence[float | None]) -> tuple[float | None, ...]:
        pairs = zip(values, islands, strict=True)
        return tuple(None if v is None or i is None else v + shifts[i] for v, i in pairs)

    covariance = _covariance(n, totals, cores, ratings, results, anchor)
    errors: list[float | None] = [None] * n
    for core in cores:
        if len(core) > 1:
            for bot in core:
                errors[bot] = sqrt(max(covariance[bot][bot], 0.0))
    return Fit(
        ratings=moved(ratings),
        errors=tuple(errors),
        above=moved(above),
        below=moved(below),
        islands=tuple(islands),
        covariance=tuple(map(tuple, covariance)),
    )


def _peel(totals: PairTotals) -> tuple[list[list[int]], list[tuple[int, list[int], bool]]]:
    """Set aside, one by one, the bots that won or lost everything against those left.

    Returns the cores (strongly connected by wins, so that a finite rating exists) and, for each bot set aside,
    those it met and whether it won.
    """
    n = len(totals.games)
    left = [bot for bot in range(n) if any(totals.games[bot])]
    swept: list[tuple[int, list[int], bool]] = []
    while True:
        for bot in left:
            others = [other for other in left if totals.games[bot][other]]
            points = sum(totals.points[bot][other] for other in others)
            games = sum(totals.games[bot][other] for other in others)
            if others and points in (0.0, float(games)):
                swept.append((bot, others, points > 0))
                left.remove(bot)
                break
        else:
            return _components(left, totals.points), swept


def _components(bots: Sequence[int], points: Matrix) -> list[list[int]]:
    """The strongly connected components of the graph of wins (a half counts both ways), in order of bots."""

    def reached(start: int, forward: bool) -> set[int]:
        seen, todo = {start}, [start]
        while todo:
            at = todo.pop()
            for other in bots:
                if other not in seen and (points[at][other] if forward else points[other][at]):
                    seen.add(other)
                    todo.append(other)
        return seen

    found: list[list[int]] = []
    for bot in bots:
        if not any(bot in component for component in found):
            found.append(sorted(reached(bot, True) & reached(bot, False)))
    return found


def _newton(totals: PairTotals, core: Sequence[int]) -> list[float]:
    """The maximum-likelihood log strengths of a core, with mean zero."""
    n = len(core)
    theta = [0.0] * n
    for _ in range(_STEPS):
        gradient, information = _score(totals, core, theta)
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


def _score(totals: PairTotals, core: Sequence[int], theta: Sequence[float]) -> tuple[list[float], Matrix]:
    """The gradient and the information (negative Hessian) of the log likelihood, over the bots of a core."""
    n = len(core)
    gradient = [0.0] * n
    information = [[0.0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        games = totals.games[core[i]][core[j]]
        if not games:
            continue
        share = 1.0 / (1.0 + exp(theta[j] - theta[i]))
        surplus = totals.points[core[i]][core[j]] - games * share
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


def _shifts(
    ratings: Sequence[float | None],
    islands: Sequence[int | None],
    cores: Sequence[Sequence[int]],
    start: float,
    anchor: int | None,
) -> list[float]:
    """What to add to each island's ratings, whose cores have mean zero."""
    shifts = [start] * len(cores)
    if anchor is not None and (island := islands[anchor]) is not None:
        at = ratings[anchor]
        if at is not None and isfinite(at):
            shifts[island] = start - at
    return shifts


def _covariance(
    n: int,
    totals: PairTotals,
    cores: Sequence[Sequence[int]],
    ratings: Sequence[float | None],
    results: Callable[[], Iterable[Result]],
    anchor: int | None,
) -> Matrix:
    """The clustered sandwich covariance of all cores, in squared Elo; bots outside of cores have zeros."""
    core_of = {bot: index for index, core in enumerate(cores) for bot in core}
    meats = [[[0.0] * n for _ in range(n)] for _ in cores]
    clusters = [0] * len(cores)
    strengths = [(rating or 0.0) / SCALE for rating in ratings]
    for surplus in _cluster_scores(results(), core_of, strengths):
        for index in {core_of[bot] for bot in surplus}:
            inside = [(bot, value) for bot, value in surplus.items() if core_of[bot] == index]
            clusters[index] += 1
            meat = meats[index]
            for a, x in inside:
                row = meat[a]
                for b, y in inside:
                    row[b] += x * y
    covariance = [[0.0] * n for _ in range(n)]
    for core, meat, count in zip(cores, meats, clusters, strict=True):
        if len(core) < 2:
            continue
        theta = [strengths[bot] for bot in core]
        bread = _inverse(_score(totals, core, theta)[1])
        inner = [[meat[a][b] for b in core] for a in core]
        small = SCALE * SCALE * (count / (count - 1) if count > 1 else 1.0)
        spread = _product(_product(bread, inner), bread)
        if anchor in core:
            spread = _relative(spread, core.index(anchor))
        for i, a in enumerate(core):
            for j, b in enumerate(core):
                covariance[a][b] = spread[i][j] * small
    return covariance


def _cluster_scores(
    results: Iterable[Result], core_of: dict[int, int], strengths: Sequence[float]
) -> Iterator[dict[int, float]]:
    """For each group of matches, what its bots scored above expectation against bots of their own core."""
    at: int | None = None
    surplus: dict[int, float] = {}
    for group, seats, ranks in results:
        if group != at:
            if surplus:
                yield surplus
            at, surplus = group, {}
        for a, b in combinations(range(len(seats)), 2):
            one, two = seats[a], seats[b]
            if core_of.get(one, -1) != core_of.get(two, -2):
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
