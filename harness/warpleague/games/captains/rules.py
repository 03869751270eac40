"""The rules of captains: which actions a seat has, what a move does to a position, and how a game is scored.

`push` carries a move out on the position itself; its caller made the copy. The parts of a position are tuples, and are
replaced, not changed: a copy shares them. What happened is added to `events`, unless that is None. Everything but
`parse` trusts its caller that a move is legal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import Event, Events, Outcome, Rolled, Weights, ranked
from warpleague.games.captains import dealing
from warpleague.games.captains import events as make
from warpleague.games.captains.dealing import DECK_EMPTY, EXPLORED, MAX_ROUNDS, RETIRED, Dealing, Why
from warpleague.games.captains.geometry import (
    ACTIONS,
    DELIVERIES,
    DISCARDS,
    DONE,
    DRAW,
    END,
    PICKUP_PLANET,
    PICKUP_STATION,
    TAKES,
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
from warpleague.games.captains.state import (
    AI_CARDS,
    AI_PLACE,
    BLACKHOLE,
    DEAL,
    DEALT,
    EMERGE,
    ENERGY,
    HAND,
    OVER,
    PLACES_AT,
    START,
    STATION,
    TOKENS,
    TURN,
    TURN_ACTIONS,
    Cards,
    Known,
    Position,
    State,
    Table,
    add_token,
    changed,
    copied,
    fresh_cards,
    table,
    tokens_of,
    warps,
)
from warpleague.games.captains.state import DRAW as DRAWING
from warpleague.games.captains.state import PICKUP_PLANET as AT_PLANET
from warpleague.games.captains.state import PICKUP_STATION as AT_STATION
from warpleague.games.reading import ActionReader
from warpleague.games.values import Cache, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# -- the score (captains E2, E3, A4) ---------------------------------------------------------------------

PARTS: Final = ("exploration", "wormholes", "passengers", "tour")
"""The parts of a score: exploration tokens, point tokens, delivered cards, Galactic Tour bonus."""
TOUR_FREE: Final = 5


def worth(token: int) -> int:
    """The points of exploration token number `token`, counted from 1 (captains S1)."""
    return 1 if token <= 6 else 3


def parts(state: State, owner: int) -> tuple[int, int, int, int]:
    """The score of an owner by `PARTS`."""
    return _parts(owner, state.explorers, state.points[owner], state.cards.piles[owner])


def _parts(
    owner: int, explorers: Sequence[int], points: int, pile: Sequence[int]
) -> tuple[int, int, int, int]:
    return (
        sum([worth(token) for token, explorer in enumerate(explorers, 1) if explorer == owner]),
        points,
        2 * sum(pile),
        3 * max(0, len(pile) - pile.count(0) - TOUR_FREE),
    )


def scores(state: State) -> list[int]:
    """The score of every owner, the solo AI's last."""
    return totals(state.explorers, state.points, state.cards.piles)


def totals(
    explorers: tuple[int, ...], points: tuple[int, ...], piles: tuple[tuple[int, ...], ...]
) -> list[int]:
    """The same from what it depends on."""
    return [sum(_parts(owner, explorers, points[owner], pile)) for owner, pile in enumerate(piles)]


def outcome(state: Position) -> Outcome:
    """The result of a finished game; in a solo game the AI is the rival (captains A4)."""
    if isinstance(state, Dealing):
        return _undealt_outcome(state)
    players, cards = state.table.players, state.cards
    by_owner = [parts(state, owner) for owner in range(state.table.owners)]
    by_seat = by_owner[:players]
    points = [sum(part) for part in by_seat]
    rival = sum(by_owner[AI]) if players == 1 else None
    if rival is not None:
        won = not state.retired and points[0] > rival
        ranks: tuple[int, ...] = (1 if won else 2,)
    else:
        standings = [(points[seat], sum(cards.piles[seat]), state.points[seat]) for seat in range(players)]
        ranks = ranked(standings, state.retired)
    breakdown = {name: tuple(float(part[i]) for part in by_seat) for i, name in enumerate(PARTS)}
    return Outcome(ranks, tuple(map(float, points)), breakdown, state.why, rival)


