"""Decides which actions a seat has, in their canonical order, and reads actions from JSON.

Leaves what an action changes to `turn`. The order: deliveries, pick-up, places, warps, cannon shots, moves,
`end`; each kind by ascending space or planet. In a pick-up: `draw` or `done` last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

import attrs

from warpleague.errors import ActionError
from warpleague.games.captains.actions import (
    BARE,
    BY_PLANET,
    BY_SPACE,
    DELIVERIES,
    DISCARDS,
    DONE,
    DRAW,
    END,
    PICKUP_PLANET,
    PICKUP_STATION,
    PICKUPS,
    TAKES,
    Action,
)
from warpleague.games.captains.flow import ai_places
from warpleague.games.captains.state import (
    AI_PLACE,
    EMERGE,
    HAND,
    START,
    TOKENS,
    TURN,
    TURN_ACTIONS,
    State,
    may_place,
    places,
    warps,
)
from warpleague.games.captains.state import PICKUP_PLANET as AT_PLANET

if TYPE_CHECKING:
    from collections.abc import Sequence

_ONLY_END: Final = (END,)
_ONLY_DRAW: Final = (DRAW,)
_ONLY_DONE: Final = (DONE,)
_KEYS: Final[dict[str, str | None]] = {
    **{do: key for do, (key, _) in BY_SPACE.items()},
    **dict.fromkeys(BY_PLANET, "planet"),
    **dict.fromkeys(BARE),
    "pickup": "at",
}
"""By kind of action: the one key of its JSON form besides `do`, if it has one."""


def legal(state: State) -> Sequence[Action]:
    """Every action of the seat that must act; never empty."""
    stage = state.stage
    if stage == TURN:
        return _turn(state)
    table = state.table
    if stage == START:  # captains S3
        seat = state.seat
        return tuple(a for a in table.galaxy.starts if may_place(table, state.tokens, seat, a.at))
    if stage == EMERGE:  # captains T9
        return table.galaxy.emerges[state.focus]
    if stage == AI_PLACE:
        return ai_places(state)
    return _at_planet(state) if stage == AT_PLANET else _at_station(state)


def _turn(state: State) -> Sequence[Action]:
    """T2: all but moves are free; the pick-up is once a turn."""
    if state.steps >= TURN_ACTIONS:  # captains T10
        return _ONLY_END
    table, seat, cards = state.table, state.seat, state.cards
    galaxy = table.galaxy
    at = state.ships[seat]
    planet = galaxy.beside_planet[at]
    out: list[Action] = []
    if planet >= 0 and cards.hands[seat][planet]:
        out.append(DELIVERIES[planet])
    if not state.picked:  # captains T7: beside the station nothing is drawn from the deck
        if galaxy.beside_station[at]:
            out.append(PICKUP_STATION)
        elif planet >= 0 and cards.left:
            out.append(PICKUP_PLANET)
    if len(state.tokens.stacks[seat]) < TOKENS:
        spots = state.tokens.places.get((seat, at))
        out += places(table, state.tokens, seat, at) if spots is None else spots
    if not state.warped:
        ends = state.tokens.warps.get((seat, at))
        out += warps(table, state.tokens, seat, at) if ends is None else ends
    left = cards.left  # captains T9: the black hole needs a card
    if galaxy.shots[at]:
        out += galaxy.shots[at] if left else galaxy.careful_shots[at]
    if state.energy or galaxy.nebula[at]:
        out += galaxy.moves[at] if left else galaxy.careful_moves[at]
    out.append(END)
    return out


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


def parse(state: State, data: object) -> Action:
    """The legal action that `data` names; `ActionError` says what is wrong and what would be legal."""
    if not isinstance(data, dict):
        raise ActionError(f'an action is an object such as {{"do":"end"}}, not {data!r:.60}')
    do = data.get("do")
    legal_now = legal(state)
    if not isinstance(do, str) or do not in _KEYS:
        _refuse(f"'do' is {do!r:.40}", legal_now)
    action = _named(do, data)
    if not any(action is one for one in legal_now):
        _refuse(_why_not(state, do, action), legal_now)
    return action


def _named(do: str, data: dict[object, object]) -> Action:
    """The action object of a JSON form, legal or not; `ActionError` if the form is wrong."""
    key = _KEYS[do]
    wanted = {"do"} if key is None else {"do", key}
    if set(data) != wanted:
        keys = ", ".join(repr(str(name)) for name in data)
        raise ActionError(f"{do} takes the keys {', '.join(map(repr, sorted(wanted)))}; given: {keys:.100}")
    if key is None:
        return BARE[do]
    value = data[key]
    if do == "pickup":
        if not isinstance(value, str) or value not in PICKUPS:
            raise ActionError(f'pickup: "at" is "planet" or "station", not {value!r:.40}')
        return PICKUPS[value]
    table: Sequence[Action] = BY_SPACE[do][1] if do in BY_SPACE else BY_PLANET[do]
    if type(value) is not int or not 0 <= value < len(table):
        what = "planet" if do in BY_PLANET else "space"
        raise ActionError(f"{do}: {key!r} must be the number of a {what}, not {value!r:.40}")
    return table[value]


def _refuse(text: str, legal_now: Sequence[Action]) -> NoReturn:
    """Raise with the legal actions, grouped by kind, at the end of the text."""
    groups: dict[str, list[str]] = {}
    for action in legal_now:
        values = [str(getattr(action, field.name)) for field in attrs.fields(type(action))]
        groups.setdefault(action.do, []).extend(values)
    shown = "; ".join(f"{do} {', '.join(values)}".strip() for do, values in groups.items())
    raise ActionError(f"{text}; legal now: {shown}")


def _why_not(state: State, do: str, action: Action) -> str:
    """Why an action that is well formed is not legal, in words."""
    table, tokens, seat = state.table, state.tokens, state.seat
    galaxy = table.galaxy
    space = getattr(action, BY_SPACE[do][0]) if do in BY_SPACE else -1
    if space >= len(galaxy.hexes):
        return f"{do}: there is no space {space}, only 0 to {len(galaxy.hexes) - 1}"
    if state.stage != TURN:
        return f"{do} {space} is not possible" if space >= 0 else f"{do} is not possible at this point"
    if state.steps >= TURN_ACTIONS:
        return f"{do}: after {TURN_ACTIONS} actions a turn can only be ended"
    at = state.ships[seat]
    if do == "move":
        if not state.energy and not galaxy.nebula[at]:
            return "move: no energy left"
        return f"move: space {space} ({galaxy.kinds[space]}) cannot be entered from space {at}"
    if do == "place":
        if len(tokens.stacks[seat]) >= TOKENS:
            return "place: all tokens are placed"
        if not galaxy.takes_token[space]:
            return f"place: space {space} ({galaxy.kinds[space]}) takes no token"
        if space in tokens.at:
            return f"place: space {space} has a token already"
        if tokens.near[seat] & table.put[space] & table.limited:
            return f"place: a token of yours is already beside the planet or station beside space {space}"
        return f"place: space {space} is neither the ship's space {at} nor beside it"
    if do == "warp":
        if state.warped:
            return "warp: another action must come between two warps"
        return f"warp: no wormhole leads from space {at} to space {space}"
    if do == "cannon":
        return f"cannon: no shot from space {at} ({galaxy.kinds[at]}) reaches space {space}"
    if do == "pickup":
        if state.picked:
            return "pickup: once a turn"
        if galaxy.beside_station[at]:
            return f"pickup: space {at} is beside the station, where nothing is drawn from the deck"
        return f"pickup: space {at} is not beside it, or the deck is empty"
    if do == "deliver":
        return f"deliver: no card of that planet in hand, or the ship's space {at} is not beside it"
    return f"{do} is not possible at this point"
