"""Tests whether ratings explain who beats whom, or there are more cycles (A beats B beats C beats A) than by chance.

For each pair that met, what it scored is compared with what the fitted ratings say, measured by how much the deals of
this pair scatter. The sum of squares is Pearson's chi square, with as many degrees of freedom as there are more pairs
than ratings. Only for tables of two: at larger ones the pairs of a table are not independent.
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warpleague.league.ratings.elo import SCALE
from warpleague.league.ratings.rows import Deals, added, pair_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.ratings.outcomes import Outcomes

_LEAST = (
    5.0  # matches that each of two bots is to win at least, by its rating: else chi square is not near enough
)


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
    usual = games * share * (1.0 - share)
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
    chi_square = float((np.square(won - games * share)[used] / (usual[used] * scatter)).sum())
    # Wilson and Hilferty (1931): the cube root of chi square is nearly normal.
    part = 2.0 / (9.0 * freedom)
    deviation = ((chi_square / freedom) ** (1 / 3) - (1 - part)) / sqrt(part)
    return erfc(deviation / sqrt(2.0)) / 2.0
