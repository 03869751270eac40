"""The steps between the turns of captains: rounds, the end, tokens, and the AI's turn in a solo game.

The functions change `new`, a copy of the position that nobody else has seen, and add what happens to `events`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.api import Event
from warpleague.games.captains.dealing import DECK_EMPTY, EXPLORED, MAX_ROUNDS
from warpleague.games.captains.memory import Known
from warpleague.games.captains.score import scores, worth
from warpleague.games.captains.state import (
    AI_CARDS,
    AI_PLACE,
    DEAL,
    ENERGY,
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
    fresh_cards,
    may_place,
    tokens_of,
)
from warpleague.games.values import replaced

if TYPE_CHECKING:
    from warpleague.games.captains.actions import AiPlace, Start
    from warpleague.games.captains.dealing import Why

Events = list[Event]

AI_DISCARDS: Final = {"echabod-z": 2, "brood": 3}
UNTIL_PAIRS: Final = -1
"""In `State.focus`: azimuth discards until two planets have two cards each (captains A3)."""


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


# -- rounds and the end ------------------------------------------------------------------------------------


def count_down(new: State, events: Events) -> None:
    """Bring the last round nearer if the galaxy is explored or the deck empty (captains E1)."""
    reasons: tuple[tuple[Why, bool, int], ...] = (
        (EXPLORED, len(new.explorers) == new.table.planets, 3),
        (DECK_EMPTY, not new.cards.left, 1),
    )
    for reason, due, rounds in reasons:
        last = new.round + rounds
        if due and (last < new.last_round or (last == new.last_round and new.why == MAX_ROUNDS)):
            new.last_round, new.why = last, reason
            events.append(Event({"event": "ending", "why": reason, "last_round": last}))


def end_turn(new: State, events: Events) -> None:
    """The turn of `new.seat` is over: the AI's follows in solo, else the next seat's."""
    if new.table.players == 1:
        _begin_ai(new, events)
    else:
        next_seat(new, events)


def next_seat(new: State, events: Events) -> None:
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


def finish(new: State, events: Events) -> None:
    """End the game as it stands."""
    new.stage, new.focus, new.taken = OVER, STATION, 0
    events.append(Event({"event": "over", "why": new.why, "scores": scores(new)}))


# -- where a token needs an empty space ---------------------------------------------------------------------


def starts(state: State) -> tuple[Start, ...]:
    """Where the seat whose turn it is may start, ascending: without a ship where it can be (captains S3)."""
    table = state.table
    open_ = tuple(a for a in table.galaxy.starts if may_place(table, state.tokens, state.seat, a.at))
    return tuple(action for action in open_ if action.at not in state.ships) or open_


# -- tokens, also the AI's ---------------------------------------------------------------------------------


def put_token(new: State, owner: int, space: int, events: Events) -> None:
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
    return tuple(
        action
        for action in near
        if may_place(table, state.tokens, AI, action.at) and action.at not in state.ships
    )


def _begin_ai(new: State, events: Events) -> None:
    new.focus, new.taken = STATION, 0
    if not new.tokens.stacks[AI] and ai_places(new):
        new.stage = AI_PLACE
    else:
        ai_cards(new, events)


def ai_cards(new: State, events: Events) -> None:
    """Step 1 of the AI's turn: cards go from the deck to the Docks (captains A3)."""
    new.focus = AI_DISCARDS.get(new.table.plan.options.ai or "", UNTIL_PAIRS)
    ai_next_card(new, events)


def ai_next_card(new: State, events: Events) -> None:
    """The AI discards another card if it must and the deck has one; else step 2 follows."""
    pairs = sum(1 for cards in new.cards.docks if cards >= 2)
    more = pairs < 2 if new.focus == UNTIL_PAIRS else new.focus > 0
    if more and new.cards.left:
        new.stage = AI_CARDS
    else:
        ai_collect(new, 0, events)


def ai_collect(new: State, planet: int, events: Events) -> None:
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
    next_seat(new, events)


def _ai_deliver(new: State, planet: int, cards: int, events: Events) -> None:
    new.cards = own_cards = fresh_cards(new.cards)
    own_cards.docks = changed(own_cards.docks, planet, -cards)
    own_cards.piles = replaced(own_cards.piles, AI, changed(own_cards.piles[AI], planet, cards))
    events.append(Event({"event": "ai-delivered", "planet": planet, "cards": cards}))
