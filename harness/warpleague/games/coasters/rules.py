"""What follows from an action or a roll: the next position and what is told.

Leaves which actions are allowed to `legal`, questions and talk to `alliances`, and whose turn comes next to `course`;
trusts its caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event
from warpleague.games.coasters import actions as act
from warpleague.games.coasters import alliances
from warpleague.games.coasters import state as st
from warpleague.games.coasters.course import Result, next_deploy, next_lay, next_turn
from warpleague.games.coasters.geometry import CENTRE, FACINGS, NOWHERE, galaxy, square_at
from warpleague.games.coasters.state import FLUX, State, Table, changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Rolled


def apply(state: State, move: act.Action | Rolled) -> Result:
    """The position after `move`, and what happened."""
    return _HANDLERS[type(move)](state, move)


def _roll(state: State, rolled: Rolled) -> Result:
    """T1: the d6 counts two halves a pip."""
    d6, flux = rolled[0] + 1, rolled[1]
    after = State(
        state.table, state.ships, state.occupied, st.TURN, state.seat, state.colour, d6, flux, 2 * d6
    )
    told = {"event": "rolled", "seat": state.seat, "colour": state.colour, "d6": d6, "flux": FLUX[flux]}
    return after, (Event(told),)


def _lay(state: State, action: act.Lay) -> Result:
    table, colour = state.table, state.colour
    place = (*action.at, action.rotation)
    systems = (*table.systems[:colour], place, *table.systems[colour + 1 :])
    told = {
        "event": "laid",
        "seat": state.seat,
        "colour": colour,
        "at": list(action.at),
        "rotation": action.rotation,
    }
    after, events = next_lay(state, changed(table, systems=systems), colour)
    return after, (Event(told), *events)


def _deploy(state: State, action: act.Deploy) -> Result:
    colour = state.colour
    square = square_at(state.table.systems, *action.at)
    ships = _put(state.ships, colour, 4 * square + FACINGS.index(action.facing))
    told = {
        "event": "deployed",
        "seat": state.seat,
        "colour": colour,
        "at": list(action.at),
        "facing": action.facing,
    }
    after, events = next_deploy(state.table, ships, state.occupied | 1 << square, colour)
    return after, (Event(told), *events)


def _choose(state: State, action: act.Choose) -> Result:
    after = State(state.table, state.ships, state.occupied, st.ROLL, state.seat, action.colour)
    return after, (Event({"event": "chose", "seat": state.seat, "colour": action.colour}),)


# -- movement and flux ---------------------------------------------------------------------------------------


def _step(state: State, _: act.Step) -> Result:
    """T2: forward, 1 half into a double-movement system, else 2."""
    table, ships, colour, seat = state.table, state.ships, state.colour, state.seat
    board = table.galaxy
    old = ships[colour]
    new = board.step[old]
    square = new >> 2
    double = table.config.homes[1 << seat | state.agreed] >> square // 9 & 1
    halves = state.halves - (1 if double else 2)
    occupied = state.occupied ^ 1 << (old >> 2) | 1 << square
    told = {
        "event": "stepped",
        "seat": seat,
        "colour": colour,
        "to": list(board.xy[square]),
        "halves": halves,
    }
    return _moved(state, _put(ships, colour, new), occupied, halves, state.fluxed), (Event(told),)


def _turn(state: State, action: act.Turn) -> Result:
    """T2: 90 degrees, 1 half in a double-movement system, else 2."""
    table, colour, seat = state.table, state.colour, state.seat
    old = state.ships[colour]
    facing = old + (1 if action.way == "right" else 3) & 3
    double = table.config.homes[1 << seat | state.agreed] >> (old >> 2) // 9 & 1
    halves = state.halves - (1 if double else 2)
    ships = _put(state.ships, colour, old & ~3 | facing)
    told = {"event": "turned", "seat": seat, "colour": colour, "facing": FACINGS[facing], "halves": halves}
    return _moved(state, ships, state.occupied, halves, state.fluxed), (Event(told),)


def _warp(state: State, action: act.Warp) -> Result:
    """T4: from centre to centre, always 1 half."""
    colour, old = state.colour, state.ships[state.colour]
    square = 9 * action.to + CENTRE
    halves = state.halves - 1
    ships = _put(state.ships, colour, 4 * square + (old & 3))
    after = _moved(state, ships, state.occupied ^ 1 << (old >> 2) | 1 << square, halves, state.fluxed)
    told = {
        "event": "warped",
        "seat": state.seat,
        "colour": colour,
        "home": action.to,
        "to": list(state.table.galaxy.xy[square]),
        "halves": halves,
    }
    return after, (Event(told),)


def _swap(state: State, action: Any) -> Result:
    """T6: the two ships change places, each keeps its facing."""
    mine, other = state.colour, getattr(action, "with")
    ships = list(state.ships)
    a, b = ships[mine], ships[other]
    ships[mine], ships[other] = b & ~3 | a & 3, a & ~3 | b & 3
    xy = state.table.galaxy.xy
    told = {
        "event": "swapped",
        "seat": state.seat,
        "colour": mine,
        "with": other,
        "to": list(xy[b >> 2]),
        "from": list(xy[a >> 2]),
    }
    return _moved(state, tuple(ships), state.occupied, state.halves, True), (Event(told),)


def _swap_systems(state: State, action: act.SwapSystems) -> Result:
    """V2: two coasters change places, rotations kept; ships keep their squares, which move along."""
    a, b = action.systems
    systems = list(state.table.systems)
    one, two = systems[a], systems[b]
    if one is not None and two is not None:
        systems[a], systems[b] = (*two[:2], one[2]), (*one[:2], two[2])
    laid = tuple(systems)
    table = changed(state.table, systems=laid, board=galaxy(laid))
    after = _moved(state, state.ships, state.occupied, state.halves, True, table)
    return after, (Event({"event": "systems-swapped", "seat": state.seat, "systems": [a, b]}),)


def _hop(state: State, action: act.Hop) -> Result:
    """T6: to a neighbouring square, facing kept."""
    old = state.ships[state.colour]
    way = FACINGS.index(action.way)
    new = state.table.galaxy.ahead[old & ~3 | way] & ~3 | old & 3
    return _flown(state, old, new, "hopped")


def _dig(state: State, _: act.Dig) -> Result:
    """T6: forward, whatever the arrows."""
    old = state.ships[state.colour]
    return _flown(state, old, state.table.galaxy.ahead[old], "dug")


def _flown(state: State, old: int, new: int, what: str) -> Result:
    square = new >> 2
    ships = _put(state.ships, state.colour, new)
    after = _moved(state, ships, state.occupied ^ 1 << (old >> 2) | 1 << square, state.halves, True)
    told = {
        "event": what,
        "seat": state.seat,
        "colour": state.colour,
        "to": list(state.table.galaxy.xy[square]),
    }
    return after, (Event(told),)


def _aim(state: State, action: act.Aim) -> Result:
    """T6: any facing."""
    old = state.ships[state.colour]
    ships = _put(state.ships, state.colour, old & ~3 | FACINGS.index(action.facing))
    told = {"event": "aimed", "seat": state.seat, "colour": state.colour, "facing": action.facing}
    return _moved(state, ships, state.occupied, state.halves, True), (Event(told),)


# -- the end of a turn ---------------------------------------------------------------------------------------


def _end(state: State, _: act.End) -> Result:
    after, events = next_turn(state, state.table, state.ships, state.occupied)
    return after, (Event({"event": "ended", "seat": state.seat}), *events)


def _fire(state: State, _: act.Fire) -> Result:
    """T7, V3: the torpedo goes its way; the first ship on it is hit; the turn ends."""
    table, ships, colour = state.table, state.ships, state.colour
    pose = ships[colour]
    wild = state.flux == st.WILD and table.config.options.wild_shot
    mask, squares, how = table.galaxy.wild_line(pose) if wild else table.galaxy.line(pose)
    occupied = state.occupied
    target = NOWHERE
    if mask & occupied:
        met = next(number for number, square in enumerate(squares) if occupied >> square & 1)
        squares, how = squares[: met + 1], "hit"
        target = next(hit for hit, other in enumerate(ships) if other >> 2 == squares[met])
    xy = table.galaxy.xy
    told: dict[str, Any] = {
        "event": "fired",
        "seat": state.seat,
        "colour": colour,
        "wild": wild,
        "path": [list(xy[square]) for square in squares],
        "how": how,
    }
    if target < 0:
        after, events = next_turn(state, table, ships, occupied)
        return after, (Event(told), *events)
    left = table.hits[target] - 1
    told["hit"], told["hits_left"] = target, left
    table = changed(table, hits=_put(table.hits, target, left))
    happened = [Event(told)]
    if not left:
        occupied ^= 1 << (ships[target] >> 2)
        ships = _put(ships, target, st.NONE)
        players = table.config.players
        seat = target % players
        happened.append(Event({"event": "destroyed", "seat": seat, "colour": target}))
        if all(ships[own] < 0 for own in range(seat, table.config.ships, players)):
            happened.append(Event({"event": "eliminated", "seat": seat}))
            table = changed(table, alive=table.alive & ~(1 << seat), eliminated=(*table.eliminated, seat))
    after, events = next_turn(state, table, ships, occupied)
    return after, (*happened, *events)


# -- building positions --------------------------------------------------------------------------------------


def _put(numbers: tuple[int, ...], index: int, number: int) -> tuple[int, ...]:
    return (*numbers[:index], number, *numbers[index + 1 :])


def _moved(
    state: State, ships: tuple[int, ...], occupied: int, halves: int, fluxed: bool, table: Table | None = None
) -> State:
    """The same turn after a ship has moved."""
    return State(
        table or state.table,
        ships,
        occupied,
        st.TURN,
        state.seat,
        state.colour,
        state.d6,
        state.flux,
        halves,
        fluxed,
        state.agreed,
        state.refused,
        state.claimed,
    )


_HANDLERS: Final[dict[type, Callable[[State, Any], Result]]] = {
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
