"""The clicks that take an action of aliens: the ship or the coin, then the square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.aliens.actions import JUMP_WAYS, STAYING, USES, Place, Send
from warpleague.games.aliens.geometry import SHIPS, SQUARES, TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.aliens.actions import Action
    from warpleague.games.aliens.state import State


def targets(state: State, action: Action) -> Sequence[str]:
    """The ids of the scene; none for who begins, and for a die that is declined."""
    if isinstance(action, Place):
        x, y = action.at
        return f"coin-{action.suit[0].upper()}{action.value}", f"{x},{y}"
    if isinstance(action, Send):
        x, y = action.to
        return (f"{x},{y}",)
    if action in JUMP_WAYS:
        assert state.cascade is not None
        ship = state.cascade[0]
        return SHIPS[ship], _end(state, ship, state.holes[state.ships[ship]] % 6, JUMP_WAYS[action])
    ship, way = USES.get(action, (-1, -1))
    if way >= 0:
        return SHIPS[ship], _end(state, ship, state.dice[ship & 1], way)
    return (SHIPS[ship],) if ship >= 0 and way == STAYING else ()


def _end(state: State, ship: int, length: int, way: int) -> str:
    x, y = SQUARES[TARGET[(state.ships[ship] * 6 + length) * 8 + way]]
    return f"{x},{y}"