def _undealt_outcome(dealing: Dealing) -> Outcome:
    """The result when every seat retired before the galaxy was laid."""
    players = dealing.plan.players
    none = (0.0,) * players
    ranks = tuple(players - dealing.retired.index(seat) for seat in range(players))
    breakdown = dict.fromkeys(PARTS, none)
    if players == 1:
        return Outcome((2,), none, breakdown, RETIRED, rival=0.0)
    return Outcome(ranks, none, breakdown, RETIRED)


# -- legal actions ---------------------------------------------------------------------------------------
#
# The canonical order: deliveries, pick-up, places, warps, cannon shots, moves, `end`; each kind by ascending space or
# planet. In a pick-up: `draw` or `done` last.

_ONLY_END: Final = (END,)
_ONLY_DRAW: Final = (DRAW,)
_ONLY_DONE: Final = (DONE,)
_DISCARDS_OF: Final = Cache[tuple[int, ...], tuple[Discard, ...]](
    lambda hand: tuple([DISCARDS[planet] for planet, cards in enumerate(hand) if cards])
)
"""By hand."""


def legal(state: Position, seat: int) -> Sequence[Action]:
    """Everything `seat` may do now (captains T2 in a turn); nothing unless it must act."""
    if not isinstance(state, State) or seat != state.seat:
        return ()
    if state.stage != TURN:
        return _beside_turn(state)
    if state.steps >= TURN_ACTIONS:  # captains T10
        return _ONLY_END
    # T2: all but moves are free, and the pick-up is once a turn. The list is put together from its end, of tuples that
    # are kept: most of them are the same in thousands of positions.
    table, tokens = state.table, state.tokens
    galaxy = table.galaxy
    at = state.ships[seat]
    left = state.cards.left > 0
    actions = table.onward[(at << 1 | left) << 1 | (state.energy > 0)]
    if not state.warped and (at in tokens.at or galaxy.wild[at]):
        actions = warps(table, tokens, seat, at) + actions
    if spaces := galaxy.places[at] & tokens.open[seat]:
        actions = PLACES_AT[spaces] + actions
    if table.put[at]:
        planet, station = galaxy.beside_planet[at], galaxy.beside_station[at]
        if not state.picked:  # captains T7: beside the station nothing is drawn from the deck
            if station:
                actions = (PICKUP_STATION, *actions)
            elif left:
                actions = (PICKUP_PLANET, *actions)
        if planet >= 0 and state.cards.hands[seat][planet]:
            actions = (DELIVERIES[planet], *actions)
    return actions


def _beside_turn(state: State) -> Sequence[Action]:
    """The actions in the other stages."""
    stage = state.stage
    if stage == START:
        return _starts(state)
    if stage == EMERGE:  # captains T9
        return state.table.galaxy.emerges[state.focus]
    if stage == AI_PLACE:
        return ai_places(state)
    if stage == AT_PLANET:
        return _at_planet(state)
    return _at_station(state) if stage == AT_STATION else ()


def _starts(state: State) -> tuple[Start, ...]:
    """Where the seat whose turn it is may start, ascending: without a ship where it can be (captains S3)."""
    open_ = state.tokens.open[state.seat]
    starts = tuple([start for start in state.table.galaxy.starts if open_ >> start.at & 1])
    return tuple([start for start in starts if start.at not in state.ships]) or starts


def _at_planet(state: State) -> Sequence[Action]:
    """T7: discards first, then `draw`, which needs room in the hand."""
    hand = state.cards.hands[state.seat]
    room = sum(hand) < HAND
    if room and state.steps >= TURN_ACTIONS:
        return _ONLY_DRAW
    return _DISCARDS_OF[hand] + _ONLY_DRAW if room else _DISCARDS_OF[hand]


def _at_station(state: State) -> Sequence[Action]:
    """T7: discards until the first card is taken; cards of at most two planets."""
    if state.steps >= TURN_ACTIONS:
        return _ONLY_DONE
    hand, docks, taken = state.cards.hands[state.seat], state.cards.docks, state.taken
    actions: tuple[Action, ...] = () if taken else _DISCARDS_OF[hand]
    if sum(hand) < HAND:
        full = taken.bit_count() >= 2
        actions += tuple(
            [TAKES[at] for at, cards in enumerate(docks) if cards and (not full or taken >> at & 1)]
        )
    return actions + _ONLY_DONE


