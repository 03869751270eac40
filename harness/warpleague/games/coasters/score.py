"""Who stands where at the end of a game of coasters (E4, E5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from warpleague.games.api import Outcome
from warpleague.games.values import members

if TYPE_CHECKING:
    from warpleague.games.coasters.state import State, Why


def _rule(why: Why) -> str:
    match why:
        case "last-ship":
            return "E1 last ship"
        case "claim":
            return "E2 claim confirmed"
        case "max-rounds":
            return "E3 last round played"
        case _:
            assert_never(why)


def outcome(state: State) -> Outcome:
    """Survivors first, then the eliminated from the last to the first, then the retired likewise (E4, E5)."""
    table = state.table
    assert table.why is not None, "the game is over"
    return result(table.config.players, table.alive, table.eliminated, table.retired, table.why)


def result(
    players: int, alive: int, eliminated: tuple[int, ...], retired: tuple[int, ...], why: Why
) -> Outcome:
    """The same from what it depends on."""
    winners = members(alive)
    ranks = [1] * players
    for behind, seat in enumerate((*reversed(eliminated), *reversed(retired))):
        ranks[seat] = len(winners) + behind + 1
    share = 1 / max(1, len(winners))
    scores = tuple(share if rank == 1 and alive >> seat & 1 else 0.0 for seat, rank in enumerate(ranks))
    return Outcome(tuple(ranks), scores, {_rule(why): scores}, why)
