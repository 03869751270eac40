"""The view of a seat in sheets: everything, since nothing is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from warpleague.games.api import CHANCE, JsonObject
from warpleague.games.sheets.geometry import (
    ALL_UNITS,
    BONUS_ROUNDS,
    BOXES,
    CIRCLES,
    ROUNDS,
    UNITS,
    YELLOW_LINES,
    YELLOW_VALUES,
    Unit,
    edges_of,
)
from warpleague.games.sheets.position import blue_json, dice_json, read_state
from warpleague.games.sheets.rules import BLACK_BLUE_ROUND, BLACK_RED_ROUND, connections, score_parts
from warpleague.games.sheets.state import NOBODY, PHASES, Phase, Sheet, State
from warpleague.games.values import Cache, decoded, encoded, members

if TYPE_CHECKING:
    from random import Random


@attrs.frozen
class Circle:
    """A written circle of the blue section."""

    value: int
    """the value written into it, 1-6"""
    crossed: bool
    """whether it is crossed out"""


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
class View:
    """Everything a seat may know; the same for all seats."""

    round: int
    """the round, 1-7"""
    turn: int
    """the active seat"""
    phase: Phase
    """roll (the dice come next), keep, mark, take, use (a taken die must be marked), lines, over"""
    actor: int | None
    """the seat that must act; null: the dice, or nobody"""
    dice: dict[str, list[int] | int]
    """by unit the value rolled last in this turn; the white pair has two"""
    hand: list[Unit]
    """units still in hand"""
    kept: list[Unit]
    """units kept and not yet marked"""
    offered: list[Unit]
    """units discarded and not yet taken"""
    taken: Unit | None
    """the unit the actor took and must use now"""
    retired: list[int]
    """retired seats in the order of retirement"""
    shared_discards: bool
    """the option of this name"""
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


def _numbers(bits: int) -> bytes:
    """The list of the numbers in a set, eight bits at a time: a sheet's sets are large, and change often."""
    numbers = []
    first = 0
    while bits:
        if low := bits & 255:
            numbers.append(_OCTETS[first, low])
        bits >>= 8
        first += 8
    return b"[%b]" % b",".join(numbers)


_OCTETS: Final = Cache[tuple[int, int], bytes](
    lambda key: b",".join([b"%d" % (key[0] + number) for number in members(key[1])])
)
_NUMBERS: Final = Cache(_numbers)


def _worth(boxes: tuple[int, int]) -> bytes:
    filled, wormholes = boxes
    points = sum(score_parts(Sheet(filled=filled, wormholes=wormholes)))
    return b'"points":%d,"connections":%d}' % (points, connections(wormholes))


_BLUE: Final = Cache[tuple[int, ...], bytes](lambda blue: encoded(blue_json(blue)))
_WORTH: Final = Cache[tuple[int, int], bytes](_worth)


def _sheet(marks: tuple[Any, ...]) -> bytes:
    edges, filled, wormholes, yellow, red, blue, free_lines, rerolls = marks
    return (
        b'{"edges":%b,"wormholes":%b,"yellow":%b,"red":%b,"blue":%b,"free_lines":%d,"rerolls":%d,"filled":%b,%b'
    ) % (
        _NUMBERS[edges],
        _NUMBERS[wormholes],
        _NUMBERS[yellow],
        _NUMBERS[red],
        _BLUE[blue],
        free_lines,
        rerolls,
        _NUMBERS[filled],
        _WORTH[filled, wormholes],
    )


_SHEETS: Final = Cache(_sheet)
"""From the fields of `Sheet`: its marks, and what follows from them."""
_NAMES: Final = tuple(encoded([UNITS[unit] for unit in members(units)]) for units in range(ALL_UNITS + 1))
"""Sets of units."""
_UNITS: Final = (*(encoded(unit) for unit in UNITS), b"null")
_PHASES: Final = {phase: encoded(phase) for phase in PHASES}
_ACTOR: Final = {actor: encoded(actor if actor >= 0 else None) for actor in (NOBODY, CHANCE, *range(4))}
_DICE: Final = Cache[tuple[int, ...], bytes](lambda dice: encoded(dice_json(dice)))


def view(state: State, seat: int) -> JsonObject:
    """The facts of `View`: the state, and on each sheet what follows from its marks."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: State, seat: int) -> bytes:
    """The same in its bytes, with the keys of `to_json` in the same order."""
    sheets = [
        _SHEETS[s.edges, s.filled, s.wormholes, s.yellow, s.red, s.blue, s.free_lines, s.rerolls]
        for s in state.sheets
    ]
    return (
        b'{"round":%d,"turn":%d,"phase":%b,"actor":%b,"dice":%b,"hand":%b,"kept":%b,"offered":%b,"taken":%b,'
        b'"retired":%b,"shared_discards":%b,"sheets":[%b]}'
    ) % (
        state.round,
        state.seat,
        _PHASES[state.phase],
        _ACTOR[state.actor],
        _DICE[state.dice],
        _NAMES[state.hand],
        _NAMES[state.kept],
        _NAMES[state.offered],
        _UNITS[state.taken],
        encoded(state.retired) if state.retired else b"[]",
        b"true" if state.shared else b"false",
        b",".join(sheets),
    )


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """The position that `view` shows."""
    return read_state(view)