def ai_places(state: State) -> tuple[AiPlace, ...]:
    """Where the AI's next token may go, ascending (captains A2, A3)."""
    galaxy, open_ = state.table.galaxy, state.tokens.open[AI]
    near = galaxy.ai_starts if state.focus == STATION else galaxy.ai_places[state.focus]
    return tuple([place for place in near if open_ >> place.at & 1 and place.at not in state.ships])


_ASKS: Final = {
    START: "start", TURN: "turn", AT_PLANET: "pickup", AT_STATION: "pickup", EMERGE: "emerge", AI_PLACE: "ai-place",
}  # fmt: skip


def ask(state: Position, seat: int) -> str:
    """One of start, turn, pickup, emerge, ai-place."""
    assert isinstance(state, State)
    return _ASKS[state.stage]


_READER: Final = ActionReader(ACTIONS)


def parse(state: Position, seat: int, data: object) -> Action:
    """The action of `seat` that `data` describes; `ActionError` if it is none, or not legal now."""
    action: Action = _READER.parse(data, legal(state, seat), lambda action: _why_not(state, action))
    return action


def _why_not(state: Position, action: Action) -> str:
    """Why an action that is well formed is not legal, in words; empty if there is no more to say."""
    assert isinstance(state, State)
    do = action.do
    table, tokens, seat = state.table, state.tokens, state.seat
    galaxy = table.galaxy
    space: Any = getattr(action, "to", getattr(action, "at", 0))
    if type(space) is not int:
        space = 0  # a pick-up is at "planet" or "station"
    if not 0 <= space < len(galaxy.hexes):
        return f"there is no space {space}, only 0 to {len(galaxy.hexes) - 1}"
    if state.stage != TURN:
        return ""
    if state.steps >= TURN_ACTIONS:
        return f"after {TURN_ACTIONS} actions a turn can only be ended"
    at = state.ships[seat]
    if do == "move":
        if not state.energy and not galaxy.free[at] >> space & 1:
            return "no energy left"
        return f"space {space} ({galaxy.kinds[space]}) cannot be entered from space {at}"
    if do == "place":
        if len(tokens.stacks[seat]) >= TOKENS:
            return "all tokens are placed"
        if not galaxy.takes_token[space]:
            return f"space {space} ({galaxy.kinds[space]}) takes no token"
        if space in tokens.at:
            return f"space {space} has a token already"
        if tokens.near[seat] & table.put[space] & table.limited:
            return f"a token of yours is already beside the planet or station beside space {space}"
        return f"space {space} is neither the ship's space {at} nor beside it"
    if do == "warp":
        if state.warped:
            return "another action must come between two warps"
        return f"no wormhole leads from space {at} to space {space}"
    if do == "cannon":
        return f"no shot from space {at} ({galaxy.kinds[at]}) reaches space {space}"
    if do == "pickup":
        if state.picked:
            return "once a turn"
        if galaxy.beside_station[at]:
            return f"space {at} is beside the station, where nothing is drawn from the deck"
        return f"space {at} is not beside it, or the deck is empty"
    if do == "deliver":
        return f"no card of that planet in hand, or the ship's space {at} is not beside it"
    return ""


# -- moves -----------------------------------------------------------------------------------------------


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


def push(state: Position, move: Action | Rolled, events: Events) -> Position:
    """Play `move` on `state`; the galaxy, once it is laid, comes to another object."""
    if isinstance(state, State):
        _PUSH[type(move)](state, move, events)
        return state
    assert isinstance(move, tuple)
    after, told = dealing.lay(state, move)
    if events is not None:
        events += told
    if isinstance(after, Dealing):
        return after
    return _opened(table(state.plan, after), state.retired)


def retire(state: Position, seat: int) -> tuple[Position, list[Event]]:
    """The bot of `seat` is out: its turn, if it is on, ends at once."""
    if not isinstance(state, State):
        return dealing.retire(state, seat)
    new = copied(state)
    assert isinstance(new, State)
    new.retired = (*state.retired, seat)
    events = [Event({"event": "retired", "seat": seat})]
    if len(new.retired) == state.table.players:
        new.why = RETIRED
        if state.stage != OVER:
            _finish(new, events)
    elif seat == state.seat and state.stage not in (DEAL, OVER):
        _next_seat(new, events)
    return new, events


