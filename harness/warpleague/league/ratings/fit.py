"""The joint fit: all results of a league at once, with error bars, whatever can and cannot be compared."""

from __future__ import annotations

from math import erfc, sqrt
from typing import TYPE_CHECKING, Literal, Protocol

import attrs
import numpy as np

from warpleague.league.ratings.outcomes import Deals, Outcomes, Rows, added, pair_rows, ranking_rows, summed
from warpleague.league.ratings.statistics import SCALE, student, t95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.outcomes import Floats, Ints


NO_VARIANCE = 1e-6  # squared Elo: what rounding leaves where all deals went alike
_BOUND = 0.05  # the probability with which a bound for a bot that won or lost everything may be wrong
_CALM = 2.0  # drawn matches that bring ratings of short leagues back to about where errors are right
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
    each bot played, and `spread`, how far bots are from the mean in Elo: one standard deviation, with its 95 %
    `spread_interval`. `shrunk` are the shrunk ratings beside the most likely ones: they say which of two bots is the
    stronger one.
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
    spread_interval: tuple[float, float] | None = None
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
        one, two, variance = self.ratings[a], self.ratings[b], self._variance(a, b)
        if one is None or two is None or variance is None:
            return None
        if self.shrunk is not None:
            return self.shrunk.superiority(a, b)
        return student((one - two) / sqrt(variance), self.freedom_of(a, b))

    def difference(self, a: int, b: int) -> tuple[float, float | None] | None:
        """By how many Elo `a` is stronger than `b`, and half its 95 % interval; None if nothing compares the two.

        The half is None where the difference is a guess (another tier), or all deals went alike.
        """
        one, two, variance = self.ratings[a], self.ratings[b], self._variance(a, b)
        if one is None or two is None or self.islands[a] != self.islands[b]:
            return None
        return one - two, None if variance is None else sqrt(variance) * t95(self.freedom_of(a, b))

    def _variance(self, a: int, b: int) -> float | None:
        """The variance of a difference in squared Elo; None between tiers, and where all deals went alike."""
        if self.tiers[a] != self.tiers[b]:
            return None
        variance = float(self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b])
        return None if variance < NO_VARIANCE else variance

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
    method, one_tier = method or Method(), np.zeros(bots, dtype=np.int64)
    if not outcomes.matches or outcomes.players < 2:
        none = (None,) * bots
        return Fit(none, none, none, none, none, none, np.zeros((bots, bots)), none, (False,) * bots)
    # A most likely rating is finite only within a tier: a set of bots of which each has beaten all others, if not
    # itself, then by way of others. So each tier is fitted by itself. Then those tiers that met are placed by one
    # more deal between them, as if it had been drawn. Islands, which never met, are put about `start`, and compared
    # with nothing.
    deals = Deals.of(outcomes)
    every = pair_rows(deals, one_tier)
    pairs = summed(every, bots, deals.bots.shape[1], by_seat=False)
    tiers, islands = _linked(pairs, bots, bool(method.prior))
    telling = every, pairs
    if method.draws and method.kind == "bradley-terry" and _draws_tell_nothing(pairs, bots):
        method = attrs.evolve(method, draws=False)
        telling = _decided_rows(every, bots)
        if not method.prior:
            tiers = _apart(telling[1], islands)
    rating, spread, solution, layout, level = _rated(deals, tiers, method)
    single = np.bincount(tiers[tiers >= 0], minlength=1)[tiers] == 1
    place, converged = _placed(every, pairs, tiers, level)
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
        None if single[bot] or (variance < NO_VARIANCE and bot != anchor) else sqrt(max(variance, 0.0))
        for bot, variance in enumerate(covariance.diagonal())
    ]
    above, below = _bounds(*telling, place, covariance.diagonal(), about)
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
        converged=solution.converged and converged,
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


