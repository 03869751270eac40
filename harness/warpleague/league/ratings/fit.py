"""The joint fit: all results of a league at once, with error bars, whatever can and cannot be compared."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

from warpleague.league.ratings.elo import SCALE
from warpleague.league.ratings.errors import clustered
from warpleague.league.ratings.likelihood import Layout, Likelihood
from warpleague.league.ratings.models import bradley_terry, plackett_luce
from warpleague.league.ratings.rows import Deals, Rows, pair_rows, ranking_rows, summed
from warpleague.league.ratings.statistics import student, t95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.errors import Spread
    from warpleague.league.ratings.likelihood import Model, Solution
    from warpleague.league.ratings.outcomes import Outcomes
    from warpleague.league.ratings.rows import Floats, Ints

_NO_VARIANCE = 1e-6  # squared Elo: what rounding leaves where all deals went alike
_BOUND = 0.05
_CALM = 2.0
_MAX_PAIRED = 24  # bots whose every difference has degrees of freedom of its own


@attrs.frozen
class Method:
    """How ratings are fitted.

    `kind` is the model: of pairs, or of rankings. `prior` is in matches: as if each bot had drawn this number against
    one of mean rating. `seats`: seats are rated beside the bots; `draws`: draws have a parameter (pairs only).
    """

    kind: Literal["bradley-terry", "plackett-luce"] = "bradley-terry"
    prior: float = 0.0
    seats: bool = False
    draws: bool = False


@attrs.frozen
class Fit:
    """The joint fit, by bot.

    `ratings`: Elo, None for a bot without matches. `errors`: one standard error; None where it cannot be estimated
    (a bot outside of tiers, a bot whose deals all went alike, and every bot if there are fewer deals than ratings);
    `freedom`: its degrees of freedom. `tiers` numbers sets of bots that are linked by wins in both directions: only
    within a tier does a difference have a most likely value and an error. Where tiers met, one won every match: their
    distance is as if one more deal had been drawn, and `guessed` says for which bots this was needed.
    `above`: a bot that won every match is at least this strong, with 95 % confidence even if matches on one deal
    always end alike; `below`: one that lost every match is at most this strong. `islands` numbers sets of bots that
    are linked by matches: ratings of different islands must not be compared. `covariance` is in squared Elo, zero
    outside of tiers. `seats` are the ratings of seats, `seat_errors` theirs; empty if they were not fitted. `draws` is
    Davidson's parameter. `converged` is whether the computation came to its end. Shrunk ratings have `deals`, how many
    each bot played, and `spread`, how far bots are from the mean in Elo: one standard deviation. `shrunk` are the
    shrunk ratings beside the most likely ones: they say which of two bots is the stronger one.
    """

    ratings: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    above: tuple[float | None, ...]
    below: tuple[float | None, ...]
    tiers: tuple[int | None, ...]
    islands: tuple[int | None, ...]
    covariance: Floats
    freedom: tuple[int | None, ...] = ()
    guessed: tuple[bool, ...] = ()
    seats: tuple[float, ...] = ()
    seat_errors: tuple[float | None, ...] = ()
    seat_freedom: tuple[int | None, ...] = ()
    draws: float | None = None
    converged: bool = True
    pair_freedom: Floats | None = None
    deals: tuple[int, ...] = ()
    spread: float | None = None
    shrunk: Fit | None = None

    def half(self, bot: int) -> float | None:
        """Half the 95 % interval of a rating, by Student's t."""
        return _half(self.errors[bot], self.freedom[bot])

    def provisional(self, bot: int) -> bool:
        """Whether a shrunk rating rests on few deals: on less than half of what bots have on average."""
        played = [deals for deals in self.deals if deals]
        return bool(played) and 0 < 2 * self.deals[bot] * len(played) < sum(played)

    def seat_half(self, seat: int) -> float | None:
        """The same for the rating of a seat."""
        return _half(self.seat_errors[seat], self.seat_freedom[seat])

    def superiority(self, a: int, b: int) -> float | None:
        """The likelihood that `a` is the stronger of two bots, from 0 to 1; None if they have no error."""
        one, two = self.ratings[a], self.ratings[b]
        if one is None or two is None or self.tiers[a] != self.tiers[b]:
            return None
        variance = float(self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b])
        if variance < _NO_VARIANCE:
            return None
        if self.shrunk is not None:
            return self.shrunk.superiority(a, b)
        return student((one - two) / sqrt(variance), self.freedom_of(a, b))

    def freedom_of(self, a: int, b: int) -> int:
        """The degrees of freedom of the difference of two bots."""
        if self.pair_freedom is not None:
            return max(int(self.pair_freedom[a, b]), 1)
        return min((value for value in (self.freedom[a], self.freedom[b]) if value is not None), default=1)