def _move(state: State, action: Move, events: Events) -> None:
    """T1: from a nebula a move is free, but not onto the cannon; else it costs 1 energy."""
    table, seat, to, ships = state.table, state.seat, action.to, state.ships
    at = ships[seat]
    if not table.galaxy.free[at] >> to & 1:
        state.energy -= 1
    state.ships = (*ships[:seat], to, *ships[seat + 1 :])
    state.steps += 1
    state.warped = False
    if table.galaxy.blackhole[to]:
        state.stage = BLACKHOLE
    if events is not None:
        events.append(make.move(table, seat, at, to))


def _cannon(state: State, action: Cannon, events: Events) -> None:
    """T8."""
    if events is not None:
        events.append(make.about(state, "cannon", **{"from": state.ships[state.seat], "to": action.to}))
    state.ships = replaced(state.ships, state.seat, action.to)
    state.steps += 1
    state.warped = False
    if state.table.galaxy.blackhole[action.to]:
        state.stage = BLACKHOLE


def _emerge(state: State, action: Emerge, events: Events) -> None:
    """T9."""
    state.ships = replaced(state.ships, state.seat, action.at)
    state.steps += 1
    state.stage, state.focus = TURN, STATION
    if events is not None:
        events.append(make.about(state, "emerge", at=action.at))


def _warp(state: State, action: Warp, events: Events) -> None:
    """T5: the owner of another's token gets a point; a wild wormhole is nobody's."""
    seat = state.seat
    at = state.ships[seat]
    state.ships = replaced(state.ships, seat, action.to)
    state.steps += 1
    state.warped = True
    owner = state.tokens.at.get(at, (seat, 0))[0]
    if owner != seat:
        state.points = changed(state.points, owner, 1)
    if events is not None:
        paid = owner if owner != seat else None
        events.append(make.about(state, "warp", **{"from": at, "to": action.to, "point_to": paid}))


def _start(state: State, action: Start, events: Events) -> None:
    """S3."""
    state.ships = replaced(state.ships, state.seat, action.at)
    state.steps += 1
    state.stage = TURN
    if events is not None:
        events.append(make.about(state, "start", at=action.at))
    _put_token(state, state.seat, action.at, events)


def _place(state: State, action: Place, events: Events) -> None:
    """T3, T4."""
    state.steps += 1
    state.warped = False
    _put_token(state, state.seat, action.at, events)


def _put_token(state: State, owner: int, space: int, events: Events) -> None:
    """Place the next token of `owner` on `space` (captains T3, T4, E1)."""
    table, placed = state.table, len(state.tokens.stacks[owner])
    planet = table.galaxy.beside_planet[space]
    explored = planet >= 0 and not state.tokens.reached >> planet & 1
    state.tokens = add_token(table, state.tokens, owner, space)
    if events is not None:
        facts = {"owner": owner, "at": space, "number": placed // 2 + 1, "active": bool(placed & 1)}
        events.append(Event({"event": "place", **facts}))
    if explored:
        state.explorers = (*state.explorers, owner)
        if events is not None:
            token = len(state.explorers)
            facts = {"owner": owner, "planet": planet, "token": token, "worth": worth(token)}
            events.append(Event({"event": "explore", **facts}))
        _count_down(state, events)


def _deliver(state: State, action: Deliver, events: Events) -> None:
    """T6."""
    seat, planet, cards = state.seat, action.planet, fresh_cards(state.cards)
    count = cards.hands[seat][planet]
    state.steps += 1
    state.warped = False
    state.cards = cards
    cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, -count))
    cards.piles = replaced(cards.piles, seat, changed(cards.piles[seat], planet, count))
    cards.news = (*cards.news, (seat, Known.left, planet, count, True))
    if events is not None:
        events.append(make.about(state, "deliver", planet=planet, cards=count))


