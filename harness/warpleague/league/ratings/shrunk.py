"""Ratings of a league whose results choose its matches: shrunk, so that they and their errors stay true."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from warpleague.league.ratings.elo import SCALE
from warpleague.league.ratings.fit import Fit, components
from warpleague.league.ratings.posterior import Posterior

if TYPE_CHECKING:
    from warpleague.league.ratings.outcomes import Earlier, Outcomes

_NORMAL = 10_000  # degrees of freedom: the errors are those of a normal distribution


def shrunk_fit(
    outcomes: Outcomes,
    bots: int,
    start: float = 1500.0,
    anchor: int | None = None,
    earlier: Earlier | None = None,
) -> Fit:
    """Rate all of `bots` together by `Posterior`: the mean of those that played is `start`, or the bot `anchor` is.

    Errors are those of the difference to this mean, or to the anchor. Every bot that played has a finite rating with
    an error. Bots that never met, not even through others, are on different islands: only the prior links them.
    Matches of `earlier` versions are evidence about the current bots, but only the current bots are rated.
    """
    known = Posterior.of(outcomes, bots, earlier)
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
    contrast = np.eye(bots, known.bots)
    if anchor is not None and deals[anchor]:
        contrast[:, anchor] -= 1.0
    elif played:
        contrast[:, played] -= 1.0 / len(played)
    ratings = start + contrast @ known.mean * SCALE
    covariance = contrast @ known.covariance @ contrast.T * SCALE**2
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
    )