def _half(error: float | None, freedom: int | None) -> float | None:
    return None if error is None or freedom is None else error * t95(freedom)


def joint_fit(
    outcomes: Outcomes,
    bots: int,
    start: float = 1500.0,
    anchor: int | None = None,
    method: Method | None = None,
) -> Fit:
    """Rate all of `bots` together from the outcomes of all deals.

    On each island, the mean of the largest tier is `start` (that of the island, if every bot is a tier of its own).
    On the island of the bot `anchor`, the rating of this bot is `start`, and errors are those of the difference to it.
    """
    method, nobody = method or Method(), np.zeros(bots, dtype=np.int64)
    if not outcomes.matches or outcomes.players < 2:
        none = (None,) * bots
        return Fit(none, none, none, none, none, none, np.zeros((bots, bots)), none, (False,) * bots)
    deals = Deals.of(outcomes)
    every = pair_rows(deals, nobody)
    pairs = summed(every, bots, deals.bots.shape[1], by_seat=False)
    tiers, islands = _linked(pairs, bots, bool(method.prior))
    rating, spread, solution, layout, level = _rated(deals, tiers, method)
    single = np.bincount(tiers[tiers >= 0], minlength=1)[tiers] == 1
    place, settled = _placed(every, pairs, tiers, level)
    place *= SCALE
    guessed = np.zeros(bots, dtype=bool)
    about: list[Ints] = []
    for number in sorted(set(islands[islands >= 0].tolist())):
        island = np.flatnonzero(islands == number)
        sizes = np.bincount(tiers[island])
        largest = island[tiers[island] == sizes.argmax()] if sizes.max() > 1 else island
        guessed[island] = (tiers[island] != tiers[largest[0]]) if sizes.max() > 1 else island.size > 1
        middle = np.array([anchor]) if anchor is not None and anchor in island else largest
        place[island] += start - place[middle].mean()
        about.append(middle)
    covariance, freedom = _covariance(bots, tiers, anchor, spread, layout, rating)
    paired = _paired(bots, spread, layout, rating)
    errors = [
        None if single[bot] or (variance < _NO_VARIANCE and bot != anchor) else sqrt(max(variance, 0.0))
        for bot, variance in enumerate(covariance.diagonal())
    ]
    above, below = _bounds(every, pairs, place, covariance.diagonal(), about)
    played = tiers >= 0
    seats, seat_errors, seat_freedom = _seats(spread, solution, layout)
    return Fit(
        ratings=tuple(float(place[bot]) if played[bot] else None for bot in range(bots)),
        errors=tuple(error if played[bot] else None for bot, error in enumerate(errors)),
        above=above,
        below=below,
        tiers=_numbers(tiers),
        islands=_numbers(islands),
        covariance=covariance,
        freedom=freedom,
        guessed=tuple(bool(value) for value in guessed),
        seats=seats,
        seat_errors=seat_errors,
        seat_freedom=seat_freedom,
        draws=float(np.exp(solution.parameters[-1])) if layout.draws else None,
        converged=solution.converged and settled,
        pair_freedom=paired,
    )


def _numbers(values: Ints) -> tuple[int | None, ...]:
    return tuple(int(value) if value >= 0 else None for value in values)


