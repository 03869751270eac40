"""The posterior of all ratings, as one normal distribution: which order is settled, which match tells most.

The model is Bradley and Terry's. Each bot's strength has a normal prior about the mean, and how far bots are from the
mean is estimated from the league itself (empirical Bayes): all spreads of a list are tried, and each counts by how
likely it makes the results (Laplace's approximation). So the ratings are shrunk, the more the less is known, and they
stay true where results choose the matches: then the most likely ratings lie too far apart, since a pair that luck has
decided meets no more, but what a posterior says does not depend on why matches were played.

Before there are results, a spread counts by one over its fourth root. If all spreads counted alike, the best of equal
bots would be rated higher; by one over the root, intervals were too narrow where bots differ a little: of bots that
differ by 40 Elo they held 91 % of the true ratings. In simulated ladders of ten bots, of 600 and 2,000 matches and
with spreads of 40 to 250 Elo, they now hold 94 to 95 %, and the bot rated highest is rated 8 Elo too low to 2 too
high.

Versions of one bot are linked (a drift prior, as in TrueSkill 2): each is about as strong as the one before it. How
far versions drift is estimated in the same way, from all versions of the league. So who tries many versions does not
gain by the luck of the best: with bots 100 Elo apart, the best of 20 equal versions with 24 matches each was overrated
by 70 Elo without the link, by 18 with it. The price: a version that is really better rises later.

Matches on one deal share its luck, so results are weighted by how much the deals scatter, compared with independent
matches.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, groupby, pairwise
from math import erfc, sqrt
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.league.ratings.fit import Fit, Method, components, joint_fit
from warpleague.league.ratings.outcomes import Deals, Earlier, Outcomes, added, pair_rows
from warpleague.league.ratings.statistics import SCALE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from warpleague.league.ratings.outcomes import Floats, Ints, Rows
    from warpleague.league.season.config import LeagueConfig


SPREADS: Final = tuple(5.0 * 2 ** (step / 2) for step in range(15))
"""How far bots may be from the mean, in Elo (one standard deviation)."""
DRIFTS: Final = (7.5, 15.0, 30.0, 60.0)
"""How far a version of a bot may be from the one before it, in Elo (one standard deviation), all equally likely."""
EDIT_DRIFTS: Final = (*DRIFTS, 120.0, 240.0, 480.0)
"""The same where each version is an edit by a program, which may change all, and nobody gains by many versions."""
NEAR_ELO: Final = 50.0
"""Bots that are so far apart, in Elo, are near each other, however much is known of them."""
_STEPS: Final = 30
_STEP: Final = 1e-6
_FEW: Final = 200  # bots: of so few all is solved at once
_SOLVED: Final = 1e-8  # what is left of a slope, by what it was
_TURNS: Final = 200
_NO_WEIGHT: Final = 1e-12  # of a prior: it changes no digit that is compared
_HOPELESS: Final = 1e-40
_ROUNDS: Final = 8
_SETTLED: Final = 0.01
_DIGITS: Final = 9  # what is compared has no more, so that machines that round differently choose alike
_PRIOR_WEIGHT: Final = 30.0  # so much scatter of independent matches counts as seen before there are results
_LEAST_SCATTER: Final = 0.25
_erfc = np.frompyfunc(erfc, 1, 1)


@attrs.define
class Posterior:
    """The ratings of `bots` bots in units of e, about zero: `mean` and `covariance`. `of` makes it of results.

    `distances` are the variances of the differences of pairs. `deals` counts the deals of each bot. `scatter` is the
    variance of deals, divided by that of independent matches. `links` are pairs of versions, the earlier one first.
    `spread` is how far bots are from the mean, in Elo, as far as results tell; `spread_interval` is its 95 % interval.
    `drifts` are the drifts to try.
    """

    bots: int
    links: Sequence[tuple[int, int]] = ()
    drifts: Sequence[float] = DRIFTS
    mean: Floats = attrs.field(init=False)
    covariance: Floats = attrs.field(init=False)
    distances: Floats = attrs.field(init=False)
    deals: list[int] = attrs.field(init=False)
    scatter: float = 1.0
    spread: float = attrs.field(init=False)
    spread_interval: tuple[float, float] = attrs.field(init=False)
    _priors: list[tuple[float, float]] = attrs.field(init=False)  # spreads and drifts to try, in Elo
    _weights: Floats = attrs.field(init=False)  # of these, before there are results
    _maxima: list[Floats] = attrs.field(init=False)  # the most likely ratings with each of them
    _pairs: _Pairs = attrs.field(init=False)
    _cells: tuple[Ints, Ints, Ints, Floats, Floats, Floats] | None = None
    """Each pair of each kind of deal: kind, bots, points of the first, meetings; and how often each kind came."""
    _linked: Ints = attrs.field(init=False)  # (2, links): the earlier versions, and those that followed
    _first: Floats = attrs.field(init=False)  # 1 for each bot that is not a later version of another

    def __attrs_post_init__(self) -> None:
        n = self.bots
        self.deals = [0] * n
        widths = np.gradient(SPREADS) / np.power(SPREADS, 0.25)
        weights: Counter[tuple[float, float]] = Counter()
        for spread, width in zip(SPREADS, widths.tolist(), strict=True):
            for drift in self.drifts if self.links else self.drifts[:1]:
                # Versions of one bot do not differ more than bots do.
                weights[spread, min(drift, spread)] += width / len(self.drifts)
        self._priors, self._weights = list(weights), np.array(list(weights.values()))
        self._maxima = [np.zeros(n) for _ in weights]
        none = np.zeros(0, dtype=np.int64)
        self._pairs = _Pairs(none, none, np.zeros(0), np.zeros(0))
        self._linked, self._first = np.array(self.links, dtype=np.int64).reshape(-1, 2).T, np.ones(n)
        self._first[self._linked[1]] = 0.0
        if self._cells is None:
            self._mix(self._weighed(range(len(self._priors))), self.scatter)

    @classmethod
    def of(
        cls,
        outcomes: Outcomes,
        bots: int,
        earlier: Earlier | None = None,
        drifts: Sequence[float] = DRIFTS,
    ) -> Posterior:
        """The posterior from the outcomes of whole deals and of `earlier` versions, numbered after `bots`."""
        links: Sequence[tuple[int, int]] = ()
        if earlier is not None:
            bots, links = bots + earlier.versions, earlier.links
            outcomes = outcomes.with_all(earlier.outcomes)
        deals = Deals.of(outcomes)
        if not len(deals.times):
            return cls(bots, links, drifts)
        rows = pair_rows(deals, np.zeros(bots, dtype=np.int64))
        one, two = rows.bots.T
        posterior = cls(
            bots, links, drifts, cells=(rows.deal, one, two, rows.points, np.ones(len(one)), deals.times)
        )
        posterior._pairs = _Pairs.of(rows, bots)
        seated = np.unique(np.repeat(deals.deal, outcomes.players) * bots + deals.bots.ravel())
        posterior.deals = added(seated % bots, deals.times[seated // bots], bots).astype(int).tolist()
        tried: Sequence[int] = range(len(posterior._priors))
        for _ in range(_ROUNDS):
            before = posterior.scatter
            weights = posterior._weighed(tried)
            posterior._scattered()
            if abs(posterior.scatter - before) <= _SETTLED * before:
                break
            # The next round differs by the scatter only: what explains so little now is not tried again.
            tried = [place for place in tried if weights[place] > _HOPELESS]
        posterior._mix(weights, before)
        return posterior

    def _weighed(self, tried: Sequence[int]) -> Floats:
        """Find `mean`, that of all priors together: the weight of each, by what it explains; 0 for those not tried."""
        explained = np.full(len(self._priors), -np.inf)
        spreads = [list(places) for _, places in groupby(tried, lambda place: self._priors[place][0])]
        middle = len(spreads) // 2
        # From the middle outwards: what explains the less the further a spread is away is not tried further on.
        for way in (spreads[middle:], spreads[:middle][::-1]):
            near = spreads[middle][0]
            for places in way:
                for place in places:
                    explained[place], near = self._fitted(place, near), place
                if explained[places].max() < explained.max() + np.log(_HOPELESS):
                    break
        weights = np.exp(explained - explained.max()) * self._weights
        weights /= weights.sum()
        self.mean = weights @ np.array(self._maxima)
        self._spread_out(weights)
        return np.asarray(weights)

    def _spread_out(self, weights: Floats) -> None:
        """Find the spread of the bots, and the interval that has 95 % of the weights (a credible interval)."""
        spreads = np.array([spread for spread, _ in self._priors])
        self.spread = float(weights @ spreads)
        # Each spread stands for those nearer to it than to others, by ratio; the least one, for none at all, too.
        below = np.array([0.0, *(weights[spreads <= spread].sum() for spread in SPREADS)])
        edges = np.array([0.0, *(spread * 2**0.25 for spread in SPREADS)])
        density = np.diff(below) / np.diff(edges)
        # What is likeliest belongs to it: none at all, too, if that is likelier than its upper end would be.
        tail = 0.0 if density[0] >= density[np.searchsorted(below, 0.95) - 1] else 0.025
        low, high = (
            np.interp((tail, tail + 0.95), below, edges) if tail else (0.0, np.interp(0.95, below, edges))
        )
        self.spread_interval = float(low), float(high)

    def _mix(self, weights: Floats, scatter: float) -> None:
        """Find the covariance with these weights of the priors and the scatter that the ratings were found with."""
        # A mixture of normal distributions, taken for one: its mean, and its covariance, to which the differences of
        # the means add. So it counts, too, that nobody knows the spread.
        self.covariance = np.zeros((self.bots, self.bots))
        for place, weight in enumerate(weights.tolist()):
            if weight > _NO_WEIGHT:
                away = self._maxima[place] - self.mean
                inverse = _inverse(self._curvature(place, scatter)[0].matrix())
                self.covariance += weight * (inverse + np.outer(away, away))
        self.distances = _distances(self.covariance)

    def _curvature(self, place: int, scatter: float) -> tuple[_Precision, Floats]:
        """The precision of the ratings about the most likely ones with a prior, and the slope there."""
        maximum, (spread, drift) = self._maxima[place], self._priors[place]
        prior, link, pairs = (SCALE / spread) ** 2 * self._first, (SCALE / drift) ** 2, self._pairs
        share = 1 / (1 + np.exp(maximum[pairs.two] - maximum[pairs.one]))
        weight = pairs.games * share
        off = (pairs.points - weight) / scatter
        weight *= (1 - share) / scatter
        # A link draws two versions together, as draws of two bots do.
        earlier, later = self._linked
        one, two = np.append(pairs.one, earlier), np.append(pairs.two, later)
        off = np.append(off, link * (maximum[later] - maximum[earlier]))
        weight = np.append(weight, np.full(len(later), link))
        slope = added(one, off, self.bots) - added(two, off, self.bots) - prior * maximum
        own = added(one, weight, self.bots) + added(two, weight, self.bots) + prior
        return _Precision(own, one, two, weight), slope

    def _fitted(self, place: int, near: int) -> float:
        """Find the most likely ratings with a prior: the log probability of the results."""
        # From those of a prior that is `near`, and later from those of the round before. Steps are bounded, since far
        # from the maximum the likelihood is nearly flat, and a whole step would lead beyond it.
        if not self._maxima[place].any():
            self._maxima[place] = self._maxima[near]
        for _ in range(_STEPS):
            precision, slope = self._curvature(place, self.scatter)
            if not slope.any():
                break
            step = np.clip(precision.solved(slope), -1, 1)
            self._maxima[place] = self._maxima[place] + step
            # What is left is about the square of the last step.
            if np.abs(step).max() < _STEP:
                precision, _ = self._curvature(place, self.scatter)
                break
        # Laplace: the probability of the results with this prior is that at the maximum, times the volume of the
        # normal distribution that has the same curvature there.
        maximum, (spread, drift) = self._maxima[place], self._priors[place]
        prior, linked = (SCALE / spread) ** 2, (SCALE / drift) ** 2
        pairs, (earlier, later) = self._pairs, self._linked
        behind = maximum[pairs.two] - maximum[pairs.one]
        logs = pairs.games * np.logaddexp(0.0, -behind) + pairs.points * behind
        drifted = maximum[later] - maximum[earlier]
        explained = -logs.sum() / self.scatter - prior * (maximum @ (self._first * maximum)) / 2
        explained -= linked * (drifted @ drifted) / 2
        explained += (self._first.sum() * np.log(prior) + len(self.links) * np.log(linked)) / 2
        return float(explained - np.log(np.linalg.cholesky(precision.matrix()).diagonal()).sum())

    def met(self) -> NDArray[np.bool_]:
        """For each pair whether it has met."""
        met, pairs = np.zeros((self.bots, self.bots), dtype=bool), self._pairs
        met[pairs.one, pairs.two] = met[pairs.two, pairs.one] = True
        return met

    def _scattered(self) -> None:
        """How much the points of a bot on a deal scatter, all its opponents there taken together."""
        assert self._cells is not None
        kind, one, two, points, games, often = self._cells
        share = 1 / (1 + np.exp(self.mean[two] - self.mean[one]))
        off, variance = points - games * share, games * share * (1 - share)
        # All points of a bot on a deal together, since they share its luck. Nobody knows how much at first: so it
        # counts as if independent results, worth `_PRIOR_WEIGHT`, had been seen before.
        seated, at = np.unique(
            np.concatenate((kind, kind)) * self.bots + np.concatenate((one, two)), return_inverse=True
        )
        more = np.bincount(at, np.concatenate((off, -off)))
        seen = (more * more) @ often[seated // self.bots] / 2
        expected = variance @ often[kind]
        self.scatter = max(float((seen + _PRIOR_WEIGHT) / (expected + _PRIOR_WEIGHT)), _LEAST_SCATTER)

    def order(self, present: Sequence[int]) -> list[int]:
        """Some bots, the strongest first."""
        return sorted(present, key=lambda bot: (-round(float(self.mean[bot]), _DIGITS), bot))

    def doubts(self, within: float = 0.0) -> Floats:
        """For each pair how likely it is that the one with the lower rating is the stronger one, at most a half.

        With `within`: by more than this number of Elo.
        """
        lead = np.abs(self.mean[:, None] - self.mean[None, :]) + within / SCALE
        deviations = lead / np.sqrt(self.distances + np.eye(self.bots))
        tails: Floats = np.asarray(_erfc(deviations / sqrt(2)), dtype=float) / 2
        return tails

    def doubt(self, present: Sequence[int], top: int, within: float = 0.0) -> float:
        """At most so likely it is that the first `top` places of some bots are not those that the ratings say.

        Bots that differ by less than `within` Elo may have either place.
        """
        # The sum of the single doubts is never less than the probability that any of them is right (Boole): so it
        # errs on the safe side, however they hang together.
        order, doubts = self.order(present), self.doubts(within)
        top = min(top, len(order) - 1)
        pairs = list(pairwise(order[:top]))
        pairs += [(order[top - 1], bot) for bot in order[top:]]
        return round(sum(float(doubts[pair]) for pair in pairs), _DIGITS)

    def worth(self, present: Sequence[int], top: int | None = None) -> Floats:
        """How much a match of each pair tells of the ratings, for each unit of `distances`.

        It is much where a pair is even, and where the two may well be near each other. It is never nothing: a pair
        that luck has parted must meet again, or its results would end at an extreme. With `top` it is how much it
        tells of who has the first so many places: less and less where that is nearly settled.
        """
        place = np.full(self.bots, self.bots)
        place[self.order(present)] = range(len(present))
        lead = self.mean[:, None] - self.mean[None, :]
        share = 1 / (1 + np.exp(-lead))
        here = place < self.bots
        worths: Floats = share * (1 - share) * (here[:, None] & here[None, :])
        if top is None:
            worths *= np.exp(-lead * lead / (2 * (self.distances + (NEAR_ELO / SCALE) ** 2)))
        else:
            worths *= self.doubts() * (np.minimum(place[:, None], place[None, :]) < top)
        np.fill_diagonal(worths, 0.0)
        return worths

    def expected(self, tables: Iterable[Sequence[int]], matches: int) -> Floats:
        """About what `distances` will be once these deals are played, the ratings being what they are."""
        share = 1 / (1 + np.exp(self.mean[None, :] - self.mean[:, None]))
        met = np.zeros_like(self.covariance)
        for table in tables:
            for one, two in combinations(table, 2):
                met[one, two] += 1
                met[two, one] += 1
        if not met.any():
            return self.distances.copy()
        weight = matches * met * share * (1 - share) / self.scatter
        precision = _inverse(self.covariance) + np.diag(weight.sum(axis=1)) - weight
        return _distances(_inverse(precision))


@attrs.frozen
class _Pairs:
    """The pairs of bots that met, each once: the `points` of the first one, and how many `games` they played."""

    one: Ints
    two: Ints
    points: Floats
    games: Floats

    @classmethod
    def of(cls, rows: Rows, bots: int) -> _Pairs:
        """The pairs of these contests of two."""
        low, high = rows.bots.min(axis=1), rows.bots.max(axis=1)
        points = np.where(rows.bots[:, 0] == low, rows.points, 1.0 - rows.points)
        pair, at = np.unique(low * bots + high, return_inverse=True)
        games = added(at, rows.weight, len(pair))
        return cls(pair // bots, pair % bots, added(at, rows.weight * points, len(pair)), games)


@attrs.frozen
class _Precision:
    """The precision of ratings, of which few entries are not 0: the diagonal, and less `weight` for pairs of bots."""

    own: Floats
    one: Ints
    two: Ints
    weight: Floats

    def matrix(self) -> Floats:
        """The whole matrix."""
        precision: Floats = np.diag(self.own)
        np.subtract.at(precision, (self.one, self.two), self.weight)
        np.subtract.at(precision, (self.two, self.one), self.weight)
        return precision

    def solved(self, slope: Floats) -> Floats:
        """The step that the slope asks for."""
        if len(slope) < _FEW:
            return np.asarray(np.linalg.solve(self.matrix(), slope), dtype=np.float64)
        # Conjugate gradients (Hestenes and Stiefel 1952), scaled by the diagonal: of many bots each has met few.
        step, left, limit = np.zeros_like(slope), slope, _SOLVED * np.abs(slope).max()
        scaled = way = left / self.own
        for _ in range(_TURNS):
            ahead = self._times(way)
            size = left @ scaled
            share = size / (way @ ahead)
            step, left = step + share * way, left - share * ahead
            if np.abs(left).max() <= limit:
                return step
            scaled = left / self.own
            way = scaled + (left @ scaled / size) * way
        return np.asarray(np.linalg.solve(self.matrix(), slope), dtype=np.float64)

    def _times(self, vector: Floats) -> Floats:
        bots, one, two = len(vector), self.one, self.two
        shared = added(one, self.weight * vector[two], bots) + added(two, self.weight * vector[one], bots)
        product: Floats = self.own * vector - shared
        return product


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _distances(covariance: Floats) -> Floats:
    """The variances of the differences of pairs."""
    own = covariance.diagonal()
    variances: Floats = np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0)
    return variances


# -- as a fit --------------------------------------------------------------------------------------------


_NORMAL = 10_000  # degrees of freedom: the errors are those of a normal distribution


def shrunk_fit(
    outcomes: Outcomes,
    bots: int,
    start: float = 1500.0,
    anchor: int | None = None,
    earlier: Earlier | None = None,
    drifts: Sequence[float] = DRIFTS,
) -> Fit:
    """Rate all of `bots` together by `Posterior`: the mean of those that played is `start`, or the bot `anchor` is.

    So the ratings and errors of a league whose results choose its matches stay true.

    Errors are those of the difference to this mean, or to the anchor. Every bot that played has a finite rating with
    an error. Bots that never met, not even through others, are on different islands: only the prior links them.
    Matches of `earlier` versions are evidence about the current bots, but only the current bots are rated.
    """
    known = Posterior.of(outcomes, bots, earlier, drifts)
    deals = known.deals[:bots]
    if earlier is not None:
        for matches, times in earlier.outcomes.deals():
            for bot in {bot for seats, _ in matches for bot in seats if bot < bots}:
                deals[bot] -= times
    met = known.met()
    for one, two in known.links:
        met[one, two] = met[two, one] = True
    played = [bot for bot in range(bots) if deals[bot]]
    islands: list[int | None] = [None] * bots
    linked = components(met)
    first = {int(linked[bot]): number for number, bot in reversed(list(enumerate(played)))}
    for bot in played:
        islands[bot] = first[int(linked[bot])]
    middle = np.zeros(known.bots)  # how much each bot counts for what ratings are measured from
    if anchor is not None and deals[anchor]:
        middle[anchor] = 1.0
    elif played:
        middle[played] = 1.0 / len(played)
    ratings = start + (known.mean - middle @ known.mean) * SCALE
    beside = known.covariance @ middle
    away = middle @ beside - beside[:bots]
    covariance = (known.covariance[:bots, :bots] + away[:, None] - beside[:bots]) * SCALE**2
    return Fit(
        ratings=tuple(float(ratings[bot]) if deals[bot] else None for bot in range(bots)),
        errors=tuple(
            sqrt(max(float(covariance[bot, bot]), 0.0)) if deals[bot] else None for bot in range(bots)
        ),
        above=(None,) * bots,
        below=(None,) * bots,
        tiers=tuple(islands),
        islands=tuple(islands),
        covariance=covariance,
        freedom=tuple(_NORMAL if deals[bot] else None for bot in range(bots)),
        guessed=(False,) * bots,
        deals=tuple(deals),
        spread=known.spread,
        spread_interval=known.spread_interval,
    )


# -- as a league file asks -------------------------------------------------------------------------------


_MAX_SHRUNK = 200  # bots: to shrink the ratings of more takes seconds


def fitted(
    outcomes: Outcomes,
    names: Sequence[str],
    config: LeagueConfig,
    earlier: Earlier | None = None,
    *,
    likelihoods: bool = True,
) -> Fit:
    """The joint fit of the outcomes of all deals; `names` are those of the bots.

    Where results choose the matches, the ratings are shrunk, and what `earlier` versions of the bots played is taken
    into account; elsewhere only what they say of who is stronger is shrunk. Neither holds if the file asks for a model
    of its own. Without `likelihoods`, which of two bots is stronger is as the most likely ratings say: that takes less
    time.
    """
    rating = config.rating
    anchor = None if rating.anchor is None else names.index(rating.anchor)
    method = Method(
        kind="plackett-luce" if rating.kind == "plackett-luce" else "bradley-terry",
        prior=rating.prior,
        seats=rating.seat_advantage,
        draws=rating.draw_parameter,
    )
    if method != Method():
        return joint_fit(outcomes, len(names), rating.start, anchor, method)
    if config.format.adaptive:
        return shrunk_fit(outcomes, len(names), rating.start, anchor, earlier)
    fit = joint_fit(outcomes, len(names), rating.start, anchor)
    if not likelihoods or len(names) > _MAX_SHRUNK:
        return fit
    # Of bots that are much alike, the one that leads does so by luck more often than the results alone say.
    return attrs.evolve(fit, shrunk=shrunk_fit(outcomes, len(names)))


def at_once(likelihoods: Sequence[float | None]) -> list[float | None]:
    """Likelihoods of superiority, each made so much smaller that all of them hold at once (Holm 1979)."""
    results = list(likelihoods)
    order = sorted(((1.0 - value, place) for place, value in enumerate(likelihoods) if value is not None))
    doubt = 0.0
    for done, (alone, place) in enumerate(order):
        doubt = max(doubt, min(1.0, (len(order) - done) * alone))
        results[place] = 1.0 - doubt
    return results
