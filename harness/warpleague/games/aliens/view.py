"""What is shown of a position: the classes that describe its JSON form, and who sees what in it.

Leaves reading it back to `codec`. Views share parts with each other, so nobody may change them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from warpleague.games.aliens.actions import Ship, Way  # noqa: TC001 - the schema reads them
from warpleague.games.aliens.board import AXES, COINS, COUNT, HOME, SHIPS, SQUARES, STARTS, STEPS, WAYS
from warpleague.games.aliens.state import OPENING_ROLL, PHASES, Rules, State

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject


@attrs.frozen
class OptionsView:
    """The options of the game, as in the start message."""

    max_turns: int
    both_ships: bool
    diagonals: Literal["normal", "swapped"]


@attrs.frozen
class Wormhole:
    """A coin on the board."""

    at: list[int]
    """Its square, [x, y]."""
    suit: Ship
    value: int | None
    """How far it leads, 0 (null, a black hole) to 5; None: an enemy coin never activated."""
    public: bool
    """Whether it has been activated, so that both sides know its value."""
    up: Literal["suit", "value"]
    """Which of its sides is up: each activation flips it."""


@attrs.frozen
class Then:
    """A ship that landed by die on an enemy in a wormhole, which it activates if it still stands there."""

    ship: Ship
    at: list[int]


@attrs.frozen
class Pending:
    """What has to be decided in the midst of a move."""

    ship: Ship
    """The ship that must jump, or that must be sent."""
    sends: int
    """How many sends the use of this die has seen; from 16 on no wormhole may be chosen."""
    then: Then | None
    """What follows when no ship is in flight any more."""


@attrs.frozen
class Result:
    """How the game ended."""

    winner: int | None
    """The winning seat; None: a draw."""
    why: Literal["base", "max-turns", "retired"]


@attrs.frozen
class View:
    """All that a seat knows of a position; all of it is public but the values of coins never activated."""

    options: OptionsView
    phase: Literal["opening-roll", "order", "place", "roll", "turn", "jump", "send", "end"]
    to_move: int | None
    """The seat whose turn it is (or that chooses, or places a coin); None before the opening roll."""
    turn: int
    """How many turns of both sides are over, skipped ones included."""
    ships: dict[str, list[int]]
    """The square [x, y] of each ship. A ship about to be sent shares its square with the one that landed on it."""
    dice: dict[str, int]
    """The dice still to be used in this turn, by ship; null is 0. At the end, those that were left."""
    lost: list[Ship]
    """The ships that lose their next turn."""
    wormholes: list[Wormhole]
    """The coins on the board, by y, then x."""
    pending: Pending | None
    """None except while a ship must jump or be sent."""
    result: Result | None
    """None until the end."""
    seat: int
    """Whose view this is."""
    actor: int | None
    """The seat that must act; None: the dice are rolled, or the game is over."""
    hand: dict[str, list[int]]
    """The values of this seat's own coins that are not on the board, by suit."""


@attrs.frozen
class Setup:
    """What never changes: the same in every game, but for the option `diagonals`."""

    squares: list[list[int]]
    """Every square [x, y], by y, then x: the order of legal actions and of wormholes."""
    bases: list[list[list[int]]]
    """For each seat, its two bases."""
    ships: dict[str, int]
    """The seat of each ship (and suit)."""
    axes: dict[str, list[Way]]
    """For each suit, the two ways its wormholes lead."""
    ways: dict[str, list[int]]
    """For each way, what a step adds to x and y."""


@cache
def setup(rules: Rules) -> JsonObject:
    """The setup as JSON."""
    axes = AXES[rules.options.diagonals]
    return {
        "squares": [list(square) for square in SQUARES],
        "bases": [[list(SQUARES[number]) for number in STARTS if HOME[number] == seat] for seat in (0, 1)],
        "ships": {ship: number >> 1 for number, ship in enumerate(SHIPS)},
        "axes": {suit: [WAYS[way] for way in axes[number]] for number, suit in enumerate(SHIPS)},
        "ways": {way: list(step) for way, step in zip(WAYS, STEPS, strict=True)},
    }


@cache
def _options(rules: Rules) -> JsonObject:
    return attrs.asdict(rules.options)


_AT: Final = [list(square) for square in SQUARES]
_LOST: Final = [[ship for number, ship in enumerate(SHIPS) if mask >> number & 1] for mask in range(16)]
_wormholes: Final[dict[int, JsonObject]] = {}


def _wormhole(number: int, coin: int, seen: bool, public: int, flipped: int) -> JsonObject:
    key = ((number * COINS + coin) * 2 + seen) * 4 + public * 2 + flipped
    shown = _wormholes.get(key)
    if shown is None:
        suit, value = divmod(coin, 6)
        shown = _wormholes[key] = {
            "at": _AT[number],
            "suit": SHIPS[suit],
            "value": value if seen else None,
            "public": bool(public),
            "up": "value" if flipped else "suit",
        }
    return shown


def render(state: State, seat: int | None) -> JsonObject:
    """The position as JSON, with the values of all coins (`seat` None) or those `seat` knows."""
    s = state
    known, faces = s.known, s.faces
    shown: list[Any] = []
    for number, coin in enumerate(s.holes):
        if coin >= 0:
            public = known >> coin & 1
            seen = seat is None or public == 1 or coin // 12 == seat
            shown.append(_wormhole(number, coin, seen, public, faces >> coin & 1))
    pending: JsonObject | None = None
    if s.cascade is not None:
        ship, sends, after, at = s.cascade
        then = {"ship": SHIPS[after], "at": _AT[at]} if after >= 0 else None
        pending = {"ship": SHIPS[ship], "sends": sends, "then": then}
    result: JsonObject | None = None
    if s.result is not None:
        winner, why = s.result
        result = {"winner": None if winner < 0 else winner, "why": why}
    first = 2 * s.seat
    return {
        "options": _options(s.rules),
        "phase": PHASES[s.phase],
        "to_move": None if s.phase == OPENING_ROLL else s.seat,
        "turn": s.turn,
        "ships": {ship: _AT[number] for ship, number in zip(SHIPS, s.ships, strict=True)},
        "dice": {SHIPS[first + i]: die for i, die in enumerate(s.dice) if die >= 0},
        "lost": _LOST[s.lost],
        "wormholes": shown,
        "pending": pending,
        "result": result,
    }


def view(state: State, seat: int) -> JsonObject:
    """What `seat` knows: as described by `View`."""
    data = render(state, seat)
    data["seat"] = seat
    data["actor"] = state.actors[0] if state.actors and state.actors[0] >= 0 else None
    hand: dict[str, list[int]] = {SHIPS[2 * seat]: [], SHIPS[2 * seat + 1]: []}
    # In play the hands are empty, as a rule: positions made by hand may have fewer wormholes.
    if state.holes.count(-1) > COUNT - COINS:
        for coin in range(12 * seat, 12 * seat + 12):
            if coin not in state.holes:
                hand[SHIPS[coin // 6]].append(coin % 6)
    data["hand"] = hand
    return data
