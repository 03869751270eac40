"""Positions of sheets as JSON, read and written, what is wrong with a hand-made one, and what each seat sees."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import attrs

from warpleague.games.api import CHANCE, JsonObject
from warpleague.games.reading import Misfit, Whole, distinct, json_fields, read, refuse, within
from warpleague.games.sheets.geometry import (
    ALL_UNITS,
    BONUS_ROUNDS,
    BOXES,
    CELLS,
    CIRCLES,
    EDGES,
    ROUNDS,
    SIDE,
    UNIT_NUMBER,
    UNITS,
    YELLOW_LINES,
    YELLOW_VALUES,
    Unit,
    edges_of,
)
from warpleague.games.sheets.rules import BLACK_BLUE_ROUND, BLACK_RED_ROUND, connections, score_parts, useful
from warpleague.games.sheets.state import NOBODY, PHASES, Phase, Sheet, State, filled_boxes
from warpleague.games.values import Cache, decoded, encoded, mask, members, template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_MAX: Final = Counter(line.reward for line in YELLOW_LINES) + Counter(reroll=len(BONUS_ROUNDS))
"""All rewards of a game, by their names (S2, S5)."""


def _pair(values: list[int]) -> None:
    if len(values) != 2:
        raise Misfit(f"must have 2 items, not {len(values)}")


def _discarded(unit: Unit) -> None:
    if unit == UNITS[0]:
        raise Misfit(f"must be one of {', '.join(UNITS[1:])}")


Value: TypeAlias = Annotated[int, Whole(1, SIDE)]
_Edges: TypeAlias = Annotated[list[Annotated[int, Whole(0, EDGES - 1)]], distinct]
_Boxes: TypeAlias = Annotated[list[Annotated[int, Whole(0, BOXES - 1)]], distinct]
_Cells: TypeAlias = Annotated[list[Annotated[int, Whole(0, CELLS - 1)]], distinct]
_Discarded: TypeAlias = Annotated[Unit, _discarded]


@attrs.frozen
class Circle:
    """A written circle of the blue section."""

    value: Value
    """the value written into it, 1-6"""
    crossed: bool
    """whether it is crossed out"""


@attrs.frozen
class _Marks:
    edges: _Edges
    wormholes: _Boxes
    yellow: _Cells
    red: Annotated[list[Value], distinct]
    blue: list[Circle]
    free_lines: int
    rerolls: int


@attrs.frozen
class Table:
    """What positions and views have in common: all but the sheets."""

    round: Annotated[int, Whole(1, ROUNDS)]
    """the round, 1-7"""
    turn: int
    """the active seat"""
    phase: Phase
    """roll (the dice come next), keep, mark, take, use (a taken die must be marked), lines, over"""
    actor: int | None
    """the seat that must act; null: the dice, or nobody"""
    dice: dict[Unit, Annotated[list[Value], _pair] | Value]
    """by unit the value rolled last in this turn; the white pair has two"""
    hand: list[Unit]
    """units still in hand"""
    kept: list[Unit]
    """units kept and not yet marked"""
    offered: list[_Discarded]
    """units discarded and not yet taken"""
    taken: _Discarded | None
    """the unit the actor took and must use now"""
    retired: Annotated[list[int], distinct]
    """retired seats in the order of retirement"""
    shared_discards: bool
    """the option of this name"""


@attrs.frozen
class Position(Table):
    """A whole position."""

    sheets: list[_Marks]


# -- writing ---------------------------------------------------------------------------------------------


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
_BLUE: Final = Cache[tuple[int, ...], bytes](
    lambda blue: encoded([{"value": abs(value), "crossed": value < 0} for value in blue])
)


def _worth(boxes: tuple[int, int]) -> bytes:
    filled, wormholes = boxes
    points = sum(score_parts(Sheet(filled=filled, wormholes=wormholes)))
    return b'"points":%d,"connections":%d' % (points, connections(wormholes))


_WORTH: Final = Cache[tuple[int, int], bytes](_worth)


def _sheet(marks: tuple[Any, ...]) -> bytes:
    edges, filled, wormholes, yellow, red, blue, free_lines, rerolls = marks
    return _SHEET % (
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


def dice_json(dice: Sequence[int]) -> JsonObject:
    """The dice that were rolled."""
    white = {"white": [dice[0], dice[1]]} if dice[0] else {}
    return {**white, **{unit: value for unit, value in zip(UNITS[1:], dice[2:], strict=True) if value}}


_POSITION: Final = template(Position).replace(b'"sheets":%b', b'"sheets":[%b]')
_SHEET: Final = template(_Marks).removesuffix(b"}") + b',"filled":%b,%b}'
_SHEETS: Final = Cache(_sheet)
"""From the fields of `Sheet`: its marks, and what follows from them."""
_NAMES: Final = tuple(encoded([UNITS[unit] for unit in members(units)]) for units in range(ALL_UNITS + 1))
"""Sets of units."""
_UNITS: Final = (*(encoded(unit) for unit in UNITS), b"null")
_PHASES: Final = {phase: encoded(phase) for phase in PHASES}
_ACTOR: Final = {actor: encoded(actor if actor >= 0 else None) for actor in (NOBODY, CHANCE, *range(4))}
_DICE: Final = Cache[tuple[int, ...], bytes](lambda dice: encoded(dice_json(dice)))


def view_json(state: State, seat: int) -> bytes:
    """The position, and on each sheet what follows from its marks: the view of every seat."""
    sheets = [
        _SHEETS[s.edges, s.filled, s.wormholes, s.yellow, s.red, s.blue, s.free_lines, s.rerolls]
        for s in state.sheets
    ]
    return _POSITION % (
        state.round, state.seat, _PHASES[state.phase], _ACTOR[state.actor], _DICE[state.dice],
        _NAMES[state.hand], _NAMES[state.kept], _NAMES[state.offered], _UNITS[state.taken],
        encoded(state.retired) if state.retired else b"[]", b"true" if state.shared else b"false",
        b",".join(sheets),
    )  # fmt: skip


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data: JsonObject = decoded(view_json(state, 0))
    data["sheets"] = [{key: sheet[key] for key in json_fields(_Marks)} for sheet in data["sheets"]]
    return data


# -- reading ---------------------------------------------------------------------------------------------


def _sheet_from(data: JsonObject) -> Sheet:
    edges = mask(data["edges"])
    blue = [-circle["value"] if circle["crossed"] else circle["value"] for circle in data["blue"]]
    return Sheet(
        edges, filled_boxes(edges), mask(data["wormholes"]), mask(data["yellow"]), mask(data["red"]),
        tuple(blue), data["free_lines"], data["rerolls"],
    )  # fmt: skip


def _units_from(names: list[str]) -> int:
    return mask([UNIT_NUMBER[name] for name in names])


def state_of(data: JsonObject) -> State:
    """The state that a position describes, or a view; all of it fits."""
    dice, actor = data["dice"], data["actor"]
    if actor is None:
        actor = NOBODY if data["phase"] == "over" else CHANCE
    return State(
        tuple(map(_sheet_from, data["sheets"])), data["shared_discards"], data["round"], data["turn"],
        data["phase"], actor, (*dice.get("white", (0, 0)), *[dice.get(unit, 0) for unit in UNITS[1:]]),
        _units_from(data["hand"]), _units_from(data["kept"]), _units_from(data["offered"]),
        -1 if data["taken"] is None else UNIT_NUMBER[data["taken"]], tuple(data["retired"]),
    )  # fmt: skip


def from_json(data: Any) -> State:
    """The position written as `data`; `PositionError` names the first field that does not fit."""
    form = read(Position, data)
    players, last = len(form.sheets), len(form.sheets) - 1
    refuse(not 1 <= players <= 4, "sheets", f"{players} sheets, but 1 to 4 can play")
    within("turn", form.turn, 0, last)
    within("retired", form.retired, 0, last)
    if form.actor is not None:
        within("actor", form.actor, 0, last)
    for seat, sheet in enumerate(form.sheets):
        _check_sheet(f"sheets[{seat}]", sheet, form.round - (seat > form.turn))
    for unit, value in form.dice.items():
        pair = isinstance(value, list)
        refuse(pair != (unit == "white"), f"dice.{unit}", f"must be {'one value' if pair else 'two values'}")
    _check_seats(form, players)
    _check_units(form, players)
    state = state_of(data)
    pending = {"mark": ("kept", members(state.kept)), "use": ("taken", [state.taken])}
    name, due = pending.get(form.phase, ("", []))
    for number in due:  # T2, T3
        use = useful(state.dice, state.round, state.sheets[state.actor], number)
        refuse(not use, name, f"{UNITS[number]!r} has no use on the sheet of seat {state.actor}")
    return state


def _check_sheet(path: str, sheet: _Marks, rounds: int) -> None:
    """Whether the marks fit each other, for a seat that has begun `rounds` rounds."""
    size = len(sheet.blue)
    refuse(size > CIRCLES, f"{path}.blue", f"{size} circles written, but there are {CIRCLES}")
    standing: set[int] = set()
    for i, circle in enumerate(sheet.blue):
        again = circle.value in standing and not circle.crossed
        refuse(again, f"{path}.blue[{i}]", f"{circle.value} stands in an open circle already (sheets S4)")
        if not circle.crossed:
            standing.add(circle.value)
    crossed, wormholes = size - len(standing), len(sheet.wormholes)
    text = f"{wormholes} wormholes, but {crossed} crossed-out circles in 'blue' (sheets S4)"
    refuse(crossed != wormholes, f"{path}.wormholes", text)
    # A position made by hand may hold all rewards of a game besides those that are still to come (S2, S5). So what
    # follows from it holds no more, either.
    to_come = Counter(line.reward for line in YELLOW_LINES if not set(sheet.yellow).issuperset(line.cells))
    to_come["reroll"] += sum(bonus > rounds for bonus in BONUS_ROUNDS)
    within(f"{path}.free_lines", sheet.free_lines, 0, 2 * _MAX["free-line"] - to_come["free-line"])
    within(f"{path}.rerolls", sheet.rerolls, 0, 2 * _MAX["reroll"] - to_come["reroll"])


def _check_seats(form: Position, players: int) -> None:
    """Whether the seats fit the phase."""
    phase, turn, actor, retired = form.phase, form.turn, form.actor, form.retired
    idle, over = phase in ("roll", "over"), phase == "over"
    refuse((actor is None) != idle, "actor", f"must {'not ' * (not idle)}be null in the phase {phase!r}")
    all_out = len(retired) == players
    refuse(all_out and not over, "phase", "must be 'over' when all seats are retired")
    gone = turn in retired and phase in ("roll", "keep", "mark")
    refuse(gone, "turn", f"seat {turn} is retired")
    refuse(actor in retired, "actor", f"seat {actor} is retired")
    others = players > 1 and phase in ("take", "use")
    wrong = phase != "lines" and not idle and (actor == turn) == others
    who = "another seat than" if others else "the seat of"
    refuse(wrong, "actor", f"in the phase {phase!r} {who} 'turn' must act")
    early = phase == "lines" or (over and not all_out)
    refuse(early and form.round != ROUNDS, "round", f"must be {ROUNDS} in the phase {phase!r}")


def _check_units(form: Position, players: int) -> None:
    """Whether the units fit the phase."""
    phase, taken, solo = form.phase, form.taken, players == 1
    in_hand = {(6, 0, 0), (4, 1, 1), (2, 2, 2)}
    sizes = {
        "roll": in_hand | {(0, 0, 3)} if solo else in_hand,
        "keep": in_hand,
        "mark": {(0, kept, 3) for kept in (1, 2, 3)},
        "take": {(0, 0, offered) for offered in ((3,) if solo else (1, 2, 3))},
        "use": {(0, 0, offered) for offered in range(3 + form.shared_discards)},
    }.get(phase, {(0, 0, 0)})
    groups = form.hand, form.kept, form.offered
    size = tuple(map(len, groups))
    text = f"must have {' or '.join(map(str, sorted(sizes)))} units in the phase {phase!r}, not {size}"
    refuse(size not in sizes, "hand, kept, offered", text)
    using = phase == "use"
    refuse((taken is None) == using, "taken", f"must {'not ' * using}be null in the phase {phase!r}")
    text = "the taken unit must be in it exactly with shared_discards"
    refuse(using and (taken in form.offered) != form.shared_discards, "offered", text)
    units = [unit for group in groups for unit in group]
    twice = len(set(units)) < len(units)
    refuse(twice, "hand, kept, offered", "a unit can be in one of them only")
    if phase == "roll":  # what is in hand comes next; in solo, all that was offered does
        units = [] if not form.hand else [*form.kept, *form.offered]
    for unit in [*units, taken] if taken else units:
        refuse(unit not in form.dice, "dice", f"the value of {unit!r} is missing")


# -- view ------------------------------------------------------------------------------------------------
# The view of a seat in sheets: everything, since nothing is hidden.


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
