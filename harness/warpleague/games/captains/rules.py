"""Applies an action, a card or a retirement in captains.

Everything trusts its caller that the move is legal. A move is carried out on one copy of the position, `new`, which
the functions here and in `turns` change until it is handed out; what happens is added to the list `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event
from warpleague.games.captains import dealing, tell
from warpleague.games.captains.actions import (
    Action,
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
from warpleague.games.captains.dealing import RETIRED
from warpleague.games.captains.state import (
    AI_CARDS,
    BLACKHOLE,
    DEAL,
    DEALT,
    DRAW,
    EMERGE,
    HAND,
    OVER,
    PICKUP_PLANET,
    PICKUP_STATION,
    STATION,
    TURN,
    Cards,
    State,
    changed,
    fresh,
    fresh_cards,
    table,
)
from warpleague.games.captains.turns import (
    AI,
    UNTIL_PAIRS,
    Events,
    ai_cards,
    ai_collect,
    ai_next_card,
    count_down,
    end_turn,
    finish,
    next_seat,
    open_state,
    put_token,
)
from warpleague.games.values import replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Rolled, Weights
    from warpleague.games.captains.state import Position


def chance(state: Position) -> tuple[Weights, ...]:
    """The top card of the deck, by the planets that it holds (captains C2), or a board (C1)."""
    return (state.cards.deck,) if isinstance(state, State) else dealing.draws(state)


def address(state: Position) -> str:
    """The place of a board, or who turns a card and where to: captains C4."""
    if not isinstance(state, State):
        return dealing.address(state)
    if state.stage == AI_CARDS:
        return "AI"
    return f"seat {state.seat} black hole" if state.stage == BLACKHOLE else f"seat {state.seat}"


def apply(state: Position, move: Action | Rolled) -> tuple[Position, Events]:
    """The position after `move`, and what happened."""
    if isinstance(state, State):
        new = fresh(state)
        events: Events = []
        _APPLY[type(move)](new, move, events)
        return new, events
    assert isinstance(move, tuple)
    after, events = dealing.lay(state, move)
    if isinstance(after, dealing.Dealing):
        return after, events
    return open_state(table(state.plan, after), state.retired), events


def retire(state: Position, seat: int) -> tuple[Position, Events]:
    """The bot of `seat` is out: its turn, if it is on, ends at once."""
    if not isinstance(state, State):
        return dealing.retire(state, seat)
    new = fresh(state)
    new.retired = (*state.retired, seat)
    events = [Event({"event": "retired", "seat": seat})]
    if len(new.retired) == state.table.players:
        new.why = RETIRED
        if state.stage != OVER:
            finish(new, events)
    elif seat == state.seat and state.stage not in (DEAL, OVER):
        next_seat(new, events)
    return new, events


# -- moves -------------------------------------------------------------------------------------------------


def _to(new: State, space: int) -> None:
    """The ship whose turn it is comes to `space`, perhaps into a black hole."""
    new.ships = replaced(new.ships, new.seat, space)
    new.steps += 1
    new.warped = False
    if new.table.galaxy.blackhole[space]:
        new.stage = BLACKHOLE


def _move(new: State, action: Move, events: Events) -> None:
    """T1: from a nebula a move is free, but not onto the cannon; else it costs 1 energy."""
    table, seat, to, ships = new.table, new.seat, action.to, new.ships
    at = ships[seat]
    if not table.galaxy.free[at] >> to & 1:
        new.energy -= 1
    new.ships = (*ships[:seat], to, *ships[seat + 1 :])
    new.steps += 1
    new.warped = False
    if table.galaxy.blackhole[to]:
        new.stage = BLACKHOLE
    key = (at << 10 | to) << 3 | seat
    event = table.moves.get(key)
    if event is None:
        event = table.moves[key] = Event({"event": "move", "seat": seat, "from": at, "to": to})
    events.append(event)


def _cannon(new: State, action: Cannon, events: Events) -> None:
    """T8."""
    at = new.ships[new.seat]
    _to(new, action.to)
    events.append(tell.about(new, "cannon", **{"from": at, "to": action.to}))


def _emerge(new: State, action: Emerge, events: Events) -> None:
    """T9."""
    new.ships = replaced(new.ships, new.seat, action.at)
    new.steps += 1
    new.stage, new.focus = TURN, STATION
    events.append(tell.about(new, "emerge", at=action.at))


def _warp(new: State, action: Warp, events: Events) -> None:
    """T5: the owner of another's token gets a point; a wild wormhole is nobody's."""
    seat = new.seat
    at = new.ships[seat]
    new.ships = replaced(new.ships, seat, action.to)
    new.steps += 1
    new.warped = True
    owner = new.tokens.at.get(at, (seat, 0))[0]
    paid = None
    if owner != seat:
        new.points = changed(new.points, owner, 1)
        paid = owner
    events.append(tell.about(new, "warp", **{"from": at, "to": action.to, "point_to": paid}))


# -- tokens ------------------------------------------------------------------------------------------------


def _start(new: State, action: Start, events: Events) -> None:
    """S3."""
    new.ships = replaced(new.ships, new.seat, action.at)
    new.steps += 1
    new.stage = TURN
    events.append(tell.about(new, "start", at=action.at))
    put_token(new, new.seat, action.at, events)


def _place(new: State, action: Place, events: Events) -> None:
    """T3, T4."""
    new.steps += 1
    new.warped = False
    put_token(new, new.seat, action.at, events)


def _ai_place(new: State, action: AiPlace, events: Events) -> None:
    """A2, A3."""
    put_token(new, AI, action.at, events)
    if new.focus == STATION:
        ai_cards(new, events)
    else:
        ai_collect(new, new.focus + 1, events)


# -- cards -------------------------------------------------------------------------------------------------


def _deliver(new: State, action: Deliver, events: Events) -> None:
    """T6."""
    seat, planet, cards = new.seat, action.planet, fresh_cards(new.cards)
    count = cards.hands[seat][planet]
    new.steps += 1
    new.warped = False
    new.cards = cards
    cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, -count))
    cards.piles = replaced(cards.piles, seat, changed(cards.piles[seat], planet, count))
    known = cards.known[seat].left(planet, count, none_remain=True)
    cards.known = replaced(cards.known, seat, known)
    events.append(tell.about(new, "deliver", planet=planet, cards=count))


def _pickup(new: State, action: Pickup, events: Events) -> None:
    """T7; in solo the AI is paid at once for a pick-up at the station (A4)."""
    new.steps += 1
    new.warped = False
    new.picked = True
    if action.at == "planet":
        new.stage = PICKUP_PLANET
        new.focus = new.table.galaxy.beside_planet[new.ships[new.seat]]
        events.append(tell.about(new, "pickup", at="planet", planet=new.focus))
        return
    new.stage = PICKUP_STATION
    paid = None
    if new.table.players == 1:
        paid = AI
        new.points = changed(new.points, AI, 1)
    events.append(tell.about(new, "pickup", at="station", point_to=paid))


def _discard(new: State, action: Discard, events: Events) -> None:
    """T7: the first part of a pick-up."""
    seat, planet, cards = new.seat, action.planet, fresh_cards(new.cards)
    new.steps += 1
    new.cards = cards
    cards.docks = changed(cards.docks, planet, 1)
    cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, -1))
    cards.known = replaced(cards.known, seat, cards.known[seat].left(planet, 1, none_remain=False))
    events.append(tell.about(new, "discard", planet=planet))


def _take(new: State, action: Take, events: Events) -> None:
    """T7: at the station."""
    seat, planet, cards = new.seat, action.planet, fresh_cards(new.cards)
    new.steps += 1
    new.taken |= 1 << planet
    new.cards = cards
    cards.docks = changed(cards.docks, planet, -1)
    cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, 1))
    cards.known = replaced(cards.known, seat, cards.known[seat].taken(planet))
    events.append(tell.about(new, "take", planet=planet))


def _draw(new: State, _: Draw, events: Events) -> None:
    """T7: at a planet; the cards come by chance, one by one."""
    new.steps += 1
    new.stage = DRAW
    events.append(tell.about(new, "draw"))


def _done(new: State, _: Done, events: Events) -> None:
    """T7: at the station."""
    new.steps += 1
    new.stage, new.taken = TURN, 0
    events.append(tell.about(new, "done"))


def _end(new: State, _: End, events: Events) -> None:
    events.append(tell.about(new, "end"))
    end_turn(new, events)


def _to_docks(new: State, planet: int) -> None:
    """The top card of the deck, of `planet`, goes to the Docks."""
    new.cards = cards = _without_top(new, planet)
    cards.docks = changed(cards.docks, planet, 1)


def _to_hand(new: State, planet: int, not_planet: int) -> None:
    """The seat gets a card of `planet`, of which the others know only that it is not `not_planet`."""
    new.cards = cards = _without_top(new, planet)
    hand, known = cards.hands[new.seat], cards.known[new.seat]
    cards.hands = replaced(cards.hands, new.seat, changed(hand, planet, 1))
    cards.known = replaced(cards.known, new.seat, known.drawn(not_planet))


def _without_top(new: State, planet: int) -> Cards:
    cards = fresh_cards(new.cards)
    cards.deck = changed(cards.deck, planet, -1)
    cards.left -= 1
    return cards


def _roll(new: State, rolled: Rolled, events: Events) -> None:
    """The card of planet `rolled[0]` is turned or dealt (captains C2)."""
    planet, seat, stage = rolled[0], new.seat, new.stage
    if stage == AI_CARDS:
        _to_docks(new, planet)
        events.append(tell.about(new, "ai-discarded", planet=planet))
        count_down(new, events)
        if new.focus != UNTIL_PAIRS:
            new.focus -= 1
        ai_next_card(new, events)
    elif stage == BLACKHOLE:  # captains T9
        _to_docks(new, planet)
        new.stage, new.focus = EMERGE, planet
        events.append(Event({"event": "revealed", "seat": seat, "planet": planet}, reveals=True))
        count_down(new, events)
    elif stage == DRAW and planet == new.focus:  # captains T7
        _to_docks(new, planet)
        events.append(Event({"event": "drawn", "seat": seat, "planet": planet, "to": "docks"}, reveals=True))
        count_down(new, events)
    else:
        _to_hand(new, planet, new.focus)
        hidden = {"event": "drawn" if stage == DRAW else "dealt", "seat": seat, "to": "hand"}
        events.append(Event({**hidden, "planet": planet}, (seat,), hidden, reveals=True))
        count_down(new, events)
    in_hand = sum(new.cards.hands[seat])
    if stage == DRAW and (not new.cards.left or in_hand >= HAND):
        new.stage, new.focus = TURN, STATION
    elif stage == DEAL and in_hand == DEALT[seat]:
        if seat + 1 < new.table.players:
            new.seat = seat + 1
        else:
            new.seat = -1
            next_seat(new, events)


_APPLY: Final[dict[type, Callable[[State, Any, Events], None]]] = {
    tuple: _roll,
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
