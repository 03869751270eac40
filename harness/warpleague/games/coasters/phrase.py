"""Actions and decisions of coasters in words: a sentence for each action, and a heading for each decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, FACINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.coasters.state import State

_WORDS: Final = {"U": "up", "R": "right", "D": "down", "L": "left"}
_FACES: Final = tuple(_WORDS[facing] for facing in FACINGS)


def phrase(state: State, action: act.Action) -> str:
    """`action` as a sentence."""
    return _PHRASES[type(action)](state, action)


def heading(state: State, seat: int) -> str:
    """The decision of the seat as a heading."""
    phase = state.phase
    if phase == st.LAY:
        return f"Choose where to lay the home system of ship {state.colour}"
    if phase == st.DEPLOY:
        return f"Put down ship {state.colour} on its home system"
    if phase == st.CHOOSE:
        return "Choose which ship to play with"
    if phase == st.ALLY:
        return f"Seat {state.seat} asks you for an alliance in this turn"
    if phase == st.CLAIMED:
        return f"Seat {state.seat} claims victory for all who are left"
    flux = "used" if state.fluxed else st.FLUX[state.flux]
    return f"Move, then fire: {state.halves / 2:g} movement left, flux {flux}"


def _ship(state: State, colour: int) -> str:
    return f"ship {colour} of seat {colour % state.table.config.players}"


def _at(state: State, square: int) -> str:
    x, y = state.table.galaxy.xy[square]
    return f"({x}, {y})"


def _cost(state: State, square: int) -> str:
    """The movement that entering `square`, or turning on it, takes (coasters T2, T3)."""
    double = state.table.config.homes[1 << state.seat | state.agreed]
    return "for 0.5 movement" if double >> square // 9 & 1 else "for 1 movement"


def _pose(state: State) -> int:
    """Square and facing of the ship whose turn it is."""
    return state.ships[state.colour]


def _lay(state: State, action: act.Lay) -> str:
    x, y = (3 * place for place in action.at)
    turned = f"turned by {90 * action.rotation} degrees" if action.rotation else "not turned"
    return (
        f"Lay the home system of ship {state.colour} on columns {x} to {x + 2}, rows {y} to {y + 2}, {turned}"
    )


def _deploy(state: State, action: act.Deploy) -> str:
    return f"Put ship {state.colour} on ({action.at[0]}, {action.at[1]}), facing {_WORDS[action.facing]}"


def _step(state: State, _: act.Step) -> str:
    onward = state.table.galaxy.step[_pose(state)] >> 2
    return f"Go {_FACES[_pose(state) & 3]} to {_at(state, onward)} {_cost(state, onward)}"


def _turn(state: State, action: act.Turn) -> str:
    facing = _FACES[_pose(state) + (1 if action.way == "right" else 3) & 3]
    return f"Turn to the {action.way}, to face {facing}, {_cost(state, _pose(state) >> 2)}"


def _warp(state: State, action: act.Warp) -> str:
    return f"Warp to the home of ship {action.to} at {_at(state, 9 * action.to + CENTRE)} for 0.5 movement"


def _swap(state: State, action: act.Action) -> str:
    other = getattr(action, "with")
    return f"Change places with {_ship(state, other)}, at {_at(state, state.ships[other] >> 2)}"


def _swap_systems(_: State, action: act.SwapSystems) -> str:
    one, other = action.systems
    return f"Let the home systems of ships {one} and {other} change places"


def _hop(state: State, action: act.Hop) -> str:
    onward = dict(state.table.galaxy.hops[_pose(state) >> 2])[FACINGS.index(action.way)]
    return f"Hop {_WORDS[action.way]} to {_at(state, onward)} by the flux"


def _aim(state: State, action: act.Aim) -> str:
    if action.facing == FACINGS[_pose(state) & 3]:
        return f"Aim {_WORDS[action.facing]} by the flux, as the ship faces now"
    return f"Aim {_WORDS[action.facing]} by the flux"


def _dig(state: State, _: act.Dig) -> str:
    onward = state.table.galaxy.ahead[_pose(state)] >> 2
    return f"Dig {_FACES[_pose(state) & 3]} to {_at(state, onward)} by the flux, with or without an arrow"


def _fire(state: State, _: act.Fire) -> str:
    """With the ship that the torpedo hits, as the picture shows it."""
    board = state.table.galaxy
    wild = state.flux == st.WILD and state.table.config.options.wild_shot
    for square in (board.wild_line(_pose(state)) if wild else board.line(_pose(state)))[1]:
        if state.occupied >> square & 1:
            hit = [other >> 2 for other in state.ships].index(square)
            whose = "your own ship" if hit % state.table.config.players == state.seat else _ship(state, hit)
            number = f" {hit}" if whose == "your own ship" else ""
            return f"Fire, which hits {whose}{number}, and end your turn"
    return "Fire, which hits nobody, and end your turn"


def _agree(state: State, _: act.Agree) -> str:
    if state.phase == st.CLAIMED:
        return "Agree: all who are left win together"
    return f"Agree: be allied with seat {state.seat} in this turn"


def _say(_: State, action: act.Say) -> str:
    return f"Say to {', '.join(f'seat {seat}' for seat in action.to)}: {action.text}"


_PHRASES: Final[dict[type, Callable[[State, Any], str]]] = {
    act.Lay: _lay,
    act.Deploy: _deploy,
    act.Choose: lambda _, action: f"Play with ship {action.colour}",
    act.End: lambda *_: "End your turn without firing",
    act.Fire: _fire,
    act.Step: _step,
    act.Turn: _turn,
    act.Warp: _warp,
    act.Swap: _swap,
    act.SwapSystems: _swap_systems,
    act.Hop: _hop,
    act.Aim: _aim,
    act.Dig: _dig,
    act.Invoke: lambda _, action: f"Ask seat {action.ally} for an alliance in this turn",
    act.Claim: lambda *_: "Claim victory for all who are left",
    act.Agree: _agree,
    act.Refuse: lambda state, _: f"Refuse the alliance with seat {state.seat}",
    act.Split: lambda *_: "Break the alliance: the match goes on",
    act.Say: _say,
}
