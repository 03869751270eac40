"""Decides what happens between a player's actions: cards, rounds, the AI's turn, retirement and the end.

Leaves the actions themselves to `turn`, and the laying of the galaxy to `dealing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.api import Event, Rolled
from warpleague.games.captains.memory import Known
from warpleague.games.captains.score import RETIRED, scores, worth
from warpleague.games.captains.state import (
    AI_CARDS,
    AI_PLACE,
    BLACKHOLE,
    DEAL,
    DEALT,
    DRAW,
    EMERGE,
    ENERGY,
    HAND,
    OVER,
    START,
    STATION,
    TOKENS,
    TURN,
    Cards,
    State,
    Table,
    add_token,
    changed,
    may_place,
    tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.captains.actions import AiPlace

MAX_ROUNDS: Final = "max-rounds"
EXPLORED: Final = "explored"
DECK_EMPTY: Final = "deck-empty"
WHYS: Final = (MAX_ROUNDS, EXPLORED, DECK_EMPTY, RETIRED)
AI_DISCARDS: Final = {"echabod-z": 2, "brood": 3}
UNTIL_PAIRS: Final = -1
"""In `State.focus`: azimuth discards until two planets have two cards each (captains A3)."""


def fresh(state: State) -> State:
    """A copy to be changed before anybody else sees it (`attrs.evolve` is several times slower)."""
    return State(
        state.table,
        state.stage,
        state.seat,
        state.round,
        state.energy,
        state.steps,
        state.warped,
        state.picked,
        state.ships,
        state.tokens,
        state.cards,
        state.points,
        state.explorers,
        state.retired,
        state.last_round,
        state.why,
        state.focus,
        state.taken,
    )


def told(table: Table, kind: str, seat: int, **facts: int | str | bool | None) -> tuple[Event]:
    """A public event about a seat, built once a match and kept."""
    key = (kind, seat, *facts.values())
    found: tuple[Event] | None = table.events.get(key)
    if found is None:
        found = table.events[key] = (Event({"event": kind, "seat": seat, **facts}),)
    return found


def open_state(table: Table, retired: tuple[int, ...]) -> State:
    """The state after the galaxy was laid, before the first card is dealt (captains S2)."""
    plan, owners, planets = table.plan, table.owners, table.planets
    none = (0,) * planets
    cards = Cards(
        deck=(plan.copies,) * planets,
        left=plan.copies * planets,
        docks=none,
        hands=(none,) * plan.players,
        piles=(none,) * owners,
        known=(Known(none),) * plan.players,
    )
    return State(
        table=table,
        stage=DEAL,
        seat=0,
        round=1,
        energy=ENERGY,
        steps=0,
        warped=False,
        picked=False,
        ships=(-1,) * plan.players,
        tokens=tokens_of(table, ((),) * owners),
        cards=cards,
        points=(0,) * owners,
        explorers=(),
        retired=retired,
        last_round=plan.options.max_rounds,
        why=MAX_ROUNDS,
        focus=STATION,
        taken=0,
    )


# -- cards -------------------------------------------------------------------------------------------------


def to_docks(cards: Cards, planet: int) -> Cards:
    """After the top card of the deck, of `planet`, went to the Docks."""
    deck, docks = changed(cards.deck, planet, -1), changed(cards.docks, planet, 1)
    return Cards(deck, cards.left - 1, docks, cards.hands, cards.piles, cards.known)


def to_hand(cards: Cards, seat: int, planet: int, not_planet: int) -> Cards:
    """After `seat` drew a card of `planet`, of which the others know only that it is not `not_planet`."""
    hands, known = cards.hands, cards.known
    return Cards(
        changed(cards.deck, planet, -1),
        cards.left - 1,
        cards.docks,
        (*hands[:seat], changed(hands[seat], planet, 1), *hands[seat + 1 :]),
        cards.piles,
        (*known[:seat], known[seat].drawn(not_planet), *known[seat + 1 :]),
    )


def roll(state: State, rolled: Rolled) -> tuple[State, Sequence[Event]]:
    """After the card of planet `rolled[0]` was turned or dealt (captains C2)."""
    planet = rolled[0]
    new = fresh(state)
    seat, stage = state.seat, state.stage
    events: list[Event] = []
    if stage == AI_CARDS:
        new.cards = to_docks(state.cards, planet)
        events += told(state.table, "ai-discarded", seat, planet=planet)
        count_down(new, events)
        if state.focus != UNTIL_PAIRS:
            new.focus -= 1
        _ai_next_card(new, events)
    elif stage == BLACKHOLE:  # captains T9
        new.cards = to_docks(state.cards, planet)
        new.stage, new.focus = EMERGE, planet
        events.append(Event({"event": "revealed", "seat": seat, "planet": planet}, reveals=True))
        count_down(new, events)
    elif stage == DRAW and planet == state.focus:  # captains T7
        new.cards = to_docks(state.cards, planet)
        events.append(Event({"event": "drawn", "seat": seat, "planet": planet, "to": "docks"}, reveals=True))
        count_down(new, events)
    else:
        kind = "drawn" if stage == DRAW else "dealt"
        new.cards = to_hand(state.cards, seat, planet, state.focus)
        hidden = {"event": kind, "seat": seat, "to": "hand"}
        events.append(Event({**hidden, "planet": planet}, (seat,), hidden, reveals=True))
        count_down(new, events)
    if stage == DRAW and (not new.cards.left or sum(new.cards.hands[seat]) >= HAND):
        new.stage, new.focus = TURN, STATION
    elif stage == DEAL and sum(new.cards.hands[seat]) == DEALT[seat]:
        if seat + 1 < state.table.players:
            new.seat = seat + 1
        else:
            new.seat = -1
            _next_seat(new, events)
    return new, events


# -- rounds and the end ------------------------------------------------------------------------------------


def count_down(new: State, events: list[Event]) -> None:
    """Bring the last round nearer if the galaxy is explored or the deck empty (captains E1)."""
    for reason, due, rounds in (
        (EXPLORED, len(new.explorers) == new.table.planets, 3),
        (DECK_EMPTY, not new.cards.left, 1),
    ):
        last = new.round + rounds
        if due and (last < new.last_round or (last == new.last_round and new.why == MAX_ROUNDS)):
            new.last_round, new.why = last, reason
            events.append(Event({"event": "ending", "why": reason, "last_round": last}))


def end_turn(new: State, events: list[Event]) -> None:
    """The turn of `new.seat` is over: the AI's follows in solo, else the next seat's."""
    if new.table.players == 1:
        _begin_ai(new, events)
    else:
        _next_seat(new, events)


def _next_seat(new: State, events: list[Event]) -> None:
    """Give the turn to the next seat that has not retired; there must be one."""
    seat = new.seat + 1
    while True:
        if seat == new.table.players:
            seat = 0
            if new.round == new.last_round:
                finish(new, events)
                return
            new.round += 1
            events.append(Event({"event": "round", "round": new.round}))
        if seat not in new.retired:
            break
        seat += 1
    new.seat = seat
    new.stage = START if new.ships[seat] < 0 else TURN
    new.energy, new.steps, new.warped, new.picked = ENERGY, 0, False, False
    new.focus, new.taken = STATION, 0


def finish(new: State, events: list[Event]) -> None:
    """End the game as it stands."""
    new.stage, new.focus, new.taken = OVER, STATION, 0
    events.append(Event({"event": "over", "why": new.why, "scores": scores(new)}))


def retire(state: State, seat: int) -> tuple[State, Sequence[Event]]:
    """After the bot of `seat` is out: its turn, if it is on, ends at once."""
    new = fresh(state)
    new.retired = (*state.retired, seat)
    events = [Event({"event": "retired", "seat": seat})]
    if len(new.retired) == state.table.players:
        new.why = RETIRED
        if state.stage != OVER:
            finish(new, events)
    elif seat == state.seat and state.stage not in (DEAL, OVER):
        _next_seat(new, events)
    return new, events


# -- tokens, also the AI's ---------------------------------------------------------------------------------


def put_token(new: State, owner: int, space: int, events: list[Event]) -> None:
    """Place the next token of `owner` on `space` (captains T3, T4, E1)."""
    table = new.table
    number = len(new.tokens.stacks[owner]) // 2 + 1
    active = bool(len(new.tokens.stacks[owner]) & 1)
    planet = table.galaxy.beside_planet[space]
    explored = planet >= 0 and not new.tokens.reached >> planet & 1
    new.tokens = add_token(table, new.tokens, owner, space)
    events.append(Event({"event": "place", "owner": owner, "at": space, "number": number, "active": active}))
    if explored:
        new.explorers = (*new.explorers, owner)
        token = len(new.explorers)
        facts = {"owner": owner, "planet": planet, "token": token, "worth": worth(token)}
        events.append(Event({"event": "explore", **facts}))
        count_down(new, events)


# -- the AI's turn (captains A2-A4); `seat` stays 0, the AI is owner 1 -------------------------------------

AI: Final = 1


def ai_places(state: State) -> tuple[AiPlace, ...]:
    """Where the AI's next token may go, ascending (captains A2, A3)."""
    table = state.table
    near = table.galaxy.ai_starts if state.focus == STATION else table.galaxy.ai_places[state.focus]
    return tuple(action for action in near if may_place(table, state.tokens, AI, action.at))


