"""Who stands where at the end of a game of coasters (E4, E5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.api import Outcome
from warpleague.games.coasters import state as st
from warpleague.games.values import members

if TYPE_CHECKING:
    from warpleague.games.coasters.state import State

_RULES = {
    st.LAST_SHIP: "E1 last ship",
    st.CLAIM_CONFIRMED: "E2 claim confirmed",
    st.MAX_ROUNDS: "E3 last round played",
}


def outcome(state: State) -> Outcome:
    """Survivors first, then the eliminated from the last to the first, then the retired likewise (E4, E5)."""
    table = state.table
    winners = members(table.alive)
    ranks = [1] * table.config.players
    for behind, seat in enumerate((*reversed(table.eliminated), *reversed(table.retired))):
        ranks[seat] = len(winners) + behind + 1
    share = 1 / max(1, len(winners))
    scores = tuple(share if rank == 1 and table.alive >> seat & 1 else 0.0 for seat, rank in enumerate(ranks))
    return Outcome(tuple(ranks), scores, {_RULES[table.why]: scores}, table.why)