def _draws_tell_nothing(pairs: Rows, bots: int) -> bool:
    """Whether Davidson's parameter and the distances of bots have no most likely values, as of 1 win and 7 draws.

    Let draws become more likely without end, by a factor of e^t. As long as no drawn pair is further apart than 2t,
    and each winner is 2t stronger than who lost, no result becomes less likely. So the likelihood has no maximum if
    such strengths exist: differences with upper bounds, which have a solution unless the bounds around some circle add
    up to less than nothing (Bellman and Ford). A pair in which both have won is such a circle.
    """
    one, two = pairs.bots.T
    won, lost = pairs.points - pairs.drawn / 2, 1 - pairs.points - pairs.drawn / 2
    tiny = 1e-9
    first = np.concatenate([one[won > tiny], two[lost > tiny], one[pairs.drawn > 0], two[pairs.drawn > 0]])
    second = np.concatenate([two[won > tiny], one[lost > tiny], two[pairs.drawn > 0], one[pairs.drawn > 0]])
    wins = int((won > tiny).sum() + (lost > tiny).sum())
    if wins == len(first):
        return False  # nothing was drawn
    beat = np.zeros((bots, bots), dtype=bool)
    beat[first[:wins], second[:wins]] = True
    if (beat & beat.T).any():
        return False  # such a pair, which nearly every league has: the rounds below would all be in vain
    most = np.where(
        np.arange(len(first)) < wins, -1.0, 1.0
    )  # of the strength of `second` above that of `first`
    strength = np.zeros(bots)
    for _ in range(bots + 1):
        before = strength.copy()
        np.minimum.at(strength, second, before[first] + most)
        if (strength == before).all():
            return True
    return False


def _decided_rows(every: Rows, bots: int) -> tuple[Rows, Rows]:
    """The matches that somebody won, and their pairs."""
    decided = every.drawn == 0
    rows = Rows(*[values[decided] for values in attrs.astuple(every, recurse=False)])
    return rows, summed(rows, bots, 1, by_seat=False)


def _apart(pairs: Rows, islands: Ints) -> Ints:
    """The tiers where draws link no bots: a bot that won nothing and lost nothing is a tier of its own."""
    tiers, _ = _linked(pairs, len(islands), known=False)
    alone = (tiers < 0) & (islands >= 0)
    tiers[alone] = tiers.max(initial=-1) + 1 + np.arange(alone.sum())
    return tiers


