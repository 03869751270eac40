"""The clicks that take an action of coasters: the square or ship it is about; the own ship for its turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, FACINGS, square_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.coasters.state import State


def targets(state: State, action: act.Action) -> Sequence[str]:
    """The ids of the scene; none for alliances, the claim and the end of a turn."""
    if isinstance(action, act.Lay):
        x, y = action.at
        return (f"free-{x},{y}-{CENTRE}",)
    if isinstance(action, act.Deploy):
        return (f"square-{square_at(state.table.systems, *action.at)}",)
    if isinstance(action, act.Choose):
        return (f"ship-{action.colour}",)
    if isinstance(action, act.Swap):
        return (f"ship-{getattr(action, 'with')}",)
    if isinstance(action, act.Warp):
        return (_centre(action.to),)
    if isinstance(action, act.SwapSystems):
        return tuple(map(_centre, action.systems))
    if isinstance(action, act.Turn | act.Aim):
        return (f"ship-{state.colour}",)
    if isinstance(action, act.Fire):
        return _fired_at(state)
    pose, board = state.ships[state.colour], state.table.galaxy
    if isinstance(action, act.Step | act.Dig):
        return (f"square-{board.ahead[pose] >> 2}",)
    if isinstance(action, act.Hop):
        return (f"square-{dict(board.hops[pose >> 2])[FACINGS.index(action.way)]}",)
    return ()


def _centre(colour: int) -> str:
    return f"square-{9 * colour + CENTRE}"


def _fired_at(state: State) -> Sequence[str]:
    """The ship that is hit, if one is: the picture shows the line of fire."""
    pose, board = state.ships[state.colour], state.table.galaxy
    wild = state.flux == st.WILD and state.table.config.options.wild_shot
    for square in (board.wild_line(pose) if wild else board.line(pose))[1]:
        if state.occupied >> square & 1:
            return (f"ship-{[other >> 2 for other in state.ships].index(square)}",)
    return ()
