"""What follows from talk, from questions and their answers, and from a bot that is out in the midst of them.

Leaves the moves of ships to `rules`.
"""

from __future__ import annotations

import attrs

from warpleague.games.api import Event
from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.course import Result, next_deploy, next_lay, next_turn, over
from warpleague.games.coasters.state import State, Table, changed


def invoke(state: State, action: act.Invoke) -> Result:
    """A2: the other seat is asked at once."""
    after = _asking(state, st.ALLY, (action.ally,), state.agreed, state.refused, state.claimed)
    return after, (Event({"event": "invoked", "seat": state.seat, "ally": action.ally}),)


def claim(state: State, _: act.Claim) -> Result:
    """A3: the other survivors are asked, from the seat after the claimant."""
    players, alive = state.table.config.players, state.table.alive
    after_me = ((state.seat + step) % players for step in range(1, players))
    asked = tuple(seat for seat in after_me if alive >> seat & 1)
    after = _asking(state, st.CLAIMED, asked, state.agreed, state.refused, True)
    return after, (Event({"event": "claimed", "seat": state.seat}),)


def agree(state: State, _: act.Agree) -> Result:
    """A2, A3: the asked seat gives its word, or agrees to share the victory."""
    asked = state.asked
    told = Event({"event": "answered", "seat": asked[0], "answer": "agree"})
    if state.phase == st.ALLY:
        agreed = state.agreed | 1 << asked[0]
        return _asking(state, st.TURN, (), agreed, state.refused, state.claimed), (told,)
    after, events = next_answer(state, asked[1:])
    return after, (told, *events)


def next_answer(state: State, asked: tuple[int, ...]) -> Result:
    """A3: on to the next seat in `asked`; when all have agreed, the game ends."""
    if asked:
        return _asking(state, st.CLAIMED, asked, state.agreed, state.refused, True), ()
    return over(state.table, state.ships, state.occupied, st.CLAIM_CONFIRMED)


def refuse(state: State, _: act.Refuse) -> Result:
    """A2: the asked seat does not confirm; it is not asked again in this turn."""
    asked = state.asked[0]
    after = _asking(state, st.TURN, (), state.agreed, state.refused | 1 << asked, state.claimed)
    return after, (Event({"event": "answered", "seat": asked, "answer": "refuse"}),)


def split(state: State, _: act.Split) -> Result:
    """A3: nobody further is asked."""
    after = _asking(state, st.TURN, (), state.agreed, state.refused, True)
    return after, (Event({"event": "answered", "seat": state.asked[0], "answer": "split"}),)


def say(state: State, action: act.Say) -> Result:
    """A1: told to the addressed alone; the others do not even learn that it was said. It binds nobody (A4)."""
    seat = state.asked[0] if state.asked else state.seat
    table = state.table
    message = st.Message(table.turn, seat, action.to, action.text)
    heard = changed(table, messages=(*table.messages, message))
    after = _asking(state, state.phase, state.asked, state.agreed, state.refused, state.claimed, heard)
    told = {"event": "said", "seat": seat, "to": list(action.to), "text": action.text}
    return after, (Event(told, (seat, *action.to)),)


def _asking(
    state: State,
    phase: int,
    asked: tuple[int, ...],
    agreed: int,
    refused: int,
    claimed: bool,
    table: Table | None = None,
) -> State:
    """The same turn after something was asked, answered or said."""
    return State(
        table or state.table,
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
        return over(table, ships, occupied, st.LAST_SHIP)
    if phase != st.OVER and seat == state.seat:
        if phase == st.LAY:
            return next_lay(state, table, state.colour)
        if phase == st.DEPLOY:
            return next_deploy(table, ships, occupied, state.colour)
        return next_turn(state, table, ships, occupied)
    if phase == st.ALLY and asked == (seat,):
        phase, asked = st.TURN, ()
    word = ~(1 << seat)
    after = attrs.evolve(
        state,
        table=table,
        ships=ships,
        occupied=occupied,
        phase=phase,
        agreed=state.agreed & word,
        refused=state.refused & word,
        asked=asked,
    )
    if phase == st.CLAIMED and seat in asked:
        return next_answer(after, tuple(other for other in asked if other != seat))
    return after, ()
