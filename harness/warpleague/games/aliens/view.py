"""The view of a seat in aliens, and positions drawn to fit a view."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import attrs

from warpleague.games.aliens.geometry import AXES, HOME, SHIPS, SQUARES, STARTS, STEPS, WAYS, Ship, Way
from warpleague.games.aliens.position import KEYS, from_json, render
from warpleague.games.aliens.state import Why  # noqa: TC001 - the schema reads it
from warpleague.games.values import decoded, encoded

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.aliens.state import Rules, State
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
    """The decision in the midst of a move."""

    ship: Ship
    """The ship that must jump, or that must be sent."""
    sends: int
    """How many sends the use of this die has seen; from 16 on no wormhole may be chosen."""
    then: Then | None
    """The next step when no ship is in flight any more."""


@attrs.frozen
class Result:
    """How the game ended."""

    winner: int | None
    """The winning seat; None: a draw."""
    why: Why


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
    """The fixed part: the same in every game, but for the option `diagonals`."""

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


def setup(state: State) -> JsonObject:
    """The start message's facts, as described by `Setup`."""
    return _setup(state.rules)


@cache
def _setup(rules: Rules) -> JsonObject:
    axes = AXES[rules.options.diagonals]
    return {
        "squares": [list(square) for square in SQUARES],
        "bases": [[list(SQUARES[number]) for number in STARTS if HOME[number] == seat] for seat in (0, 1)],
        "ships": {ship: number >> 1 for number, ship in enumerate(SHIPS)},
        "axes": {suit: [WAYS[way] for way in axes[number]] for number, suit in enumerate(SHIPS)},
        "ways": {way: list(step) for way, step in zip(WAYS, STEPS, strict=True)},
    }


def view(state: State, seat: int) -> JsonObject:
    """The view of `seat`, as `View` describes it."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: State, seat: int) -> bytes:
    """The same in its bytes."""
    return encoded(render(state, seat))


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """A position that looks like `view` to `seat`: the values it does not know are dealt anew."""
    holes = view["wormholes"]
    unknown: dict[str, list[int]] = {}
    for suit in SHIPS[2 - 2 * seat : 4 - 2 * seat]:
        values = set(range(6)) - {hole["value"] for hole in holes if hole["suit"] == suit}
        unknown[suit] = sorted(values)
        rng.shuffle(unknown[suit])
    filled = [
        hole if hole["value"] is not None else {**hole, "value": unknown[hole["suit"]].pop()}
        for hole in holes
    ]
    return from_json({key: view[key] for key in KEYS} | {"wormholes": filled})
