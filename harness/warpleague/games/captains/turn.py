"""Decides what each action of a seat changes, and what is told of it.

Leaves which actions are legal to `legal`, and what follows the end of a turn to `flow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event
from warpleague.games.captains.actions import (
    AiPlace,
    Cannon,
    Deliver,
    Discard,
    Done,
    Draw,
    Emerge,
    End,
    Move,
    Pickup,
    Place,
    Start,
    Take,
    Warp,
)
from warpleague.games.captains.flow import AI, ai_cards, ai_collect, end_turn, fresh, put_token, told
from warpleague.games.captains.state import (
    BLACKHOLE,
    DRAW,
    PICKUP_PLANET,
    PICKUP_STATION,
    STATION,
    TURN,
    Cards,
    State,
    changed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Told = tuple[State, Sequence[Event]]


def _move(state: State, action: Move) -> Told:
    """T1: from a nebula a move is free, else it costs 1 energy."""
    table, seat, to = state.table, state.seat, action.to
    galaxy, ships = table.galaxy, state.ships
    at = ships[seat]
    new = fresh(state)
    new.ships = (*ships[:seat], to, *ships[seat + 1 :])
    if not galaxy.nebula[at]:
        new.energy -= 1
    new.steps += 1
    new.warped = False
    if galaxy.blackhole[to]:
        new.stage = BLACKHOLE
    key = (at, to, seat)
    found = table.events.get(key)
    if found is None:
        found = table.events[key] = (Event({"event": "move", "seat": seat, "from": at, "to": to}),)
    return new, found


def _cannon(state: State, action: Cannon) -> Told:
    """T8."""
    seat, to = state.seat, action.to
    new = fresh(state)
    new.ships = (*state.ships[:seat], to, *state.ships[seat + 1 :])
    new.steps += 1
    new.warped = False
    if state.table.galaxy.blackhole[to]:
        new.stage = BLACKHOLE
    return new, told(state.table, "cannon", seat, **{"from": state.ships[seat], "to": to})


def _emerge(state: State, action: Emerge) -> Told:
    """T9."""
    seat = state.seat
    new = fresh(state)
    new.ships = (*state.ships[:seat], action.at, *state.ships[seat + 1 :])
    new.steps += 1
    new.stage, new.focus = TURN, STATION
    return new, told(state.table, "emerge", seat, at=action.at)


def _warp(state: State, action: Warp) -> Told:
    """T5: the owner of another's token gets a point; a wild wormhole is nobody's."""
    seat = state.seat
    at = state.ships[seat]
    new = fresh(state)
    new.ships = (*state.ships[:seat], action.to, *state.ships[seat + 1 :])
    new.steps += 1
    new.warped = True
    owner = state.tokens.at.get(at, (seat, 0))[0]
    if owner != seat:
        new.points = changed(state.points, owner, 1)
    paid = None if owner == seat else owner
    return new, told(state.table, "warp", seat, **{"from": at, "to": action.to, "point_to": paid})


def _start(state: State, action: Start) -> Told:
    """S3."""
    seat = state.seat
    new = fresh(state)
    new.ships = (*state.ships[:seat], action.at, *state.ships[seat + 1 :])
    new.steps += 1
    new.stage = TURN
    events = [*told(state.table, "start", seat, at=action.at)]
    put_token(new, seat, action.at, events)
    return new, events


def _place(state: State, action: Place) -> Told:
    """T3, T4."""
    new = fresh(state)
    new.steps += 1
    new.warped = False
    events: list[Event] = []
    put_token(new, state.seat, action.at, events)
    return new, events


def _deliver(state: State, action: Deliver) -> Told:
    """T6."""
    seat, planet, old = state.seat, action.planet, state.cards
    cards = old.hands[seat][planet]
    new = fresh(state)
    new.steps += 1
    new.warped = False
    new.cards = Cards(
        old.deck,
        old.left,
        old.docks,
        _replaced(old.hands, seat, changed(old.hands[seat], planet, -cards)),
        _replaced(old.piles, seat, changed(old.piles[seat], planet, cards)),
        _replaced(old.known, seat, old.known[seat].left(planet, cards, none_remain=True)),
    )
    return new, told(state.table, "deliver", seat, planet=planet, cards=cards)


def _pickup(state: State, action: Pickup) -> Told:
    """T7; in solo the AI is paid at once for a pick-up at the station (A4)."""
    seat = state.seat
    new = fresh(state)
    new.steps += 1
    new.warped = False
    new.picked = True
    if action.at == "planet":
        new.stage = PICKUP_PLANET
        new.focus = state.table.galaxy.beside_planet[state.ships[seat]]
        return new, told(state.table, "pickup", seat, at="planet", planet=new.focus)
    new.stage = PICKUP_STATION
    paid = None
    if state.table.players == 1:
        paid = AI
        new.points = changed(state.points, AI, 1)
    return new, told(state.table, "pickup", seat, at="station", point_to=paid)


def _discard(state: State, action: Discard) -> Told:
    """T7: the first part of a pick-up."""
    seat, planet, old = state.seat, action.planet, state.cards
    new = fresh(state)
    new.steps += 1
    new.cards = Cards(
        old.deck,
        old.left,
        changed(old.docks, planet, 1),
        _replaced(old.hands, seat, changed(old.hands[seat], planet, -1)),
        old.piles,
        _replaced(old.known, seat, old.known[seat].left(planet, 1, none_remain=False)),
    )
    return new, told(state.table, "discard", seat, planet=planet)


def _take(state: State, action: Take) -> Told:
    """T7: at the station."""
    seat, planet, old = state.seat, action.planet, state.cards
    new = fresh(state)
    new.steps += 1
    new.taken |= 1 << planet
    new.cards = Cards(
        old.deck,
        old.left,
        changed(old.docks, planet, -1),
        _replaced(old.hands, seat, changed(old.hands[seat], planet, 1)),
        old.piles,
        _replaced(old.known, seat, old.known[seat].taken(planet)),
    )
    return new, told(state.table, "take", seat, planet=planet)


def _draw(state: State, action: Draw) -> Told:  # noqa: ARG001 - all handlers take state and action
    """T7: at a planet; the cards come by chance, one by one."""
    new = fresh(state)
    new.steps += 1
    new.stage = DRAW
    return new, told(state.table, "draw", state.seat)


def _done(state: State, action: Done) -> Told:  # noqa: ARG001
    """T7: at the station."""
    new = fresh(state)
    new.steps += 1
    new.stage, new.taken = TURN, 0
    return new, told(state.table, "done", state.seat)


def _ai_place(state: State, action: AiPlace) -> Told:
    """A2, A3."""
    new = fresh(state)
    events: list[Event] = []
    put_token(new, AI, action.at, events)
    if state.focus == STATION:
        ai_cards(new, events)
    else:
        ai_collect(new, state.focus + 1, events)
    return new, events


def _end(state: State, action: End) -> Told:  # noqa: ARG001
    new = fresh(state)
    events = [*told(state.table, "end", state.seat)]
    end_turn(new, events)
    return new, events


def _replaced(rows: tuple[Any, ...], at: int, row: Any) -> tuple[Any, ...]:
    return (*rows[:at], row, *rows[at + 1 :])


HANDLERS: Final[dict[type, Callable[[State, Any], Told]]] = {
    Move: _move,
    Place: _place,
    Warp: _warp,
    Deliver: _deliver,
    End: _end,
    Pickup: _pickup,
    Draw: _draw,
    Discard: _discard,
    Take: _take,
    Done: _done,
    Start: _start,
    Cannon: _cannon,
    Emerge: _emerge,
    AiPlace: _ai_place,
}
"""What applies an action of each class."""
