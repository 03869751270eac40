"""Actions and decisions of sheets in words: a sentence for each action, and a heading for each decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from warpleague.games.sheets.actions import (
    BLACK_1,
    BLACK_2,
    UNIT_NUMBER,
    UNITS,
    WHITE_UNIT,
    Action,
    Blue,
    FreeLine,
    Keep,
    Line,
    Pass,
    Red,
    Reroll,
    Take,
    Yellow,
)
from warpleague.games.sheets.geometry import (
    CELL_LINES,
    EDGE_BOXES,
    ROW_START,
    SIDE,
    YELLOW_VALUES,
    place_of,
)
from warpleague.games.values import members
from warpleague.text import counted

if TYPE_CHECKING:
    from warpleague.games.sheets.state import State

_REWARDS: Final = {"free-line": "a free line", "reroll": "a reroll"}


def phrase(state: State, action: Action) -> str:
    """`action` as a sentence."""
    match action:
        case Keep(unit=unit, discard=discard):
            return f"Keep {_die(state, unit)} and give away {_die(state, discard)}"
        case Reroll():
            return "Spend a reroll: roll all dice in hand again"
        case Line(edge=edge):
            return f"Draw {_edge(edge)} with {_die(state, 'white')}{_fills(state, edge)}"
        case FreeLine(edge=edge):
            return f"Draw {_edge(edge)} with a free line{_fills(state, edge)}"
        case Yellow(cell=cell, unit=unit):
            return f"Mark the yellow {_cell(cell)} with {_die(state, unit)}{_rewards(state, cell)}"
        case Red(value=value, box=box, unit=unit):
            gain = (
                ": no box is left to complete" if box is None else f" and complete the box in {_place(box)}"
            )
            return f"Mark the red {value} with {_die(state, unit)}{gain}"
        case Blue(value=value, box=None, unit=unit):
            return f"Write {value} into a blue circle with {_die(state, unit)}"
        case Blue(value=value, box=box, unit=unit):
            assert box is not None
            return f"Cross out the blue {value} with {_die(state, unit)} and draw a wormhole in {_place(box)}"
        case Take(unit=unit):
            return f"Take {_die(state, unit)}"
        case Pass():
            return "Draw no more lines" if state.phase == "lines" else "Take no die"
        case _:
            assert_never(action)


def heading(state: State, seat: int) -> str:
    """The decision of `seat` as a heading."""
    if state.phase == "keep":
        return "Choose a die to keep, and one to give away"
    if state.phase == "mark":
        return f"Use what you kept: {', '.join(_die(state, UNITS[unit]) for unit in members(state.kept))}"
    if state.phase == "take":
        return "Take one of the dice given away, or none"
    if state.phase == "use":
        return f"Use the die you took: {_die(state, UNITS[state.taken])}"
    return f"Draw {counted(state.sheets[seat].free_lines, 'free line')}, the last of the game"


def _die(state: State, name: str) -> str:
    """A die with its value, or the white pair; equal black dice are told apart."""
    unit = UNIT_NUMBER[name]
    if unit == WHITE_UNIT:
        return f"the white pair {state.dice[0]}-{state.dice[1]}"
    value = state.dice[unit + 1]
    if unit not in (BLACK_1, BLACK_2):
        return f"{name} {value}"
    if state.dice[BLACK_1 + 1] == state.dice[BLACK_2 + 1]:
        return f"the {'first' if unit == BLACK_1 else 'second'} black {value}"
    return f"black {value}"


def _place(box: int) -> str:
    row, column = divmod(box, SIDE)
    return f"row {row + 1}, column {column + 1}"


def _edge(edge: int) -> str:
    """An edge by one of its boxes."""
    row, column, down = place_of(edge)
    sides, last = (("left", "right"), column) if down else (("top", "bottom"), row)
    box = min(row, SIDE - 1) * SIDE + min(column, SIDE - 1)
    return f"the {sides[last == SIDE]} edge of the box in {_place(box)}"


def _fills(state: State, edge: int) -> str:
    """Whether an edge is the last one of a box, or of both beside it."""
    edges = state.sheets[state.actor].edges | 1 << edge
    filled = sum(edges & own == own for own, _ in EDGE_BOXES[edge])
    return f", which fills {counted(filled, 'box')}" if filled else ""


def _cell(cell: int) -> str:
    row = max(number for number, start in enumerate(ROW_START) if start <= cell)
    return f"{YELLOW_VALUES[cell]} in row {row + 1}, column {cell - ROW_START[row] + 1}"


def _rewards(state: State, cell: int) -> str:
    """What the lines bring that a yellow mark completes."""
    yellow = state.sheets[state.actor].yellow | 1 << cell
    had = [_REWARDS[line.reward] for cells, line in CELL_LINES[cell] if yellow & cells == cells]
    return f", which brings {' and '.join(had)}" if had else ""
