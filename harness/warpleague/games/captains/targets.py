"""The clicks that take an action of captains: a space, the ship first where it goes there; or a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.captains.actions import (
    AiPlace,
    Cannon,
    Deliver,
    Discard,
    Emerge,
    Move,
    Place,
    Start,
    Take,
    Warp,
)
from warpleague.games.captains.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.captains.actions import Action
    from warpleague.games.captains.state import Position


def targets(state: Position, action: Action) -> Sequence[str]:
    """The ids of the scene; none for the beginning and the end of a pick-up, and for the end of a turn."""
    assert isinstance(state, State)
    if isinstance(action, Move | Warp | Cannon):
        return f"ship-{state.seat}", f"space-{action.to}"
    if isinstance(action, Place):
        return f"ship-{state.seat}", f"space-{action.at}"
    if isinstance(action, Start | Emerge | AiPlace):
        return (f"space-{action.at}",)
    if isinstance(action, Deliver | Discard):
        return (f"hand-{state.seat}-P{action.planet}",)
    return (f"docks-P{action.planet}",) if isinstance(action, Take) else ()