def _linked(pairs: Rows, bots: int, known: bool) -> tuple[Ints, Ints]:
    """For each bot its tier and its island, -1 without matches; where there is a prior, an island is one tier."""
    beat = np.zeros((bots, bots), dtype=bool)
    one, two = pairs.bots.T
    beat[one[pairs.points > 0], two[pairs.points > 0]] = True
    beat[two[pairs.points < 1], one[pairs.points < 1]] = True
    met = beat | beat.T
    islands = components(met)
    return (islands if known else components(beat)), islands


def components(edges: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Ints:
    """Numbers the strongly connected components in the order of their first bots; -1 for one without any edge."""
    reached = edges | np.eye(len(edges), dtype=bool)
    while True:
        # Squaring doubles the length of the paths that are known.
        further = (reached.astype(np.float32) @ reached.astype(np.float32)) > 0
        if (further == reached).all():
            break
        reached = further
    first = (reached & reached.T).argmax(axis=1)
    alone = ~(edges.any(axis=0) | edges.any(axis=1))
    component_of = np.full(len(edges), -1)
    component_of[~alone] = np.unique(first[~alone], return_inverse=True)[1]
    return component_of


def _rated(deals: Deals, tiers: Ints, method: Method) -> tuple[Ints, Spread | None, Solution, Layout, Floats]:
    """Rate the bots of all tiers of two or more, each tier about zero.

    Returns the rated bots, and for all bots their log strengths.
    """
    bots, players = len(tiers), deals.bots.shape[1]
    sizes = np.bincount(tiers[tiers >= 0], minlength=1)
    rated = np.flatnonzero((tiers >= 0) & (sizes[tiers] > 1))
    number = np.full(bots, -1)
    number[rated] = np.arange(rated.size)
    tier = np.where((tiers >= 0) & (sizes[tiers] > 1), tiers, -1)
    model: Model
    draws = method.draws and method.kind == "bradley-terry"
    if method.kind == "plackett-luce":
        model, rows = plackett_luce, ranking_rows(deals, tier)
        # Places that are not taken need some bot, which has no effect.
        short = rows = attrs.evolve(rows, bots=np.maximum(number[rows.bots], 0))
    else:
        model, rows = bradley_terry, pair_rows(deals, tier)
        rows = attrs.evolve(rows, bots=number[rows.bots])
        short = summed(rows, max(rated.size, 1), players, by_seat=method.seats)
        draws = draws and bool((short.drawn > 0).any())
    layout = Layout(rated.size, tier[rated], players if method.seats else 0, draws)
    likelihood = Likelihood(model, short, layout, method.prior)
    solution = likelihood.maximum()
    if layout.seats and not solution.identified:
        # Bots that always sit on the same seats: the results do not tell apart who is good and which seat is.
        layout = attrs.evolve(layout, seats=0)
        likelihood = attrs.evolve(likelihood, layout=layout)
        solution = likelihood.maximum()
    level = np.zeros(bots)
    level[rated] = solution.parameters[: rated.size]
    if not len(rows.bots):
        return rated, None, solution, layout, level
    # The most likely ratings lie too far apart in short leagues, and errors there would be too large. Two drawn
    # matches bring them back to about where errors are right; in long leagues they change nothing.
    calm = attrs.evolve(likelihood, prior=method.prior + _CALM).maximum().parameters
    spread = clustered(
        model, rows, deals.times, layout, likelihood.solution(calm), solution.parameters, coarse=deals.coarse
    )
    if rated.size > 2:  # of two bots all deals tell the same
        spread = spread.widened(
            _decided(short, layout, calm), likelihood.solution(solution.parameters).inverse
        )
    return rated, spread, solution, layout, level


def _decided(pairs: Rows, layout: Layout, parameters: Floats) -> float:
    """How far results are decided by strength: from 0, where all pairs are even, to 1, where it is known who wins."""
    strengths = layout.strengths(pairs, parameters)
    lead = np.where(pairs.here[:, 1:], strengths[:, :1] - strengths[:, 1:], 0.0)
    share = np.tanh(lead / 2) ** 2
    weight = pairs.weight[:, None] * pairs.here[:, 1:]
    return float((weight * share).sum() / weight.sum())


def _placed(every: Rows, pairs: Rows, tiers: Ints, level: Floats) -> tuple[Floats, bool]:
    """The log strengths of all bots, tiers set apart as if one more deal between any two that met had been drawn."""
    one, two = tiers[pairs.bots].T
    cross = one != two
    if not cross.any():
        return level, True
    count = int(tiers.max()) + 1

    def both(a: Ints, b: Ints) -> Ints:
        pairs: Ints = np.minimum(a, b) * count + np.maximum(a, b)
        return pairs

    # The matches of a deal between two tiers are as many as they are on average.
    first, second = tiers[every.bots].T
    apart = first != second
    keys, at = np.unique(both(first[apart], second[apart]), return_inverse=True)
    matches = np.bincount(at, every.weight[apart])
    meetings = np.unique(np.stack([at, every.deal[apart]]), axis=1, return_index=True)[1]
    met = np.bincount(at[meetings], every.weight[apart][meetings], len(keys))
    between = attrs.evolve(
        pairs,
        **{
            name: getattr(pairs, name)[cross]
            for name in ("bots", "seats", "weight", "deal", "points", "drawn", "here")
        },
    )
    offset = level[between.bots]
    at = np.searchsorted(keys, both(*tiers[between.bots].T))
    towards = np.where(tiers[between.bots[:, 0]] < tiers[between.bots[:, 1]], 1.0, -1.0)
    lead = np.bincount(at, between.weight * towards * (offset[:, 0] - offset[:, 1])) / matches
    size, none = len(keys), np.zeros(len(keys))
    rows = Rows(
        bots=np.concatenate([tiers[between.bots], np.stack([keys // count, keys % count], 1)]),
        seats=np.concatenate([between.seats, np.zeros((size, 2), dtype=np.int64)]),
        weight=np.concatenate([between.weight, matches / met]),
        deal=np.zeros(len(between.bots) + size, dtype=np.int64),
        points=np.concatenate([between.points, none + 0.5]),
        drawn=np.concatenate([between.drawn, none]),
        here=np.ones((len(between.bots) + size, 2), dtype=bool),
    )
    offset = np.concatenate([offset, np.stack([lead, none], 1)])
    # Tiers that results link are the bots of this fit; those of an island have one level.
    linked = np.zeros((count, count), dtype=bool)
    linked[keys // count, keys % count] = True
    islands = components(linked | linked.T | np.eye(count, dtype=bool))
    placed = Likelihood(bradley_terry, rows, Layout(count, islands), offset=offset).maximum()
    return level + np.where(tiers >= 0, placed.parameters[tiers], 0.0), placed.converged


def _covariance(
    bots: int,
    tiers: Ints,
    anchor: int | None,
    spread: Spread | None,
    layout: Layout,
    rated: Ints,
) -> tuple[Floats, tuple[int | None, ...]]:
    """The covariance of all bots in squared Elo, and the degrees of freedom; zero and None where there is no error."""
    covariance, freedom = np.zeros((bots, bots)), list[int | None]([None] * bots)
    if spread is None:
        return covariance, tuple(freedom)
    contrast = np.eye(layout.size)[:, : rated.size]
    if anchor is not None and anchor in rated:
        at = int(np.flatnonzero(rated == anchor)[0])
        contrast[at, tiers[rated] == tiers[anchor]] -= 1.0
    inner = contrast.T @ spread.covariance @ contrast * SCALE * SCALE
    # As many deals as differences, or fewer, leave nothing over.
    for number in sorted(set(layout.tier.tolist())):
        mine = np.flatnonzero(layout.tier == number)
        if spread.deals_of(mine) < mine.size:
            inner[mine, :] = inner[:, mine] = 0.0
    covariance[np.ix_(rated, rated)] = inner
    degrees = spread.freedom(contrast)
    # An anchor has no error, so its degrees of freedom must not limit those of others.
    degrees[~contrast.any(axis=0)] = degrees.max()
    for bot, value in zip(rated, degrees, strict=True):
        freedom[bot] = max(int(value), 1)
    return covariance, tuple(freedom)


def _paired(bots: int, spread: Spread | None, layout: Layout, rated: Ints) -> Floats | None:
    """The degrees of freedom of each difference, None for many bots: there they make no difference."""
    if spread is None or rated.size > _MAX_PAIRED:
        return None
    first, second = np.triu_indices(rated.size, 1)
    contrast = np.zeros((layout.size, first.size))
    contrast[first, np.arange(first.size)] = 1.0
    contrast[second, np.arange(first.size)] = -1.0
    paired = np.ones((bots, bots))
    paired[rated[first], rated[second]] = paired[rated[second], rated[first]] = spread.freedom(contrast)
    return paired


def _seats(
    spread: Spread | None, solution: Solution, layout: Layout
) -> tuple[tuple[float, ...], tuple[float | None, ...], tuple[int | None, ...]]:
    """The ratings of the seats, their errors, and the degrees of freedom of these."""
    if spread is None or not layout.seats:
        return (), (), ()
    seats = slice(layout.bots, layout.bots + layout.seats)
    variance = spread.covariance.diagonal()[seats] * SCALE * SCALE
    freedom = spread.freedom(np.eye(layout.size)[:, seats])
    return (
        tuple(float(value) * SCALE for value in solution.parameters[seats]),
        tuple(sqrt(value) if value > _NO_VARIANCE else None for value in variance),
        tuple(max(int(value), 1) for value in freedom),
    )


def _bounds(
    every: Rows, pairs: Rows, place: Floats, variances: Floats, about: Sequence[Ints]
) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
    """For bots that won everything the rating they have at least, for those that lost everything at most.

    `variances` are those of the ratings `place`; the mean of each of the sets of bots `about` stays where it is.
    """
    bots = len(place)
    above: list[float | None] = [None] * bots
    below: list[float | None] = [None] * bots
    points = np.bincount(pairs.bots[:, 0], pairs.weight * pairs.points, bots)
    points += np.bincount(pairs.bots[:, 1], pairs.weight * (1 - pairs.points), bots)
    played = np.bincount(pairs.bots.ravel(), np.repeat(pairs.weight, 2), bots)
    for bot in np.flatnonzero((played > 0) & ((points == 0) | (points == played))):
        first, second = every.bots.T
        mine = (first == bot) | (second == bot)
        rivals = np.where(first == bot, second, first)[mine]
        other = place[rivals]
        sign = 1.0 if points[bot] else -1.0
        # Whoever sweeps a deal beat the strongest bot there, which is no more likely than to beat it once.
        strongest = np.full(int(every.deal.max()) + 1, -np.inf)
        np.maximum.at(strongest, every.deal[mine], sign * other)
        met = np.isfinite(strongest)
        weight = np.zeros(len(strongest))
        weight[every.deal[mine]] = every.weight[mine]
        unsure = float(np.average(variances[rivals], weights=every.weight[mine]))
        bound = sign * _sweep(strongest[met], weight[met], unsure)
        # Where the mean that stays is the bot's own, too, the others move away from it by as much as it comes nearer.
        fixed = next((some for some in about if bot in some), None)
        if fixed is not None:
            bound = place[bot] + (bound - place[bot]) * (1 - 1 / fixed.size)
        (above if points[bot] else below)[bot] = bound
    return tuple(above), tuple(below)


def _sweep(met: Floats, times: Floats, unsure: float) -> float:
    """The rating at which a bot beats bots of the ratings `met`, each `times` times, with the bound's probability.

    `unsure` is the variance of these ratings, taken to be too high or too low together.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    shifts, weights = nodes * sqrt(max(unsure, 0.0)), weights / weights.sum()

    def likely(rating: float) -> bool:
        logs = -(times * np.logaddexp(0.0, (met + shifts[:, None] - rating) / SCALE)).sum(axis=1)
        return float(weights @ np.exp(logs)) > _BOUND

    low, high, step = float(met.min()), float(met.max()), SCALE
    while likely(low):
        low, step = low - step, 2 * step
    while not likely(high):
        high, step = high + step, 2 * step
    while high - low > 1e-9 * max(abs(low), abs(high), 1.0):
        middle = (low + high) / 2
        low, high = (low, middle) if likely(middle) else (middle, high)
    return (low + high) / 2
