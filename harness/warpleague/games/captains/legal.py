"""Which actions a seat has in captains, in the canonical order, and why another is not possible.

The order: deliveries, pick-up, places, warps, cannon shots, moves,
`end`; each kind by ascending space or planet. In a pick-up: `draw` or `done` last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.captains.actions import (
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
)
from warpleague.games.captains.state import (
    AI_PLACE,
    EMERGE,
    HAND,
    START,
    TOKENS,
    TURN,
    TURN_ACTIONS,
    State,
    places,
    warps,
)
from warpleague.games.captains.state import PICKUP_PLANET as AT_PLANET
from warpleague.games.captains.state import PICKUP_STATION as AT_STATION
from warpleague.games.captains.turns import ai_places, starts
from warpleague.games.reading import ActionReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.captains.state import Position

_ONLY_END: Final = (END,)
_ONLY_DRAW: Final = (DRAW,)
_ONLY_DONE: Final = (DONE,)


def legal(state: Position, seat: int) -> Sequence[Action]:
    """Everything `seat` may do now; nothing unless it must act."""
    if not isinstance(state, State) or seat != state.seat:
        return ()
    stage = state.stage
    if stage == TURN:
        return _turn(state)
    table = state.table
    if stage == START:  # captains S3
        return starts(state)
    if stage == EMERGE:  # captains T9
        return table.galaxy.emerges[state.focus]
    if stage == AI_PLACE:
        return ai_places(state)
    if stage == AT_PLANET:
        return _at_planet(state)
    return _at_station(state) if stage == AT_STATION else ()


def _turn(state: State) -> Sequence[Action]:
    """T2: all but moves are free; the pick-up is once a turn."""
    if state.steps >= TURN_ACTIONS:  # captains T10
        return _ONLY_END
    seat, cards = state.seat, state.cards
    galaxy = state.table.galaxy
    at = state.ships[seat]
    left = cards.left > 0
    # From the places on, all hangs on the tokens and these five.
    key = (((at << 3 | seat) << 1 | state.warped) << 1 | (state.energy > 0)) << 1 | left
    rest = state.tokens.rest.get(key)
    if rest is None:
        rest = state.tokens.rest[key] = _rest(state, left)
    planet = galaxy.beside_planet[at]
    beside_station = galaxy.beside_station[at]
    if planet < 0 and not beside_station:
        return rest
    first: tuple[Action, ...] = ()
    if planet >= 0 and cards.hands[seat][planet]:
        first = (DELIVERIES[planet],)
    if not state.picked:  # captains T7: beside the station nothing is drawn from the deck
        if beside_station:
            first += (PICKUP_STATION,)
        elif left:
            first += (PICKUP_PLANET,)
    return first + rest


def _rest(state: State, left: bool) -> tuple[Action, ...]:
    """Places, warps, shots, moves, `end`; the black hole needs a card that is `left` (captains T9)."""
    table, seat = state.table, state.seat
    galaxy = table.galaxy
    at = state.ships[seat]
    actions: tuple[Action, ...] = places(table, state.tokens, seat, at)
    if not state.warped:
        actions += warps(table, state.tokens, seat, at)
    actions += galaxy.shots[at] if left else galaxy.careful_shots[at]
    moves = galaxy.moves[at] if left else galaxy.careful_moves[at]
    if not state.energy:
        moves = tuple([move for move in moves if galaxy.free[at] >> move.to & 1])
    actions += moves
    return actions + _ONLY_END


def _at_planet(state: State) -> Sequence[Action]:
    """T7: discards first, then `draw`, which needs room in the hand."""
    hand = state.cards.hands[state.seat]
    room = sum(hand) < HAND
    if room and state.steps >= TURN_ACTIONS:
        return _ONLY_DRAW
    out: list[Action] = [DISCARDS[planet] for planet, cards in enumerate(hand) if cards]
    if room:
        out.append(DRAW)
    return out


def _at_station(state: State) -> Sequence[Action]:
    """T7: discards until the first card is taken; cards of at most two planets."""
    if state.steps >= TURN_ACTIONS:
        return _ONLY_DONE
    hand, docks, taken = state.cards.hands[state.seat], state.cards.docks, state.taken
    out: list[Action] = []
    if not taken:
        out += [DISCARDS[planet] for planet, cards in enumerate(hand) if cards]
    if sum(hand) < HAND:
        full = taken.bit_count() >= 2
        out += [
            TAKES[planet] for planet, cards in enumerate(docks) if cards and (not full or taken >> planet & 1)
        ]
    out.append(DONE)
    return out


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
