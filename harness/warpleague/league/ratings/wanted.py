"""Ratings and likelihoods as a league file wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.league.ratings.fit import Method, joint_fit
from warpleague.league.ratings.shrunk import shrunk_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.fit import Fit
    from warpleague.league.ratings.outcomes import Earlier, Outcomes
    from warpleague.league.season.config import LeagueConfig

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
