"""Ranks as sets: which ranks each bot may have by strength, for all bots at once with 95 % confidence.

Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for Ranks with Applications to Mobility across Neighbourhoods
and Academic Achievement across Countries": every two bots are tested, in both directions, so that all of these tests
together err with a probability of 5 % at most. A bot's best rank is one more than the number of bots that are surely
stronger, its worst leaves room for those that are surely weaker. Of equal bots none is stronger: the sets of all of
them then hold all ranks that they share.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.league.ratings.fit import NO_VARIANCE, Fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpleague.league.ratings.outcomes import Floats


_ERROR: Final = 0.05  # the probability that any of the sets is wrong
_DRAWS: Final = 4_000  # of ratings from the fit's normal distribution: 95 % is then sure to within 0.35 %
_MAX_SIMULATED: Final = 100  # bots; for more, a bound that is a few percent higher costs next to nothing
_MAX_VALUES: Final = 20_000_000  # numbers in memory at once
# Intervals of 95 % hold with all degrees of freedom of the fit. Further out, where the tests of all pairs lie, with
# two fifths: with all, sets held in only 92 to 95 % of short leagues of equal bots, at tables of four and more.
_TAILS: Final = 0.4
_MOST: Final = 1_000_000  # degrees of freedom
_FAR_ELO: Final = 800.0  # two bots that differ by so much share the points 99 to 1


@attrs.frozen
class RankSets:
    """For each bot the first and the last rank that it may have, None for a bot that is not ranked.

    `difference` is from which difference on two bots are told apart, in Elo or in the unit of means: the median of all
    pairs; None where no pair has an error. `more` is how many times as many matches again would halve it; None if none
    would. Where it is more than bots can differ at all, `least` is how many times as many matches again would change
    that.
    """

    sets: tuple[tuple[int, int] | None, ...]
    difference: float | None = None
    more: float | None = None
    least: float | None = None


def rank_sets(fit: Fit, ranked: Sequence[int], far: float = _FAR_ELO) -> RankSets:
    """The sets of the bots `ranked`, from their ratings and errors in `fit`; hardly any two differ by more than `far`.

    Where two bots have no finite difference in rating, since one won every match against the other, their shrunk
    ratings count, if there are such. Bots that cannot be compared (without matches or errors, or which never met, not
    even through others) may have any rank beside each other.
    """
    at = np.ix_(ranked, ranked)
    leads, errors, freedom = _leads(fit, ranked)
    tested = np.isfinite(leads)
    simulated = len(ranked) <= _MAX_SIMULATED
    if fit.shrunk is not None:
        shrunk, _, _ = _leads(fit.shrunk, ranked)
        tier = np.array([-1 if fit.tiers[bot] is None else fit.tiers[bot] for bot in ranked])
        guessed = np.isfinite(shrunk) & (tier[:, None] != tier)
        leads, tested = np.where(guessed, shrunk, leads), tested | guessed
        simulated = simulated and not guessed.any()
    critical, better = _stepwise(leads, tested, errors, _draws(fit.covariance[at]) if simulated else None)
    sets: list[tuple[int, int] | None] = [None] * len(fit.ratings)
    for bot, ahead, behind in zip(
        ranked, better.sum(axis=0).tolist(), better.sum(axis=1).tolist(), strict=True
    ):
        sets[bot] = 1 + ahead, len(ranked) - behind
    known = np.triu(np.isfinite(errors), 1)
    if not known.any():
        return RankSets(tuple(sets))
    difference = float(np.median((_limits(critical, freedom) * errors)[known]))
    # Of a shrunk rating, part of what is known is from the prior, which more matches do not add to.
    left = 1.0 - (float(np.median(errors[known])) / fit.spread) ** 2 / 2 if fit.spread else 1.0
    least = None
    if difference > far:
        middle, times = float(np.median(freedom[known])), 1.0
        few = _limits(critical, np.array(middle))
        while _limits(critical, np.array(times * middle)) / few * difference > far * times**0.5:
            times *= 1.05
        least = times - 1
    return RankSets(tuple(sets), difference, 3.0 / left if left > 0 else None, least)


def mean_rank_sets(
    values: NDArray[Any], owners: NDArray[Any], clusters: NDArray[Any], bots: int, ranked: Sequence[int]
) -> RankSets | None:
    """The sets of the bots `ranked` by the means of their `values`; `owners` are the bots, both (matches, seats).

    Errors are clustered: values of one of the `clusters` (matches) share their luck, also those of different bots, so
    it cancels out in their difference. None where it would take too much memory.
    """
    seats = values.shape[1]
    known, cluster = np.unique(clusters, return_inverse=True)
    if not len(known) or len(known) * bots > _MAX_VALUES:
        return None
    # Ratings are in Elo; so values are, too, as if their deviation were 100 Elo.
    unit = float(values.std()) / 100 or 1.0
    owner, value = owners.ravel().astype(np.int64), values.ravel() / unit
    played = np.bincount(owner, minlength=bots)
    means = np.bincount(owner, value, bots) / np.maximum(played, 1)
    cell = np.repeat(cluster.ravel(), seats) * bots + owner
    own = np.bincount(cell, (value - means[owner]) / played[owner], len(known) * bots).reshape(-1, bots)
    many = (np.bincount(cell, minlength=len(known) * bots).reshape(-1, bots) > 0).sum(axis=0)
    # As for one mean (Cochran 1977, 9A): a bot of one cluster has no error.
    wider = np.sqrt(many / np.maximum(many - 1, 1))
    covariance = np.asarray(own.T @ own * np.outer(wider, wider), dtype=np.float64)
    tiers = tuple(0 if clusters_of > 1 else None for clusters_of in many.tolist())
    none = (None,) * bots
    fit = Fit(tuple(means.tolist()), none, none, none, tiers, tiers, covariance, tuple((many - 1).tolist()))
    sets = rank_sets(fit, ranked, float(np.ptp(values)) / unit)
    return attrs.evolve(sets, difference=None if sets.difference is None else sets.difference * unit)


def _leads(fit: Fit, ranked: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """For each two bots the standardised lead of the first, its error in Elo, both not a number where there is none,
    and the degrees of freedom of the error.
    """
    at = np.ix_(ranked, ranked)
    ratings = np.array([fit.ratings[bot] for bot in ranked], dtype=float)
    own = fit.covariance[at].diagonal()
    variance = own[:, None] + own - 2 * fit.covariance[at]
    tier = np.array([-1 if fit.tiers[bot] is None else fit.tiers[bot] for bot in ranked])
    known = (tier[:, None] == tier) & (tier >= 0) & (variance >= NO_VARIANCE)
    errors = np.sqrt(np.where(known, variance, np.nan))
    if fit.pair_freedom is not None:
        freedom = np.asarray(fit.pair_freedom[at])
    else:
        single = np.array([fit.freedom[bot] or _MOST for bot in ranked], dtype=float)
        freedom = np.minimum(single[:, None], single)
    freedom = np.maximum(_TAILS * freedom, 1.0)
    t = (ratings[:, None] - ratings) / errors
    # The value of the standard normal distribution that is as unlikely as Student's t (Wallace 1959): for ten degrees
    # of freedom and more right within 1 %, for fewer too low.
    size = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(t * t / freedom))
    return np.sign(t) * size, errors, freedom


def _limits(normal: float, freedom: Floats) -> Floats:
    """The value of Student's t that is as unlikely as `normal` of the standard normal distribution; see `_leads`."""
    return np.sqrt(freedom * np.expm1(np.square(normal * (8 * freedom + 3) / (8 * freedom + 1)) / freedom))


