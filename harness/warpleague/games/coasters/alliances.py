"""Alliances, talk and claims of coasters, and what a bot that is out leaves open.

The functions change `new`, a copy of the position that nobody else has seen, and add what happens to `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.api import Event
from warpleague.games.coasters import state as st
from warpleague.games.coasters.turns import Events, next_deploy, next_lay, next_turn, over

if TYPE_CHECKING:
    from warpleague.games.coasters import actions as act
    from warpleague.games.coasters.state import State


def invoke(new: State, action: act.Invoke, events: Events) -> None:
    """A2: the other seat is asked at once."""
    new.phase, new.asked = st.ALLY, (action.ally,)
    events.append(Event({"event": "invoked", "seat": new.seat, "ally": action.ally}))


def claim(new: State, _: act.Claim, events: Events) -> None:
    """A3: the other survivors are asked, from the seat after the claimant."""
    players, alive = new.table.config.players, new.table.alive
    after_me = ((new.seat + step) % players for step in range(1, players))
    new.phase, new.claimed = st.CLAIMED, True
    new.asked = tuple(seat for seat in after_me if alive >> seat & 1)
    events.append(Event({"event": "claimed", "seat": new.seat}))


def agree(new: State, _: act.Agree, events: Events) -> None:
    """A2, A3: the asked seat gives its word, or agrees to share the victory."""
    asked = new.asked[0]
    events.append(Event({"event": "answered", "seat": asked, "answer": "agree"}))
    if new.phase == st.ALLY:
        new.phase, new.asked = st.TURN, ()
        new.agreed |= 1 << asked
    else:
        _without_answer(new, asked, events)


def _without_answer(new: State, seat: int, events: Events) -> None:
    """A3: `seat` need not answer any more; when nobody need, all have agreed, and the game ends."""
    new.asked = tuple(other for other in new.asked if other != seat)
    if not new.asked:
        over(new, st.CLAIM_CONFIRMED, events)


def refuse(new: State, _: act.Refuse, events: Events) -> None:
    """A2: the asked seat does not confirm; it is not asked again in this turn."""
    asked = new.asked[0]
    new.phase, new.asked = st.TURN, ()
    new.refused |= 1 << asked
    events.append(Event({"event": "answered", "seat": asked, "answer": "refuse"}))


def split(new: State, _: act.Split, events: Events) -> None:
    """A3: nobody further is asked."""
    events.append(Event({"event": "answered", "seat": new.asked[0], "answer": "split"}))
    new.phase, new.asked = st.TURN, ()


def say(new: State, action: act.Say, events: Events) -> None:
    """A1: only the addressed seats get it; the others do not even learn of it. It binds nobody (A4)."""
    seat = new.asked[0] if new.asked else new.seat
    new.table = table = st.fresh_table(new.table)
    table.messages = (*table.messages, st.Message(table.turn, seat, action.to, action.text))
    message = {"event": "said", "seat": seat, "to": list(action.to), "text": action.text}
    events.append(Event(message, (seat, *action.to)))


def retire(new: State, seat: int, events: Events) -> None:
    """E5: the ships of `seat` leave, its coasters stay, its turn and its word end."""
    new.table = table = st.fresh_table(new.table)
    ships, hits = list(new.ships), list(table.hits)
    for own in range(seat, table.config.ships, table.config.players):
        if ships[own] >= 0:
            new.occupied ^= 1 << (ships[own] >> 2)
        ships[own], hits[own] = st.NONE, 0
    new.ships, table.hits = tuple(ships), tuple(hits)
    table.alive &= ~(1 << seat)
    table.eliminated = tuple(other for other in table.eliminated if other != seat)
    table.retired = (*table.retired, seat)
    events.append(Event({"event": "retired", "seat": seat}))
    _go_on_without(new, seat, events)


def _go_on_without(new: State, seat: int, events: Events) -> None:
    """The next step once `seat` is out."""
    phase, alive = new.phase, new.table.alive
    if phase != st.OVER and not alive & alive - 1:
        over(new, st.LAST_SHIP, events)
    elif phase != st.OVER and seat == new.seat:
        follow = {st.LAY: next_lay, st.DEPLOY: next_deploy}.get(phase, next_turn)
        follow(new, events)
    else:
        new.agreed &= ~(1 << seat)
        new.refused &= ~(1 << seat)
        if phase == st.ALLY and new.asked == (seat,):
            new.phase, new.asked = st.TURN, ()
        elif phase == st.CLAIMED and seat in new.asked:
            _without_answer(new, seat, events)