def _begin_ai(new: State, events: list[Event]) -> None:
    new.focus, new.taken = STATION, 0
    if not new.tokens.stacks[AI] and ai_places(new):
        new.stage = AI_PLACE
    else:
        ai_cards(new, events)


def ai_cards(new: State, events: list[Event]) -> None:
    """Step 1 of the AI's turn: cards go from the deck to the Docks (captains A3)."""
    new.focus = AI_DISCARDS.get(new.table.plan.options.ai or "", UNTIL_PAIRS)
    _ai_next_card(new, events)


def _ai_next_card(new: State, events: list[Event]) -> None:
    pairs = sum(1 for cards in new.cards.docks if cards >= 2)
    more = pairs < 2 if new.focus == UNTIL_PAIRS else new.focus > 0
    if more and new.cards.left:
        new.stage = AI_CARDS
    else:
        ai_collect(new, 0, events)


def ai_collect(new: State, planet: int, events: list[Event]) -> None:
    """Step 2 of the AI's turn, from `planet` on, up to a token the player must place (captains A3)."""
    for at in range(planet, new.table.planets):
        waiting = new.cards.docks[at]
        if waiting < 2:
            continue
        stack = new.tokens.stacks[AI]
        beside = [i for i, space in enumerate(stack) if new.table.galaxy.beside_planet[space] == at]
        active = any(i ^ 1 < len(stack) for i in beside)
        _ai_deliver(new, at, waiting if active else 1, events)
        if not beside and len(stack) < TOKENS:
            new.focus = at
            if ai_places(new):
                new.stage = AI_PLACE
                return
    _next_seat(new, events)


def _ai_deliver(new: State, planet: int, cards: int, events: list[Event]) -> None:
    old = new.cards
    piles = (*old.piles[:AI], changed(old.piles[AI], planet, cards))
    new.cards = Cards(old.deck, old.left, changed(old.docks, planet, -cards), old.hands, piles, old.known)
    events.append(Event({"event": "ai-delivered", "planet": planet, "cards": cards}))
