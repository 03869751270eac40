"""The view of a seat in aliens, and positions drawn to fit a view."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import attrs

from warpleague.games.aliens.geometry import AXES, HOME, SHIPS, SQUARES, STARTS, STEPS, WAYS, Way
from warpleague.games.aliens.position import Position, position_json, state_of
from warpleague.games.values import decoded

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.aliens.state import Rules, State
    from warpleague.games.api import JsonObject


@attrs.frozen(kw_only=True)
class View(Position):
    """All that a seat knows of a position; all of it is public but the values of coins never activated."""

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
    return position_json(state, seat)


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
    return state_of({**view, "wormholes": filled})
