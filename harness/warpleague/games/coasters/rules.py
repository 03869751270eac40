"""What follows from an action, a roll, or a bot that is out: the next position and what is told.

Leaves which actions are allowed to `legal` and whose turn comes next to `course`; trusts its caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event
from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.course import Result, next_deploy, next_lay, next_turn, over
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
    agreed = state.agreed
    double = table.config.homes[1 << seat | agreed] >> square // 9 & 1
    halves = state.halves - (1 if double else 2)
    after = State(
        table,
        (*ships[:colour], new, *ships[colour + 1 :]),
        state.occupied ^ 1 << (old >> 2) | 1 << square,
        st.TURN,
        seat,
        colour,
        state.d6,
        state.flux,
        halves,
        state.fluxed,
        agreed,
        state.refused,
        state.claimed,
    )
    told = {
        "event": "stepped",
        "seat": seat,
        "colour": colour,
        "to": list(board.xy[square]),
        "halves": halves,
    }
    return after, (Event(told),)


def _turn(state: State, action: act.Turn) -> Result:
    """T2: 90 degrees, 1 half in a double-movement system, else 2."""
    table, ships, colour, seat = state.table, state.ships, state.colour, state.seat
    old = ships[colour]
    facing = old + (1 if action.way == "right" else 3) & 3
    agreed = state.agreed
    double = table.config.homes[1 << seat | agreed] >> (old >> 2) // 9 & 1
    halves = state.halves - (1 if double else 2)
    after = State(
        table,
        (*ships[:colour], old & ~3 | facing, *ships[colour + 1 :]),
        state.occupied,
        st.TURN,
        seat,
        colour,
        state.d6,
        state.flux,
        halves,
        state.fluxed,
        agreed,
        state.refused,
        state.claimed,
    )
    told = {"event": "turned", "seat": seat, "colour": colour, "facing": FACINGS[facing], "halves": halves}
    return after, (Event(told),)


def _warp(state: State, action: act.Warp) -> Result:
    """T4: from centre to centre, always 1 half."""
    colour, old = state.colour, state.ships[state.colour]
    square = 9 * action.to + CENTRE
    halves = state.halves - 1
    ships = _put(state.ships, colour, 4 * square + (old & 3))
    after = _moved(state, ships, state.occupied ^ 1 << (old >> 2) | 1 << square, halves, fluxed=state.fluxed)
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
    return _moved(state, tuple(ships), state.occupied, state.halves, fluxed=True), (Event(told),)


def _swap_systems(state: State, action: act.SwapSystems) -> Result:
    """V2: two coasters change places, rotations kept; ships keep their squares, which move along."""
    a, b = action.systems
    systems = list(state.table.systems)
    one, two = systems[a], systems[b]
    if one is not None and two is not None:
        systems[a], systems[b] = (*two[:2], one[2]), (*one[:2], two[2])
    laid = tuple(systems)
    table = changed(state.table, systems=laid, board=galaxy(laid))
    after = State(
        table,
        state.ships,
        state.occupied,
        st.TURN,
        state.seat,
        state.colour,
        state.d6,
        state.flux,
        state.halves,
        True,
        state.agreed,
        state.refused,
        state.claimed,
    )
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
    after = _moved(state, ships, state.occupied ^ 1 << (old >> 2) | 1 << square, state.halves, fluxed=True)
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
    return _moved(state, ships, state.occupied, state.halves, fluxed=True), (Event(told),)


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


# -- alliances and talk --------------------------------------------------------------------------------------


def _invoke(state: State, action: act.Invoke) -> Result:
    """A2: the other seat is asked at once."""
    after = _answered(state, state.agreed, state.refused, state.claimed, (action.ally,), st.ALLY)
    return after, (Event({"event": "invoked", "seat": state.seat, "ally": action.ally}),)


def _claim(state: State, _: act.Claim) -> Result:
    """A3: the other survivors are asked, from the seat after the claimant."""
    players, alive = state.table.config.players, state.table.alive
    after_me = ((state.seat + step) % players for step in range(1, players))
    asked = tuple(seat for seat in after_me if alive >> seat & 1)
    after = _answered(state, state.agreed, state.refused, True, asked, st.CLAIMED)
    return after, (Event({"event": "claimed", "seat": state.seat}),)


def _agree(state: State, _: act.Agree) -> Result:
    asked = state.asked
    told = Event({"event": "answered", "seat": asked[0], "answer": "agree"})
    if state.phase == st.ALLY:
        agreed = state.agreed | 1 << asked[0]
        return _answered(state, agreed, state.refused, state.claimed, (), st.TURN), (told,)
    after, events = claim_answered(state, asked[1:])
    return after, (told, *events)


def claim_answered(state: State, asked: tuple[int, ...]) -> Result:
    """A3: on to the next seat in `asked`; when all have agreed, the game ends."""
    if asked:
        return _answered(state, state.agreed, state.refused, True, asked, st.CLAIMED), ()
    return over(state, state.table, state.ships, state.occupied, st.CLAIM_CONFIRMED)


def _refuse(state: State, _: act.Refuse) -> Result:
    asked = state.asked[0]
    after = _answered(state, state.agreed, state.refused | 1 << asked, state.claimed, (), st.TURN)
    return after, (Event({"event": "answered", "seat": asked, "answer": "refuse"}),)


def _split(state: State, _: act.Split) -> Result:
    """A3: nobody further is asked."""
    after = _answered(state, state.agreed, state.refused, True, (), st.TURN)
    return after, (Event({"event": "answered", "seat": state.asked[0], "answer": "split"}),)


def _say(state: State, action: act.Say) -> Result:
    """A1: told to the addressed alone; the others do not even learn that it was said."""
    seat = state.asked[0] if state.asked else state.seat
    table = state.table
    message = st.Message(table.turn, seat, action.to, action.text)
    heard = changed(table, messages=(*table.messages, message))
    after = State(
        heard,
        state.ships,
        state.occupied,
        state.phase,
        state.seat,
        state.colour,
        state.d6,
        state.flux,
        state.halves,
        state.fluxed,
        state.agreed,
        state.refused,
        state.claimed,
        state.asked,
    )
    told = {"event": "said", "seat": seat, "to": list(action.to), "text": action.text}
    return after, (Event(told, (seat, *action.to)),)


# -- a bot that is out ---------------------------------------------------------------------------------------


def retire(state: State, seat: int) -> Result:
    """E5: the ships of `seat` leave, its coasters stay, its turn and its word end."""
    table = state.table
    bit = 1 << seat
    occupied, ships = state.occupied, list(state.ships)
    hits = list(table.hits)
    for own in range(seat, table.config.ships, table.config.players):
        if ships[own] >= 0:
            occupied ^= 1 << (ships[own] >> 2)
        ships[own], hits[own] = st.NONE, 0
    left = tuple(ships)
    table = changed(
        table,
        hits=tuple(hits),
        alive=table.alive & ~bit,
        eliminated=tuple(other for other in table.eliminated if other != seat),
        retired=(*table.retired, seat),
    )
    after, events = _without(state, table, left, occupied, seat)
    return after, (Event({"event": "retired", "seat": seat}), *events)


def _without(state: State, table: Table, ships: tuple[int, ...], occupied: int, seat: int) -> Result:
    """The position once `seat` is out of `table` and `ships`."""
    phase, asked = state.phase, state.asked
    if phase != st.OVER and not table.alive & table.alive - 1:
        return over(state, table, ships, occupied, st.LAST_SHIP)
    if phase != st.OVER and seat == state.seat:
        if phase == st.LAY:
            return next_lay(state, table, state.colour)
        if phase == st.DEPLOY:
            return next_deploy(table, ships, occupied, state.colour)
        return next_turn(state, table, ships, occupied)
    refused = state.refused
    if phase == st.ALLY and asked == (seat,):
        phase, asked = st.TURN, ()
    bit = 1 << seat
    after = State(
        table,
        ships,
        occupied,
        phase,
        state.seat,
        state.colour,
        state.d6,
        state.flux,
        state.halves,
        state.fluxed,
        state.agreed & ~bit,
        refused & ~bit,
        state.claimed,
        asked,
    )
    if phase == st.CLAIMED and seat in asked:
        return claim_answered(after, tuple(other for other in asked if other != seat))
    return after, ()


# -- building positions --------------------------------------------------------------------------------------


def _put(numbers: tuple[int, ...], index: int, number: int) -> tuple[int, ...]:
    return (*numbers[:index], number, *numbers[index + 1 :])


def _moved(state: State, ships: tuple[int, ...], occupied: int, halves: int, *, fluxed: bool) -> State:
    """The same turn after a ship has moved."""
    return State(
        state.table,
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


def _answered(
    state: State, agreed: int, refused: int, claimed: bool, asked: tuple[int, ...], phase: int
) -> State:
    """The same turn after a question or an answer."""
    return State(
        state.table,
        state.ships,
        state.occupied,
        phase,
        state.seat,
        state.colour,
        state.d6,
        state.flux,
        state.halves,
        state.fluxed,
        agreed,
        refused,
        claimed,
        asked,
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
    act.Invoke: _invoke,
    act.Claim: _claim,
    act.Agree: _agree,
    act.Refuse: _refuse,
    act.Split: _split,
    act.Say: _say,
    act.Fire: _fire,
    act.End: _end,
}
