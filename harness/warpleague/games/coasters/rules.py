"""Applies an action, a roll or a retirement in coasters.

Everything trusts its caller that the move is legal. A move is carried out on one copy of the position, `new`, which
the functions here, in `turns` and in `alliances` change until it is handed out; what happens is added to `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event, cached_events
from warpleague.games.coasters import actions as act
from warpleague.games.coasters import alliances
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, FACINGS, NOWHERE, galaxy, square_at
from warpleague.games.coasters.state import FLUX, State, fresh, fresh_table
from warpleague.games.coasters.turns import Events, next_deploy, next_lay, next_turn
from warpleague.games.values import replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Rolled, Weights

_DICE: Final = (6, 6)
_ROLLED: Final = cached_events("rolled", "seat", "colour", "d6", "flux")
_ENDED: Final = cached_events("ended", "seat")


def chance(state: State) -> tuple[Weights, ...]:
    """C1: the d6, then the flux die."""
    return _DICE


def address(state: State) -> str:
    """C3: a seat's turn of a round."""
    return f"seat {state.seat} round {state.table.round}"


def apply(state: State, move: act.Action | Rolled) -> tuple[State, Events]:
    """The position after `move`, and what happened."""
    new = fresh(state)
    events: Events = []
    _HANDLERS[type(move)](new, move, events)
    return new, events


def retire(state: State, seat: int) -> tuple[State, Events]:
    """E5: the bot of `seat` is out."""
    new = fresh(state)
    events: Events = []
    alliances.retire(new, seat, events)
    return new, events


def _roll(new: State, rolled: Rolled, events: Events) -> None:
    """T1: the d6 counts two halves a pip."""
    d6, flux = rolled[0] + 1, rolled[1]
    new.phase, new.d6, new.flux, new.halves = st.TURN, d6, flux, 2 * d6
    events.append(_ROLLED[new.seat, new.colour, d6, FLUX[flux]])


def _lay(new: State, action: act.Lay, events: Events) -> None:
    colour = new.colour
    new.table = table = fresh_table(new.table)
    table.systems = replaced(table.systems, colour, (*action.at, action.rotation))
    events.append(_event(new, "laid", at=list(action.at), rotation=action.rotation))
    next_lay(new, events)


def _deploy(new: State, action: act.Deploy, events: Events) -> None:
    square = square_at(new.table.systems, *action.at)
    new.ships = replaced(new.ships, new.colour, 4 * square + FACINGS.index(action.facing))
    new.occupied |= 1 << square
    events.append(_event(new, "deployed", at=list(action.at), facing=action.facing))
    next_deploy(new, events)


def _choose(new: State, action: act.Choose, events: Events) -> None:
    new.phase, new.colour = st.ROLL, action.colour
    events.append(_event(new, "chose"))


def _event(new: State, kind: str, **facts: Any) -> Event:
    """An event about the ship whose turn it is."""
    return Event({"event": kind, "seat": new.seat, "colour": new.colour, **facts})


# -- movement and flux ---------------------------------------------------------------------------------------


def _step(new: State, _: act.Step, events: Events) -> None:
    """T2: forward, 1 half into a double-movement system, else 2."""
    galaxy = new.table.galaxy
    pose = galaxy.step[new.ships[new.colour]]
    new.halves -= _cost(new, pose >> 2)
    _put(new, pose)
    events.append(_event(new, "stepped", to=list(galaxy.xy[pose >> 2]), halves=new.halves))


def _cost(new: State, square: int) -> int:
    """T2, T3: the halves that entering `square`, or turning on it, costs."""
    return 1 if new.table.config.homes[1 << new.seat | new.agreed] >> square // 9 & 1 else 2


def _turn(new: State, action: act.Turn, events: Events) -> None:
    """T2: 90 degrees, 1 half in a double-movement system, else 2."""
    old = new.ships[new.colour]
    facing = old + (1 if action.way == "right" else 3) & 3
    new.halves -= _cost(new, old >> 2)
    new.ships = replaced(new.ships, new.colour, old & ~3 | facing)
    events.append(_event(new, "turned", facing=FACINGS[facing], halves=new.halves))


def _warp(new: State, action: act.Warp, events: Events) -> None:
    """T4: from centre to centre, always 1 half."""
    square = 9 * action.to + CENTRE
    new.halves -= 1
    _put(new, 4 * square + (new.ships[new.colour] & 3))
    xy = list(new.table.galaxy.xy[square])
    events.append(_event(new, "warped", home=action.to, to=xy, halves=new.halves))


def _swap(new: State, action: Any, events: Events) -> None:
    """T6: the two ships change places, each keeps its facing."""
    mine, other = new.colour, getattr(action, "with")
    ships = list(new.ships)
    a, b = ships[mine], ships[other]
    ships[mine], ships[other] = b & ~3 | a & 3, a & ~3 | b & 3
    new.ships, new.fluxed = tuple(ships), True
    xy = new.table.galaxy.xy
    places = {"to": list(xy[b >> 2]), "from": list(xy[a >> 2])}
    events.append(_event(new, "swapped", **{"with": other, **places}))


