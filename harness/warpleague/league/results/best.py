"""Which bot of a league is the best, and how sure that is.

The league is a ladder that ends when its first place is settled (`until`): what is to be told is the posterior of its
matches. It is a race: whoever is surely not the best meets less and less often.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.league.ratings.posterior import Posterior
from warpleague.league.ratings.statistics import SCALE
from warpleague.league.results.tallies import outcomes
from warpleague.league.schedule.formats.api import FEWEST
from warpleague.league.schedule.formats.ladder import Ladder

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.season.config import UntilTable

_MOST_DEALS: Final = 1 << 20  # of a table of a round-robin: with more, no number is told


@attrs.frozen
class Best:
    """Who is first after `matches`, and at most how likely it is that another bot is better (`error`, 0 to 1).

    `settled`: as surely as was asked for. `round_robin` is about how many matches a round-robin would have taken for
    that; None where nothing is settled, or where there would be too many.
    """

    bot: str
    error: float
    matches: int
    settled: bool
    round_robin: int | None


def best_of(league: League, until: UntilTable, *, complete: bool) -> Best | None:
    """Who is the best after all matches that count; `complete`: the league has ended. None before the first one."""
    season, columns = league.season, league.columns()
    matches, size = len(columns), Ladder(league.season).matches_a_deal
    if not matches:
        return None
    known = Posterior.of(outcomes(columns), len(season.bots))
    present = [bot for bot in range(known.bots) if bot not in league.barred]
    error, most = known.doubt(present, 1, until.within), season.format.max_matches
    # A league that ended before its limit has ended because it was sure, with what it knew then.
    enough = error <= 1 - until.confidence
    settled = complete and (enough or most is None or matches < max(most // size, 1) * size)
    needed = round_robin_matches(known, until, season.players, size) if settled else None
    return Best(season.names[known.order(present)[0]], error, matches, settled, needed)


def round_robin_matches(known: Posterior, until: UntilTable, players: int, each: int) -> int | None:
    """About how many matches a round-robin takes to settle the first place, if the ratings are as they are `known`.

    `each` is the number of matches of a deal. It is the least number of deals of all tables after which the normal
    prior and what these deals tell (`Posterior.expected`) leave as little doubt as `until` allows.
    """
    bots = range(known.bots)
    pairs, together = list(combinations(bots, 2)), comb(known.bots - 2, players - 2)

    def is_enough(deals: int) -> bool:
        plan = Posterior(known.bots)
        plan.mean, plan.scatter = known.mean, known.scatter
        plan.covariance = np.eye(known.bots) * (known.spread / SCALE) ** 2
        plan.distances = plan.expected(pairs, deals * each * together)
        return plan.doubt(bots, 1, until.within) <= 1 - until.confidence

    high = 1
    while not is_enough(high):
        high *= 2
        if high > _MOST_DEALS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    # Each bot plays some deals before anything is settled.
    deals = max(high, -(-FEWEST // comb(known.bots - 1, players - 1)))
    return deals * comb(known.bots, players) * each
