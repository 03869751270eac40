"""The worth of a position of coasters: the share of points that each seat may expect, for results without the dice.

In a duel of one ship each it is the chance to win if both play as well as possible, by the table of solved duels. At
other tables it says nothing: all seats are worth the same.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from warpleague.games.coasters import GAME
from warpleague.games.coasters import state as st
from warpleague.games.coasters.rules import torpedo
from warpleague.opponents.coasters import MAX, duel_worth, ends, solution

if TYPE_CHECKING:
    from collections.abc import Hashable

    from warpleague.games.coasters.state import State

VERSION: Final = 1
"""Counted up with every change of what `shares` returns."""

FILES: Final = ("coasters.py", "coasters_duel.xz")
"""The files of this package that `shares` also depends on."""


_MAX_KNOWN: Final = 20_000
_known: Final[dict[Hashable, tuple[float, ...]]] = {}
"""The chances of turns that were looked at: the rolls that could have been in one position differ only in the d6."""


def shares(state: State) -> tuple[float, ...]:
    """The expected share of points of each seat, in [0, 1]; together half the number of seats."""
    config = state.table.config
    if state.phase == st.OVER:
        ranks = GAME.outcome(state).ranks
        others = len(ranks) - 1
        return tuple(
            (sum(rank < other for other in ranks) + (ranks.count(rank) - 1) / 2) / others for rank in ranks
        )
    plays = state.phase in (st.ROLL, st.TURN) and state.table.alive == 3
    plain = not (config.options.system_swap or config.options.wild_shot)
    if not (plays and plain and config.players == config.ships == 2):
        return (0.5,) * config.players
    if state.phase == st.ROLL:
        chance = solution(state.table.systems).chance(state.seat, state.ships, state.table.hits)
    else:
        chance = _chances(state)[state.halves]
    return (chance, 1 - chance) if state.seat == 0 else (1 - chance, chance)


def _chances(state: State) -> tuple[float, ...]:
    """For each number of halves, from 0 to those of a 6, the chance to win of the seat whose turn it is."""
    table = state.table
    key = (table.systems, state.ships, table.hits, state.seat, state.flux, state.fluxed)
    if (known := _known.get(key)) is not None:
        return known
    solved = solution(table.systems)
    start = GAME.copied(state)
    start.halves = MAX
    # What can be reached with fewer halves can be reached with more: one search tells of all numbers of the d6.
    best = [0.0] * (MAX + 1)
    for here, _ in ends(start):
        hit = torpedo(here)[2]
        chance = duel_worth(solved, here, -1)
        if hit >= 0 and hit != here.seat:
            chance = max(chance, duel_worth(solved, here, hit))
        best[MAX - here.halves] = max(best[MAX - here.halves], chance)
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[key] = chances = tuple(accumulate(best, max))
    return chances