def _swap_systems(new: State, action: act.SwapSystems, events: Events) -> None:
    """V2: two coasters change places, rotations kept; ships keep their squares, which move along."""
    a, b = action.systems
    new.table = table = fresh_table(new.table)
    systems = list(table.systems)
    one, two = systems[a], systems[b]
    if one is not None and two is not None:
        systems[a], systems[b] = (*two[:2], one[2]), (*one[:2], two[2])
    table.systems = tuple(systems)
    table.galaxy = galaxy(table.systems)
    new.fluxed = True
    events.append(Event({"event": "systems-swapped", "seat": new.seat, "systems": [a, b]}))


def _hop(new: State, action: act.Hop, events: Events) -> None:
    """T6: to a neighbouring square, facing kept."""
    old = new.ships[new.colour]
    way = FACINGS.index(action.way)
    _fly(new, new.table.galaxy.ahead[old & ~3 | way] & ~3 | old & 3, "hopped", events)


def _dig(new: State, _: act.Dig, events: Events) -> None:
    """T6: forward, whatever the arrows."""
    _fly(new, new.table.galaxy.ahead[new.ships[new.colour]], "dug", events)


def _fly(new: State, pose: int, kind: str, events: Events) -> None:
    _put(new, pose)
    new.fluxed = True
    events.append(_event(new, kind, to=list(new.table.galaxy.xy[pose >> 2])))


def _put(new: State, pose: int) -> None:
    """The ship whose turn it is comes to an empty square."""
    new.occupied = new.occupied ^ 1 << (new.ships[new.colour] >> 2) | 1 << (pose >> 2)
    new.ships = replaced(new.ships, new.colour, pose)


def _aim(new: State, action: act.Aim, events: Events) -> None:
    """T6: any facing."""
    pose = new.ships[new.colour] & ~3 | FACINGS.index(action.facing)
    new.ships, new.fluxed = replaced(new.ships, new.colour, pose), True
    events.append(_event(new, "aimed", facing=action.facing))


# -- the end of a turn ---------------------------------------------------------------------------------------


def _end(new: State, _: act.End, events: Events) -> None:
    events.append(_ENDED[(new.seat,)])
    next_turn(new, events)


def _fire(new: State, _: act.Fire, events: Events) -> None:
    """T7, V3: the torpedo goes its way; the first ship on it is hit; the turn ends."""
    table, ships = new.table, new.ships
    pose = ships[new.colour]
    wild = new.flux == st.WILD and table.config.options.wild_shot
    mask, squares, how = table.galaxy.wild_line(pose) if wild else table.galaxy.line(pose)
    target = NOWHERE
    if mask & new.occupied:
        met = next(number for number, square in enumerate(squares) if new.occupied >> square & 1)
        squares, how = squares[: met + 1], "hit"
        target = next(hit for hit, other in enumerate(ships) if other >> 2 == squares[met])
    xy = table.galaxy.xy
    fired = _event(new, "fired", wild=wild, path=[list(xy[square]) for square in squares], how=how)
    events.append(fired)
    if target >= 0:
        left = table.hits[target] - 1
        fired.data["hit"], fired.data["hits_left"] = target, left
        new.table = table = fresh_table(table)
        table.hits = replaced(table.hits, target, left)
        if not left:
            _destroy(new, target, events)
    next_turn(new, events)


def _destroy(new: State, target: int, events: Events) -> None:
    """The ship `target` is no more, and perhaps its seat (S1, E4); `new.table` is a copy already."""
    table, ships = new.table, new.ships
    new.occupied ^= 1 << (ships[target] >> 2)
    new.ships = ships = replaced(ships, target, st.NONE)
    players = table.config.players
    seat = target % players
    events.append(Event({"event": "destroyed", "seat": seat, "colour": target}))
    if all(ships[own] < 0 for own in range(seat, table.config.ships, players)):
        events.append(Event({"event": "eliminated", "seat": seat}))
        table.alive &= ~(1 << seat)
        table.eliminated = (*table.eliminated, seat)


_HANDLERS: Final[dict[type, Callable[[State, Any, Events], None]]] = {
    tuple: _roll,
    act.Lay: _lay,
    act.Deploy: _deploy,
    act.Choose: _choose,
    act.Step: _step,
    act.Turn: _turn,
    act.Warp: _warp,
    act.Swap: _swap,
    act.SwapSystems: _swap_systems,
    act.Hop: _hop,
    act.Aim: _aim,
    act.Dig: _dig,
    act.Invoke: alliances.invoke,
    act.Claim: alliances.claim,
    act.Agree: alliances.agree,
    act.Refuse: alliances.refuse,
    act.Split: alliances.split,
    act.Say: alliances.say,
    act.Fire: _fire,
    act.End: _end,
}
