"""Actions and decisions of aliens in words: a sentence for each action, and a heading for each decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.aliens.actions import (
    DECLINING,
    JUMP_WAYS,
    SEND_TARGETS,
    STAYING,
    USES,
    Order,
    Place,
)
from warpleague.games.aliens.geometry import AXES, HOME, SHIPS, SQUARES, TARGET
from warpleague.games.aliens.state import JUMP, ORDER, PLACE, SEND

if TYPE_CHECKING:
    from warpleague.games.aliens.actions import Action
    from warpleague.games.aliens.state import State

_COMPASS: Final = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
"""The ways in words, in the order of `WAYS`."""
_NAMES: Final = tuple(ship.title() for ship in SHIPS)
_ORDERS: Final = {
    "place": "Place the first wormhole; the other side moves first",
    "move": "Move first; the other side places the first wormhole",
}


def phrase(state: State, action: Action) -> str:
    """`action` as a sentence; it says of wormholes only what the seat that acts knows."""
    if isinstance(action, Order):
        return _ORDERS[action.first]
    if isinstance(action, Place):
        return f"Place {action.suit.title()} {_number(action.value)} on ({action.at[0]},{action.at[1]})"
    if action in SEND_TARGETS:
        return _send(state, SEND_TARGETS[action])
    if action in JUMP_WAYS:
        assert state.cascade is not None
        ship, way = state.cascade[0], JUMP_WAYS[action]
        length = state.holes[state.ships[ship]] % 6
        return f"Jump with {_NAMES[ship]} {_flight(state, ship, length, way, jumps=True)}"
    ship, way = USES[action]
    name = _NAMES[ship]
    if way == STAYING:
        hole = state.holes[state.ships[ship]] >= 0
        return f"Let {name} stay on {_at(state.ships[ship])}" + (
            " and activate the wormhole there" if hole else ""
        )
    if way == DECLINING:
        return f"Leave the die of {name} unused"
    return f"Fly {name} {_flight(state, ship, state.dice[ship & 1], way, jumps=False)}"


def heading(state: State, seat: int) -> str:
    """The decision of `seat` as a heading."""
    if state.phase == ORDER:
        return "Choose who begins"
    if state.phase == PLACE:
        return "Place a wormhole: choose a coin and a square"
    if state.phase in (JUMP, SEND):
        assert state.cascade is not None
        name = _NAMES[state.cascade[0]]
        return f"Choose where {name} jumps" if state.phase == JUMP else f"Choose where {name} is sent"
    dice = [
        f"{_NAMES[2 * seat + number]} {_number(die)}" for number, die in enumerate(state.dice) if die >= 0
    ]
    return f"Use a die: {' or '.join(dice)}"


def _number(value: int) -> str:
    return str(value) if value else "null"


def _at(number: int) -> str:
    x, y = SQUARES[number]
    return f"({x},{y})"


def _flight(state: State, ship: int, length: int, way: int, *, jumps: bool) -> str:
    """How far and where to, and what is there."""
    end = TARGET[(state.ships[ship] * 6 + length) * 8 + way]
    there = _met(state, ship, end, jumps=jumps)
    return f"{length} {_COMPASS[way]} to {_at(end)}" + (f": {', '.join(there)}" if there else "")


def _met(state: State, ship: int, end: int, *, jumps: bool) -> list[str]:
    """What a ship finds on the square where it lands."""
    seat = ship >> 1
    if HOME[end] == 1 - seat and (not state.rules.both_ships or HOME[state.ships[ship ^ 1]] == 1 - seat):
        return ["an enemy base, where you win"]  # aliens E1
    there = [] if HOME[end] < 0 else ["your own base" if HOME[end] == seat else "an enemy base"]
    # A jump that ends on a wormhole does not activate it (aliens T4).
    if state.holes[end] >= 0 and not jumps:
        there.append(_wormhole(state, state.holes[end], seat))
    enemies = [other for other, square in enumerate(state.ships) if square == end and other >> 1 != seat]
    return there + [f"from where you send {_NAMES[other]} away" for other in enemies]


def _send(state: State, end: int) -> str:
    """Where the enemy's ship is sent, and what is there."""
    assert state.cascade is not None
    ship = state.cascade[0]
    seat = 1 - (ship >> 1)
    there = ""
    if HOME[end] >= 0:
        there = ": your base" if HOME[end] == seat else ": its own base"
    elif state.holes[end] >= 0:
        there = f": {_wormhole(state, state.holes[end], seat)}"
    return f"Send {_NAMES[ship]} to {_at(end)}{there}"


def _wormhole(state: State, coin: int, seat: int) -> str:
    """A wormhole as `seat` knows it."""
    suit, value = divmod(coin, 6)
    whose = "your" if suit >> 1 == seat else "an enemy"
    one, other = (_COMPASS[way] for way in AXES[state.rules.options.diagonals][suit])
    if not (state.known >> coin & 1 or suit >> 1 == seat):
        return f"{whose} wormhole of unknown length, {one} or {other}"
    return f"{whose} wormhole, {value} {one} or {other}" if value else f"{whose} black hole"
