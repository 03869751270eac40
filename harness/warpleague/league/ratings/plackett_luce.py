"""The Plackett-Luce model of rankings: the first place goes to each bot in proportion to its strength, and so on.

Luce (1959); Plackett (1975). The next place goes to one of those that are left, in the same way. For two bots it is
the Bradley-Terry model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warpleague.league.ratings.rows import Floats, Rows


def contests(rows: Rows, strengths: Floats, _draws: float | None) -> tuple[Floats, Floats, Floats]:
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
