"""The models of results, as the likelihood of each: Bradley-Terry of pairs, Plackett-Luce of whole rankings.

Bradley-Terry: the stronger bot wins more often, by the difference of their ratings (Zermelo 1929; Bradley and Terry
1952). A draw counts as half a win and half a loss, or with a parameter of its own (Davidson 1970). Plackett-Luce: the
first place goes to each bot in proportion to its strength, the next place to one of those that are left, in the same
way (Luce 1959; Plackett 1975). For two bots both are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warpleague.league.ratings.rows import Floats, Rows


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