def _pickup(state: State, action: Pickup, events: Events) -> None:
    """T7; in solo the AI is paid at once for a pick-up at the station (A4)."""
    state.steps += 1
    state.warped = False
    state.picked = True
    if action.at == "planet":
        state.stage = AT_PLANET
        state.focus = state.table.galaxy.beside_planet[state.ships[state.seat]]
        if events is not None:
            events.append(make.about(state, "pickup", at="planet", planet=state.focus))
        return
    state.stage = AT_STATION
    paid = None
    if state.table.players == 1:
        paid = AI
        state.points = changed(state.points, AI, 1)
    if events is not None:
        events.append(make.about(state, "pickup", at="station", point_to=paid))


def _discard(state: State, action: Discard, events: Events) -> None:
    """T7: the first part of a pick-up."""
    seat, planet, cards = state.seat, action.planet, fresh_cards(state.cards)
    state.steps += 1
    state.cards = cards
    cards.docks = changed(cards.docks, planet, 1)
    cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, -1))
    cards.news = (*cards.news, (seat, Known.left, planet, 1, False))
    if events is not None:
        events.append(make.about(state, "discard", planet=planet))


def _take(state: State, action: Take, events: Events) -> None:
    """T7: at the station."""
    seat, planet, cards = state.seat, action.planet, fresh_cards(state.cards)
    state.steps += 1
    state.taken |= 1 << planet
    state.cards = cards
    cards.docks = changed(cards.docks, planet, -1)
    cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, 1))
    cards.news = (*cards.news, (seat, Known.taken, planet))
    if events is not None:
        events.append(make.about(state, "take", planet=planet))


def _draw(state: State, _: Draw, events: Events) -> None:
    """T7: at a planet; the cards come by chance, one by one."""
    state.steps += 1
    state.stage = DRAWING
    if events is not None:
        events.append(make.about(state, "draw"))


def _done(state: State, _: Done, events: Events) -> None:
    """T7: at the station."""
    state.steps += 1
    state.stage, state.taken = TURN, 0
    if events is not None:
        events.append(make.about(state, "done"))


def _end(state: State, _: End, events: Events) -> None:
    if events is not None:
        events.append(make.about(state, "end"))
    if state.table.players == 1:
        _begin_ai(state, events)
    else:
        _next_seat(state, events)


# -- the top card of the deck (captains C2) --------------------------------------------------------------


def _roll(state: State, rolled: Rolled, events: Events) -> None:
    """The card of planet `rolled[0]` is turned or dealt."""
    planet, seat, stage = rolled[0], state.seat, state.stage
    cards = state.cards = fresh_cards(state.cards)
    cards.deck = changed(cards.deck, planet, -1)
    cards.left -= 1
    to_docks = stage in (AI_CARDS, BLACKHOLE) or (stage == DRAWING and planet == state.focus)  # captains T7
    if to_docks:
        cards.docks = changed(cards.docks, planet, 1)
    else:  # of which the others know only that it is not for the planet here
        cards.hands = replaced(cards.hands, seat, changed(cards.hands[seat], planet, 1))
        cards.news = (*cards.news, (seat, Known.drawn, state.focus))
    if events is not None:
        events.append(make.card(state, planet, to_docks=to_docks))
    _count_down(state, events)
    if stage == AI_CARDS:
        if state.focus != UNTIL_PAIRS:
            state.focus -= 1
        _ai_next_card(state, events)
    elif stage == BLACKHOLE:  # captains T9
        state.stage, state.focus = EMERGE, planet
    elif stage == DRAWING:
        if not cards.left or sum(cards.hands[seat]) >= HAND:
            state.stage, state.focus = TURN, STATION
    elif sum(cards.hands[seat]) == DEALT[seat]:
        if seat + 1 < state.table.players:
            state.seat = seat + 1
        else:
            state.seat = -1
            _next_seat(state, events)


# -- rounds and the end ----------------------------------------------------------------------------------


def _opened(table: Table, retired: tuple[int, ...]) -> State:
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