def _draws(covariance: Floats) -> Floats:
    """Ratings that differ from the true ones by chance alone (draws, bots); the same at each call."""
    values, axes = np.linalg.eigh(covariance)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng(1).standard_normal((_DRAWS, len(covariance)))
    return (normal @ root.T).astype(np.float32)  # type: ignore[no-any-return]


def _stepwise(leads: Floats, tested: Floats, errors: Floats, draws: Floats | None) -> tuple[float, Floats]:
    """The last critical value of `leads`, and which bot is surely stronger than which (bots, bots).

    Romano and Wolf (2005): whoever is surely weaker is no more among those who may be stronger by chance, so the
    critical value of what is left is lower. Without `draws` it is Bonferroni's (Holm 1979).
    """
    better = np.zeros(leads.shape, dtype=bool)
    critical = np.inf
    while (left := tested & ~better).any():
        if draws is None:
            critical = NormalDist().inv_cdf(1 - _ERROR / int(left.sum()))
        else:
            greatest = np.full(len(draws), -np.inf, np.float32)
            scale = np.where(left, 1 / errors, np.nan).astype(np.float32)
            for bot in np.flatnonzero(left.any(axis=1)):
                others = left[bot]
                lead = (draws[:, bot, None] - draws[:, others]) * scale[bot, others]
                np.maximum(greatest, lead.max(axis=1), out=greatest)
            critical = float(np.quantile(greatest, 1 - _ERROR, method="higher"))
        found = left & (leads > critical)
        if not found.any():
            break
        better |= found
    return critical, better
