"""What a seat sees of a game of sheets (everything: it has no hidden part), and the way back to a position.

Leaves checking hand-written positions to `codec`.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs

from warpleague.games.api import CHANCE, JsonObject
from warpleague.games.sheets.actions import UNIT_NUMBER, UNITS, Unit
from warpleague.games.sheets.geometry import (
    BONUS_ROUNDS,
    BOXES,
    CIRCLES,
    ROUNDS,
    YELLOW_LINES,
    YELLOW_VALUES,
    edges_of,
    mask,
    members,
)
from warpleague.games.sheets.legal import BLACK_BLUE_ROUND, BLACK_RED_ROUND
from warpleague.games.sheets.state import (
    NOBODY,
    Phase,
    Sheet,
    State,
    connections,
    filled_boxes,
    score_parts,
)


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@attrs.frozen
class Circle:
    """A written circle of the blue section."""

    value: int = attrs.field(metadata=_help("the value written into it, 1-6"))
    crossed: bool = attrs.field(metadata=_help("whether it is crossed out"))


@attrs.frozen
class SheetView:
    """One seat's sheet."""

    edges: list[int] = attrs.field(metadata=_help("the edges drawn, ascending"))
    filled: list[int] = attrs.field(metadata=_help("the boxes whose four edges are drawn, ascending"))
    wormholes: list[int] = attrs.field(metadata=_help("the boxes with a wormhole, ascending"))
    yellow: list[int] = attrs.field(metadata=_help("the yellow cells marked, ascending"))
    red: list[int] = attrs.field(metadata=_help("the values marked in the red section, ascending"))
    blue: list[Circle] = attrs.field(metadata=_help("the circles written, in the order of writing"))
    free_lines: int = attrs.field(metadata=_help("free lines stored"))
    rerolls: int = attrs.field(metadata=_help("rerolls stored"))
    points: int = attrs.field(metadata=_help("the score if the game ended now"))
    connections: int = attrs.field(metadata=_help("pairs of adjacent wormholes"))


@attrs.frozen
class View:
    """Everything a seat may know; the same for all seats."""

    round: int = attrs.field(metadata=_help("the round, 1-7"))
    turn: int = attrs.field(metadata=_help("the active seat"))
    phase: Phase = attrs.field(
        metadata=_help(
            "roll (the dice come next), keep, mark, take, use (a taken die must be marked), lines, over"
        )
    )
    actor: int | None = attrs.field(metadata=_help("the seat that must act; null: the dice, or nobody"))
    dice: dict[str, list[int] | int] = attrs.field(
        metadata=_help("by unit the value rolled last in this turn; the white pair has two")
    )
    hand: list[Unit] = attrs.field(metadata=_help("units still in hand"))
    kept: list[Unit] = attrs.field(metadata=_help("units kept and not yet marked"))
    offered: list[Unit] = attrs.field(metadata=_help("units discarded and not yet taken"))
    taken: Unit | None = attrs.field(metadata=_help("the unit the actor took and must use now"))
    retired: list[int] = attrs.field(metadata=_help("retired seats in the order of retirement"))
    shared_discards: bool = attrs.field(metadata=_help("the option of this name"))
    sheets: list[SheetView] = attrs.field(metadata=_help("the sheets by seat"))


@attrs.frozen
class LineSetup:
    """A line of the yellow section."""

    name: str = attrs.field(metadata=_help("row 1-6, column 1-6 or diagonal"))
    cells: list[int] = attrs.field(metadata=_help("its cells"))
    reward: Literal["free-line", "reroll"] = attrs.field(metadata=_help("what completing it brings"))


@attrs.frozen
class Setup:
    """The printed sheet and the fixed facts of the game."""

    rounds: int = attrs.field(metadata=_help("rounds of the game"))
    bonus_rounds: list[int] = attrs.field(metadata=_help("rounds whose own turn starts with a reroll"))
    circles: int = attrs.field(metadata=_help("circles in the blue section"))
    boxes: list[list[int]] = attrs.field(metadata=_help("for each box its top, bottom, left and right edge"))
    yellow_values: list[int] = attrs.field(metadata=_help("for each yellow cell its number"))
    yellow_lines: list[LineSetup] = attrs.field(metadata=_help("the lines of the yellow section"))
    black_uses: list[list[Literal["yellow", "red", "blue"]]] = attrs.field(
        metadata=_help("for each round, the first at index 0, the sections a black die may be used for")
    )


_UNIT_NAMES: Final = tuple(tuple(UNITS[unit] for unit in members(units)) for units in range(64))


def setup_json() -> JsonObject:
    """The facts of `Setup`, the same for every game."""
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


def _sheet_json(sheet: Sheet) -> JsonObject:
    return {
        "edges": members(sheet.edges),
        "wormholes": members(sheet.wormholes),
        "yellow": members(sheet.yellow),
        "red": members(sheet.red),
        "blue": [{"value": abs(value), "crossed": value < 0} for value in sheet.blue],
        "free_lines": sheet.free_lines,
        "rerolls": sheet.rerolls,
    }


def state_json(state: State) -> JsonObject:
    """The whole state as plain JSON."""
    white = {"white": [state.dice[0], state.dice[1]]} if state.dice[0] else {}
    others = {unit: value for unit, value in zip(UNITS[1:], state.dice[2:], strict=True) if value}
    return {
        "round": state.round,
        "turn": state.seat,
        "phase": state.phase,
        "actor": state.actor if state.actor >= 0 else None,
        "dice": {**white, **others},
        "hand": list(_UNIT_NAMES[state.hand]),
        "kept": list(_UNIT_NAMES[state.kept]),
        "offered": list(_UNIT_NAMES[state.offered]),
        "taken": UNITS[state.taken] if state.taken >= 0 else None,
        "retired": list(state.retired),
        "shared_discards": state.shared,
        "sheets": [_sheet_json(sheet) for sheet in state.sheets],
    }


def view_json(state: State) -> JsonObject:
    """The facts of `View`: the state, and on each sheet what follows from its marks."""
    view = state_json(state)
    for data, sheet in zip(view["sheets"], state.sheets, strict=True):
        data["filled"] = members(sheet.filled)
        data["points"] = sum(score_parts(sheet))
        data["connections"] = connections(sheet.wormholes)
    return view


def _sheet_from(data: JsonObject) -> Sheet:
    edges = mask(data["edges"])
    return Sheet(
        edges,
        filled_boxes(edges),
        mask(data["wormholes"]),
        mask(data["yellow"]),
        mask(data["red"]),
        tuple(-circle["value"] if circle["crossed"] else circle["value"] for circle in data["blue"]),
        data["free_lines"],
        data["rerolls"],
    )


def _units_from(names: list[str]) -> int:
    return mask([UNIT_NUMBER[name] for name in names])


def state_from(data: JsonObject) -> State:
    """The state that `state_json` or `view_json` wrote; trusts its caller that `data` is well formed."""
    dice = data["dice"]
    actor = data["actor"]
    if actor is None:
        actor = NOBODY if data["phase"] == "over" else CHANCE
    return State(
        tuple(_sheet_from(sheet) for sheet in data["sheets"]),
        data["shared_discards"],
        data["round"],
        data["turn"],
        data["phase"],
        actor,
        (*dice.get("white", (0, 0)), *(dice.get(unit, 0) for unit in UNITS[1:])),
        _units_from(data["hand"]),
        _units_from(data["kept"]),
        _units_from(data["offered"]),
        -1 if data["taken"] is None else UNIT_NUMBER[data["taken"]],
        tuple(data["retired"]),
    )