def _count_down(state: State, events: Events) -> None:
    """Bring the last round nearer if the galaxy is explored or the deck empty (captains E1)."""
    if state.cards.left and len(state.explorers) < state.table.planets:
        return
    reasons: tuple[tuple[Why, bool, int], ...] = (
        (EXPLORED, len(state.explorers) == state.table.planets, 3),
        (DECK_EMPTY, not state.cards.left, 1),
    )
    for reason, due, rounds in reasons:
        last = state.round + rounds
        if due and (last < state.last_round or (last == state.last_round and state.why == MAX_ROUNDS)):
            state.last_round, state.why = last, reason
            if events is not None:
                events.append(Event({"event": "ending", "why": reason, "last_round": last}))


def _next_seat(state: State, events: Events) -> None:
    """Give the turn to the next seat that has not retired; there must be one."""
    seat = state.seat + 1
    while True:
        if seat == state.table.players:
            seat = 0
            if state.round == state.last_round:
                _finish(state, events)
                return
            state.round += 1
            if events is not None:
                events.append(Event({"event": "round", "round": state.round}))
        if seat not in state.retired:
            break
        seat += 1
    state.seat = seat
    state.stage = START if state.ships[seat] < 0 else TURN
    state.energy, state.steps, state.warped, state.picked = ENERGY, 0, False, False
    state.focus, state.taken = STATION, 0


def _finish(state: State, events: Events) -> None:
    """End the game as it stands."""
    state.stage, state.focus, state.taken = OVER, STATION, 0
    if events is not None:
        events.append(Event({"event": "over", "why": state.why, "scores": scores(state)}))


# -- the AI's turn (captains A2-A4); `seat` stays 0, the AI is owner 1 -----------------------------------

AI: Final = 1
AI_DISCARDS: Final = {"echabod-z": 2, "brood": 3}
UNTIL_PAIRS: Final = -1
"""In `State.focus`: azimuth discards until two planets have two cards each (captains A3)."""


def _begin_ai(state: State, events: Events) -> None:
    state.focus, state.taken = STATION, 0
    if not state.tokens.stacks[AI] and ai_places(state):
        state.stage = AI_PLACE
    else:
        _ai_cards(state, events)


def _ai_place(state: State, action: AiPlace, events: Events) -> None:
    """A2, A3."""
    _put_token(state, AI, action.at, events)
    if state.focus == STATION:
        _ai_cards(state, events)
    else:
        _ai_collect(state, state.focus + 1, events)


def _ai_cards(state: State, events: Events) -> None:
    """Step 1 of the AI's turn: cards go from the deck to the Docks (captains A3)."""
    state.focus = AI_DISCARDS.get(state.table.plan.options.ai or "", UNTIL_PAIRS)
    _ai_next_card(state, events)


def _ai_next_card(state: State, events: Events) -> None:
    """The AI discards another card if it must and the deck has one; else step 2 follows."""
    pairs = sum(1 for cards in state.cards.docks if cards >= 2)
    more = pairs < 2 if state.focus == UNTIL_PAIRS else state.focus > 0
    if more and state.cards.left:
        state.stage = AI_CARDS
    else:
        _ai_collect(state, 0, events)


def _ai_collect(state: State, planet: int, events: Events) -> None:
    """Step 2 of the AI's turn, from `planet` on, up to a token the player must place (captains A3)."""
    for at in range(planet, state.table.planets):
        waiting = state.cards.docks[at]
        if waiting < 2:
            continue
        stack = state.tokens.stacks[AI]
        beside = [i for i, space in enumerate(stack) if state.table.galaxy.beside_planet[space] == at]
        active = any(i ^ 1 < len(stack) for i in beside)
        _ai_deliver(state, at, waiting if active else 1, events)
        if not beside and len(stack) < TOKENS:
            state.focus = at
            if ai_places(state):
                state.stage = AI_PLACE
                return
    _next_seat(state, events)


def _ai_deliver(state: State, planet: int, cards: int, events: Events) -> None:
    state.cards = own_cards = fresh_cards(state.cards)
    own_cards.docks = changed(own_cards.docks, planet, -cards)
    own_cards.piles = replaced(own_cards.piles, AI, changed(own_cards.piles[AI], planet, cards))
    if events is not None:
        events.append(Event({"event": "ai-delivered", "planet": planet, "cards": cards}))


_PUSH: Final[dict[type, Callable[[State, Any, Events], None]]] = {
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
