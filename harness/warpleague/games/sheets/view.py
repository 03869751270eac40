"""The view of a seat in sheets: everything, since nothing is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import attrs

from warpleague.games.sheets.geometry import (
    BONUS_ROUNDS,
    BOXES,
    CIRCLES,
    ROUNDS,
    YELLOW_LINES,
    YELLOW_VALUES,
    edges_of,
)
from warpleague.games.sheets.position import Circle, Table, state_of, view_json
from warpleague.games.sheets.rules import BLACK_BLUE_ROUND, BLACK_RED_ROUND
from warpleague.games.values import decoded

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.api import JsonObject
    from warpleague.games.sheets.state import State


@attrs.frozen
class SheetView:
    """One seat's sheet."""

    edges: list[int]
    """the edges drawn, ascending"""
    filled: list[int]
    """the boxes whose four edges are drawn, ascending"""
    wormholes: list[int]
    """the boxes with a wormhole, ascending"""
    yellow: list[int]
    """the yellow cells marked, ascending"""
    red: list[int]
    """the values marked in the red section, ascending"""
    blue: list[Circle]
    """the circles written, in the order of writing"""
    free_lines: int
    """free lines stored"""
    rerolls: int
    """rerolls stored"""
    points: int
    """the score if the game ended now"""
    connections: int
    """pairs of adjacent wormholes"""


@attrs.frozen
class View(Table):
    """Everything a seat may know; the same for all seats."""

    sheets: list[SheetView]
    """the sheets by seat"""


@attrs.frozen
class LineSetup:
    """A line of the yellow section."""

    name: str
    """row 1-6, column 1-6 or diagonal"""
    cells: list[int]
    """its cells"""
    reward: Literal["free-line", "reroll"]
    """what completing it brings"""


@attrs.frozen
class Setup:
    """The printed sheet and the fixed facts of the game."""

    rounds: int
    """rounds of the game"""
    bonus_rounds: list[int]
    """rounds whose own turn starts with a reroll"""
    circles: int
    """circles in the blue section"""
    boxes: list[list[int]]
    """for each box its top, bottom, left and right edge"""
    yellow_values: list[int]
    """for each yellow cell its number"""
    yellow_lines: list[LineSetup]
    """the lines of the yellow section"""
    black_uses: list[list[Literal["yellow", "red", "blue"]]]
    """for each round, the first at index 0, the sections a black die may be used for"""


def setup(state: State) -> JsonObject:
    """The facts of `Setup`, the same for every game; nobody changes them."""
    return _SETUP


def _setup() -> JsonObject:
    starts = (("yellow", 1), ("red", BLACK_RED_ROUND), ("blue", BLACK_BLUE_ROUND))
    return {
        "rounds": ROUNDS,
        "bonus_rounds": list(BONUS_ROUNDS),
        "circles": CIRCLES,
        "boxes": [list(edges_of(box)) for box in range(BOXES)],
        "yellow_values": list(YELLOW_VALUES),
        "yellow_lines": [
            {"name": line.name, "cells": list(line.cells), "reward": line.reward} for line in YELLOW_LINES
        ],
        "black_uses": [
            [section for section, first in starts if round_ >= first] for round_ in range(1, ROUNDS + 1)
        ],
    }


_SETUP: Final = _setup()


def view(state: State, seat: int) -> JsonObject:
    """The facts of `View`: the state, and on each sheet what follows from its marks."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """The position that `view` shows."""
    return state_of(view)