def components(edges: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Ints:
    """Numbers the strongly connected components in the order of their first bots; -1 for one without any edge."""
    reached = edges | np.eye(len(edges), dtype=bool)
    while not reached.all():
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
    # The most likely ratings lie too far apart in short leagues, and errors there would be too large: near certain
    # results tell little. Two drawn matches bring them back to about where errors are right; in long leagues they
    # change nothing.
    calm = attrs.evolve(likelihood, prior=method.prior + _CALM).maximum().parameters
    spread = clustered(
        model, rows, deals.times, layout, likelihood.solution(calm), solution.parameters, coarse=deals.coarse
    )
    # Where bots differ by 250 Elo and more, the intervals of weak bots held too seldom without this. Of two bots all
    # deals tell the same, so there is nothing to borrow.
    if rated.size > 2:
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
    """The log strengths of all bots, tiers set apart as if one more deal between any two that met had been drawn.

    Where one tier won every match against another, its distance has no most likely value: it grows without end.
    """
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
    # As many deals as differences, or fewer, leave nothing over: the fit goes through all of them, and what is left of
    # scatter is rounding. No error is better than one of zero.
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
        tuple(sqrt(value) if value > NO_VARIANCE else None for value in variance),
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
    # The mean over a normal distribution, by Gauss and Hermite: nine points are exact for polynomials of degree 17.
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


# -- likelihood ------------------------------------------------------------------------------------------
# Finds the ratings that make the results most likely, by Newton's method, whatever the model.
#
# The information is singular: to add the same number to all ratings of a tier changes no result. The projection `flat`
# on such directions makes it regular. It is added before each solution and taken away from the inverse after it, so
# that these directions have no error, and the mean of each tier stays zero.


STEPS = 100
_PRECISE = 1e-9
_HALVINGS = 40
_SINGULAR = 1e12


class Model(Protocol):
    """The terms of a model for some contests."""

    def __call__(
        self, rows: Rows, strengths: Floats, draws: float | None, /
    ) -> tuple[Floats, Floats, Floats]:
        """The result of `models.bradley_terry`."""


@attrs.frozen
class Layout:
    """Where each parameter stands: `bots` log strengths first, then those of `seats` seats, then that of draws.

    `tier` (bots) numbers sets of bots whose common level the results do not tell; so their mean is zero, and that of
    the seats as well. `seats` is 0 to leave seats out.
    """

    bots: int
    tier: Ints
    seats: int = 0
    draws: bool = False

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.bots + self.seats + self.draws

    def index(self, rows: Rows) -> Ints:
        """The parameters that each row's contest depends on (rows, some)."""
        parts = [rows.bots]
        if self.seats:
            parts.append(rows.seats + self.bots)
        if self.draws:
            parts.append(np.full((len(rows.bots), 1), self.size - 1))
        return np.concatenate(parts, axis=1)

    def unfold(self, gradient: Floats, information: Floats) -> tuple[Floats, Floats]:
        """Gradient and information by the parameters of `index`, from those by place: a place is a bot and a seat."""
        if not self.seats:
            return gradient, information
        places = gradient.shape[1] - self.draws
        order = [*range(places), *range(places), *range(places, gradient.shape[1])]
        return gradient[:, order], information[:, order][:, :, order]

    def strengths(self, rows: Rows, parameters: Floats) -> Floats:
        """The log strength of each place (rows, places)."""
        worths = parameters[rows.bots]
        return worths + parameters[self.bots + rows.seats] if self.seats else worths

    def flat(self) -> Floats:
        """The projection on what results tell nothing of: the mean of each tier, and that of the seats."""
        size = self.size
        matrix = np.zeros((size, size))
        for number in sorted(set(self.tier.tolist())):  # np.unique would load numpy.ma, which takes long
            members = np.flatnonzero(self.tier == number)
            matrix[np.ix_(members, members)] = 1.0 / members.size
        seats = np.arange(self.bots, self.bots + self.seats)
        if self.seats:
            matrix[np.ix_(seats, seats)] = 1.0 / self.seats
        return matrix


@attrs.frozen
class Solution:
    """The most likely parameters; `inverse` is that of their information, zero where results tell nothing.

    `identified` says whether the results determine all parameters; `converged` whether the steps have come to an end.
    """

    parameters: Floats
    inverse: Floats
    converged: bool
    identified: bool


@attrs.frozen
class Likelihood:
    """The likelihood of `rows` as a function of the parameters.

    `prior` is in matches: as if each bot had drawn this number against one of mean rating. `offset` (rows, places) is
    added to the log strengths.
    """

    model: Model
    rows: Rows
    layout: Layout
    prior: float = 0.0
    offset: Floats | None = None

    def at(self, point: Floats) -> tuple[float, Floats, Floats]:
        """The log likelihood, its gradient, and its information."""
        rows, layout, prior = self.rows, self.layout, self.prior
        index = layout.index(rows)
        places = index.shape[1]
        strengths = layout.strengths(rows, point)
        if self.offset is not None:
            strengths = strengths + self.offset
        value, gradient, information = self.model(rows, strengths, point[-1] if layout.draws else None)
        gradient, information = layout.unfold(gradient, information)
        total = float(rows.weight @ value)
        slope = added(index.ravel(), np.repeat(rows.weight, places) * gradient.ravel(), layout.size)
        square = (index[:, :, None] * layout.size + index[:, None, :]).ravel()
        weight = np.repeat(rows.weight, places * places)
        curve = added(square, weight * information.ravel(), layout.size**2).reshape(layout.size, layout.size)
        if prior:
            own, bots = point[: layout.bots], np.arange(layout.bots)
            share = 0.5 * (1.0 + np.tanh(own / 2))
            total -= prior * float(np.log(np.cosh(own / 2)).sum())
            slope[bots] += prior * (0.5 - share)
            curve[bots, bots] += prior * share * (1 - share)
        return total, slope, curve

    def flat(self) -> Floats:
        """The projection on what neither results nor prior tell anything of."""
        flat = self.layout.flat()
        if self.prior:
            flat[: self.layout.bots, : self.layout.bots] = 0.0  # the prior tells the level
        return flat

    def solution(self, point: Floats, *, converged: bool = True) -> Solution:
        """The parameters `point` with the inverse of their information."""
        flat, curve = self.flat(), self.at(point)[2]
        identified = bool(np.linalg.cond(curve + flat) < _SINGULAR) if self.layout.size else True
        inverse = np.linalg.inv(curve + flat) - flat if identified else np.zeros_like(curve)
        return Solution(point, inverse, converged, identified)

    def maximum(self) -> Solution:
        """The most likely parameters."""
        flat, point = self.flat(), np.zeros(self.layout.size)
        value, slope, curve = self.at(point)
        converged = False
        for _ in range(STEPS):
            try:
                step = np.linalg.solve(curve + flat, slope)
            except np.linalg.LinAlgError:
                break
            for _ in range(_HALVINGS):
                further = self.at(point + step)
                # A whole step may lead too far where results are few; half of it, or of that, is always uphill. Where
                # nothing is left to gain, rounding decides which value is greater.
                if further[0] >= value - 1e-12 * abs(value):
                    break
                step = step / 2
            point = point + step
            value, slope, curve = further
            if np.abs(step).max(initial=0.0) < _PRECISE:
                converged = True
                break
        return self.solution(point, converged=converged)


# -- models ----------------------------------------------------------------------------------------------
# Bradley-Terry: the stronger bot wins more often, by the difference of their ratings (Zermelo 1929; Bradley
# and Terry 1952). A draw counts as half a win and half a loss, or with a parameter of its own (Davidson
# 1970). Plackett-Luce: the first place goes to each bot in proportion to its strength, the next place to one
# of those that are left, in the same way (Luce 1959; Plackett 1975). For two bots both are the same.


def bradley_terry(rows: Rows, strengths: Floats, draws: float | None) -> tuple[Floats, Floats, Floats]:
    """The log likelihood of one contest of each row (rows), its gradient (rows, places), its information.

    `strengths` (rows, 2) are the log strengths of both sides, seat included. `draws` is the logarithm of Davidson's
    parameter, None to count a draw as two halves; with it the gradient has a third place, the parameter's.
    """
    half = (strengths[:, 0] - strengths[:, 1]) / 2
    size = 2 if draws is None else 3
    gradient, information = np.zeros((len(half), size)), np.zeros((len(half), size, size))
    # The greatest of the exponents is taken out, so that nothing overflows.
    top = np.abs(half) if draws is None else np.maximum(np.abs(half), draws)
    won, lost = np.exp(half - top), np.exp(-half - top)
    drawn = np.zeros(len(half)) if draws is None else np.exp(draws - top)
    total = won + lost + drawn
    won, lost, drawn = won / total, lost / total, drawn / total
    share = won + drawn / 2
    surplus, spread = rows.points - share, won + drawn / 4 - share * share
    likelihood = (2 * rows.points - 1) * half - np.log(total) - top
    gradient[:, 0], gradient[:, 1] = surplus, -surplus
    information[:, 0, 0] = information[:, 1, 1] = spread
    information[:, 0, 1] = information[:, 1, 0] = -spread
    if draws is not None:
        likelihood = likelihood + rows.drawn * draws
        gradient[:, 2] = rows.drawn - drawn
        both = drawn * (0.5 - share)
        information[:, 2, 2] = drawn * (1 - drawn)
        information[:, 0, 2] = information[:, 2, 0] = both
        information[:, 1, 2] = information[:, 2, 1] = -both
    return likelihood, gradient, information


def plackett_luce(rows: Rows, strengths: Floats, _draws: float | None) -> tuple[Floats, Floats, Floats]:
    """The log likelihood of one contest of each row (rows), its gradient (rows, places), its information.

    `strengths` (rows, places) are log strengths, seat included. Shared places have no parameter.
    """
    count, places = strengths.shape
    level = np.where(rows.here, strengths, -np.inf)
    weights = np.exp(level - level.max(axis=1, keepdims=True, initial=-np.inf)) if count else level
    likelihood = np.zeros(count)
    gradient, information = np.zeros((count, places)), np.zeros((count, places, places))
    # Strengths that underflow must not leave a choice from nothing.
    weights = np.where(rows.here, np.maximum(weights, 1e-300), 0.0)
    for place in range(places - 1):
        chosen = rows.here[:, place]
        left = weights[:, place:]
        total = np.where(chosen, left.sum(axis=1), 1.0)
        shares = np.where(chosen[:, None], left / total[:, None], 0.0)
        likelihood += np.where(chosen, np.log(np.where(chosen, shares[:, 0], 1.0)), 0.0)
        gradient[:, place] += chosen
        gradient[:, place:] -= shares
        information[:, place:, place:] -= shares[:, :, None] * shares[:, None, :]
        index = np.arange(place, places)
        information[:, index, index] += shares
    return likelihood, gradient, information


# -- errors ----------------------------------------------------------------------------------------------
# Errors of fitted ratings, clustered by deal: the matches on one deal share its luck, so they are not independent, and
# neither are the pairs of one table.
#
# The covariance is the sandwich of Liang and Zeger (1986): it takes the scatter of deals from the results, and assumes
# nothing about how the matches of a deal hang together. The deals' surpluses are adjusted for having helped to fit the
# ratings (CR2; Bell and McCaffrey 2002), and the degrees of freedom of the intervals are Satterthwaite's for it
# (Pustejovsky and Tipton 2018).
#
# Errors that took the ratings as known, as these once did, are too small in short leagues: with one deal for each pair
# of four bots a 95 % interval held in 88 of 100. Now intervals hold in 93 to 97 of 100, in 47 designs of simulated
# leagues with five deals and more (`make simulations`); so do those of seats. This is over bots of all strengths: two
# bots on five deals have 21 outcomes in all, so for two given strengths the share jumps between 92 and 98 %.


_ALL = 1.0 - 1e-7  # a deal of this leverage decides a parameter alone
_SMALL = 0.01
_BOUNDED = 1.6  # degrees of freedom for each that there is for normal values
_COARSE = 8.0  # more of them, where deals have three outcomes
_MAX_EXACT = 20_000_000  # numbers in memory at once


@attrs.frozen
class Spread:
    """How sure parameters are: their `covariance`, and for contrasts how many degrees of freedom it has.

    `deals` (parameters) is the number of deals that tell of each. `scatter` is how much all deals scatter, divided by
    what independent contests would.
    """

    covariance: Floats
    deals: Floats
    scatter: float
    _inverse: Floats
    _support: Ints
    _adjust: Floats
    _information: Floats
    _times: Floats
    _coarse: bool

    def widened(self, share: float, inverse: Floats) -> Spread:
        """The same, no parameter being surer than all deals together say, or a `share` of the way there.

        `inverse` is that of the information at the fitted ratings. Where a bot hardly ever wins, its few wins decide
        how much its deals scatter, and too often there are too few of them: then its own error is too small.
        """
        values, axes = np.linalg.eigh(self.scatter * inverse - self.covariance)
        more = (axes * np.maximum(values, 0.0)) @ axes.T
        return attrs.evolve(self, covariance=self.covariance + share * more)

    def deals_of(self, parameters: Ints) -> float:
        """How many deals tell of any of these parameters."""
        return float(self._times[np.isin(self._support, parameters).any(axis=1)].sum())

    def freedom(self, contrast: Floats) -> Floats:
        """Satterthwaite's degrees of freedom of each contrast; `contrast` is (parameters, contrasts).

        They are for normal values. The values of deals have no tails, only a few outcomes, so their variance is known
        better than that; where deals have three outcomes only, few deals have so few outcomes in all that Student's t
        is much too wide. `make simulations` measures how much better.

        Where there are very many deals and contrasts, their number less one, for the parameter that weighs most.
        """
        deals, width = self._support.shape
        if deals * width * contrast.shape[1] > _MAX_EXACT or contrast.size > 10_000:
            degrees: Floats = np.maximum(self.deals[np.abs(contrast).argmax(axis=0)] - 1, 1.0)
            return degrees
        # The estimate of a variance is a sum of squares of the deals' surpluses. Its degrees of freedom are those of
        # the chi square with the same mean and variance: the square of `trace` over `squares`. The surpluses of two
        # deals hang together through the fit, which is the part with `shared` and that of each contrast below.
        here = (self._support >= 0)[:, :, None]
        direction = np.where(here, (self._inverse @ contrast)[self._support], 0.0)
        direction = np.einsum("dji,djc->dic", self._adjust, direction)
        pulled = np.einsum("dij,djc->dic", self._information, direction)
        own = (direction * pulled).sum(axis=1)
        local = _local(self._inverse, self._support, 0.0)
        shared = np.einsum("dic,dij,djc->dc", pulled, local, pulled)
        trace = self._times @ (own - shared)
        squares = self._times @ (own * own - 2 * own * shared)
        size = len(self._inverse)
        for i in range(contrast.shape[1]):
            outer = self._times[:, None, None] * pulled[:, :, None, i] * pulled[:, None, :, i]
            both = self._inverse @ _scattered(outer, self._support, size)
            squares[i] += (both * both.T).sum()
        normal = np.where(squares > 0, trace * trace / np.where(squares > 0, squares, 1.0), 0.0)
        return np.where(squares > 0, _BOUNDED * normal + (_COARSE if self._coarse else 0.0), 1.0)


def clustered(
    model: Model, rows: Rows, times: Floats, layout: Layout, solution: Solution, best: Floats, *, coarse: bool
) -> Spread:
    """The spread of the parameters `best`, from `rows` of single matches; `times` is how many deals went like each.

    `solution` are parameters near them, and the inverse of their information, by which the surpluses are weighed.
    `coarse`: a deal has three outcomes, since it has matches of two bots in both seat orders, none of them drawn.
    """
    strengths = layout.strengths(rows, solution.parameters)
    draws = solution.parameters[-1] if layout.draws else None
    _, _, information = model(rows, strengths, draws)
    _, gradient, _ = model(rows, layout.strengths(rows, best), best[-1] if layout.draws else None)
    gradient, information = layout.unfold(gradient, information)
    index, size, deals = layout.index(rows), layout.size, len(times)
    share = rows.weight / times[rows.deal]
    # A deal tells of few parameters, those of the bots at its table. So all that is about one deal is in small
    # matrices over these, and the time grows with the number of deals and not with their number times that of bots.
    # The parameters of each deal, in order: `support`; and for each parameter of a row the place where it is there.
    keys, place = np.unique(rows.deal[:, None] * size + index, return_inverse=True)
    of = keys // size
    first = np.searchsorted(of, np.arange(deals))
    place = (place.ravel() - first[np.repeat(rows.deal, index.shape[1])]).reshape(index.shape)
    width = int(place.max(initial=0)) + 1
    support = np.full((deals, width), -1)
    support[of, np.arange(len(keys)) - first[of]] = keys % size
    at = rows.deal[:, None] * width + place
    surplus = added(at.ravel(), (share[:, None] * gradient).ravel(), deals * width).reshape(deals, width)
    square = (at[:, :, None] * width + place[:, None, :]).ravel()
    inner = added(square, (share[:, None, None] * information).ravel(), deals * width * width)
    inner = inner.reshape(deals, width, width)
    adjust = _adjustment(_local(solution.inverse + layout.flat(), support, 1.0), inner)
    surplus = np.einsum("dij,dj->di", adjust, surplus)
    outer = times[:, None, None] * surplus[:, :, None] * surplus[:, None, :]
    # The sandwich: the information says how far a surplus moves the ratings, the deals say how large surpluses are.
    covariance = solution.inverse @ _scattered(outer, support, size) @ solution.inverse
    counted = added(support[support >= 0], np.repeat(times, width)[(support >= 0).ravel()], size)
    independent = float(times @ np.trace(inner, axis1=1, axis2=2))
    scatter = float(times @ (surplus * surplus).sum(axis=1)) / independent if independent > 0 else 1.0
    return Spread(covariance, counted, scatter, solution.inverse, support, adjust, inner, times, coarse)


def _adjustment(local: Floats, inner: Floats) -> Floats:
    """(1 - inner local)^(-1/2) for each deal: what makes its surplus as large as if it had not helped to fit."""
    adjusted = np.empty_like(local)
    # For a small leverage the first step of the series is as good, and quick.
    small = np.einsum("dij,dji->d", inner, local) < _SMALL
    adjusted[small] = np.eye(local.shape[1]) + inner[small] @ local[small] / 2
    local, inner = local[~small], inner[~small]
    root = np.linalg.cholesky(local)
    leverage, axes = np.linalg.eigh(np.swapaxes(root, 1, 2) @ inner @ root)
    # What one deal decides alone has no surplus left that could be made larger.
    wider = np.where(leverage < _ALL, 1.0 / np.sqrt(np.maximum(1.0 - leverage, 1.0 - _ALL)), 0.0)
    middle = (axes * wider[:, None, :]) @ np.swapaxes(axes, 1, 2)
    adjusted[~small] = np.linalg.solve(np.swapaxes(root, 1, 2), middle @ np.swapaxes(root, 1, 2))
    return adjusted


def _local(matrix: Floats, support: Ints, unused: float) -> Floats:
    """The part of a matrix for each deal's parameters; `unused` is on the diagonal where there is none."""
    here = support >= 0
    local = np.where(
        here[:, :, None] & here[:, None, :], matrix[support[:, :, None], support[:, None, :]], 0.0
    )
    index = np.arange(support.shape[1])
    local[:, index, index] += np.where(here, 0.0, unused)
    return local


def _scattered(parts: Floats, support: Ints, size: int) -> Floats:
    """The sum of the deals' matrices, each at its parameters."""
    here = support >= 0
    both = here[:, :, None] & here[:, None, :]
    at = (support[:, :, None] * size + support[:, None, :])[both]
    return added(at, parts[both], size * size).reshape(size, size)


# -- transitivity ----------------------------------------------------------------------------------------
# Tests whether ratings explain who beats whom, or there are more cycles (A beats B beats C beats A) than by
# chance.
#
# For each pair that met, what it scored is compared with what the fitted ratings say, measured by how much
# the deals of this pair scatter. The sum of squares is Pearson's chi square, with as many degrees of freedom
# as there are more pairs than ratings. Only for tables of two: at larger ones the pairs of a table are not
# independent.


_LEAST = 5.0
"""Matches that each of two bots is to win at least, by its rating: else chi square is not near enough."""


def transitivity(outcomes: Outcomes, ratings: Sequence[float | None]) -> float | None:
    """How likely results differ so much from what `ratings` (in Elo, by bot) say, if these explain them.

    None where there is nothing to test: at tables of more than two, or too few pairs that met often enough.
    """
    if outcomes.players != 2 or not outcomes.matches:
        return None
    deals, bots = Deals.of(outcomes), len(ratings)
    rows = pair_rows(deals, np.zeros(bots, dtype=np.int64))
    rated = np.array([np.nan if rating is None else rating for rating in ratings], dtype=float)
    one, two = rows.bots.min(axis=1), rows.bots.max(axis=1)
    points = np.where(rows.bots[:, 0] == one, rows.points, 1.0 - rows.points)
    pair = one * bots + two
    size = bots * bots
    games = added(pair, rows.weight, size)
    won = added(pair, rows.weight * points, size)
    share = 1.0 / (1.0 + np.exp((rated[np.arange(size) % bots] - rated[np.arange(size) // bots]) / SCALE))
    variance = games * share * (1.0 - share)
    used = np.flatnonzero((games * np.minimum(share, 1.0 - share) >= _LEAST) & np.isfinite(share))
    freedom = used.size - (np.unique([used // bots, used % bots]).size - 1)
    if freedom < 1:
        return None
    # The scatter of deals about the mean of their own pair, which does not grow with what ratings fail to explain.
    off = points - (won / np.maximum(games, 1.0))[pair]
    surplus = added(rows.deal, off, len(deals.times))
    of_deal = np.zeros(len(deals.times), dtype=np.int64)
    of_deal[rows.deal] = pair
    mine = np.isin(of_deal, used)
    many = deals.times[mine].sum()
    if many <= used.size:
        return None
    squares = float((deals.times * surplus * surplus)[mine].sum()) * many / (many - used.size)
    scatter = max(squares / float((won * (1.0 - won / np.maximum(games, 1.0)))[used].sum()), 1e-9)
    chi_square = float((np.square(won - games * share)[used] / (variance[used] * scatter)).sum())
    # Wilson and Hilferty (1931): the cube root of chi square is nearly normal.
    part = 2.0 / (9.0 * freedom)
    deviation = ((chi_square / freedom) ** (1 / 3) - (1 - part)) / sqrt(part)
    return erfc(deviation / sqrt(2.0)) / 2.0
