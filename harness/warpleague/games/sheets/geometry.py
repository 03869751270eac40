"""The printed sheet, its white and yellow sections (sheets S1, S2), and the actions: one object for each.

Sets of edges, boxes and yellow cells are integers: bit i stands for number i. Boxes are 0-35, yellow cells 0-20, both
row by row from the top left; edges are 0-41 horizontal (7 rows of 6), then 42-83 vertical (6 rows of 7).
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.values import Interned, mask, members

SIDE: Final = 6
"""Boxes in a row or column of the white section."""
BOXES: Final = SIDE * SIDE
EDGES: Final = 2 * SIDE * (SIDE + 1)
VERTICAL: Final = SIDE * (SIDE + 1)
"""The number of the first vertical edge."""
ALL_EDGES: Final = (1 << EDGES) - 1
CIRCLES: Final = 7
"""Circles in the blue section (S4)."""
ROUNDS: Final = 7
BONUS_ROUNDS: Final = (4, 6, 7)
"""Rounds in which a reroll comes at the start of the own turn (S5)."""


def edges_of(box: int) -> tuple[int, int, int, int]:
    """The numbers of the top, bottom, left and right edge of `box`."""
    row, column = divmod(box, SIDE)
    top = row * SIDE + column
    left = VERTICAL + row * (SIDE + 1) + column
    return top, top + SIDE, left, left + 1


def place_of(edge: int) -> tuple[int, int, bool]:
    """Row and column (0-6) of the dot where `edge` starts, and whether it goes down instead of right."""
    if edge < VERTICAL:
        return (*divmod(edge, SIDE), False)
    return (*divmod(edge - VERTICAL, SIDE + 1), True)


def side_of(edge: int) -> tuple[str, int]:
    """Which side of which box `edge` is, in words and by number: of one of its two boxes, if it has two."""
    row, column, down = place_of(edge)
    sides, last = (("left", "right"), column) if down else (("top", "bottom"), row)
    return sides[last == SIDE], min(row, SIDE - 1) * SIDE + min(column, SIDE - 1)


BOX_EDGES: Final = tuple(mask(edges_of(box)) for box in range(BOXES))
"""For each box the set of its four edges."""

EDGE_BOXES: Final = tuple(
    tuple((edges, 1 << box) for box, edges in enumerate(BOX_EDGES) if edges >> edge & 1)
    for edge in range(EDGES)
)
"""For each edge the one or two boxes beside it: (the box's edges, the box's bit)."""

NEAR: Final = tuple(
    tuple((edges, 1 << other) for other, edges in enumerate(BOX_EDGES) if edges & BOX_EDGES[box])
    for box in range(BOXES)
)
"""For each box itself and its orthogonal neighbours: those that completing it may fill."""

CROSS: Final = (
    0,
    *(mask([box for box in range(BOXES) if v - 1 in divmod(box, SIDE)]) for v in range(1, SIDE + 1)),
)
"""For each value 1-6 the 11 boxes of row v and column v (S3, S4); index 0 is empty."""

WHITE: Final = tuple(
    tuple(
        BOX_EDGES[(a - 1) * SIDE + b - 1] | BOX_EDGES[(b - 1) * SIDE + a - 1] if a and b else 0
        for b in range(SIDE + 1)
    )
    for a in range(SIDE + 1)
)
"""For each pair of white dice the edges of the one or two boxes they name (T2)."""

NOT_FIRST_COLUMN: Final = mask([box for box in range(BOXES) if box % SIDE])
"""All boxes that have a left neighbour: keeps a shift by one from wrapping round a row."""

TRIANGLE: Final = ((1, 2, 3, 4, 5, 6), (4, 5, 6, 1, 2), (2, 3, 1, 5), (6, 4, 2), (3, 1), (5,))
"""The rows of the yellow section (S2)."""

YELLOW_VALUES: Final = tuple(value for row in TRIANGLE for value in row)
CELLS: Final = len(YELLOW_VALUES)

YELLOW: Final = (0, *(mask([i for i, own in enumerate(YELLOW_VALUES) if own == v]) for v in range(1, 7)))
"""For each value 1-6 the yellow cells that show it; index 0 is empty."""

ROW_START: Final = (0, 6, 11, 15, 18, 20)
"""The first cell of each row of the triangle."""


@attrs.frozen
class YellowLine:
    """A line of the yellow section: a name for people, its cells, and what completing it brings (S2)."""

    name: str
    cells: tuple[int, ...]
    reward: str


def _yellow_lines() -> tuple[YellowLine, ...]:
    rows = [tuple(start + j for j in range(SIDE - i)) for i, start in enumerate(ROW_START)]
    columns = [tuple(ROW_START[i] + j for i in range(SIDE - j)) for j in range(SIDE)]
    lines = [
        YellowLine(f"{kind} {number}", cells, "reroll" if len(cells) == 3 else "free-line")
        for kind, group in (("row", rows), ("column", columns))
        for number, cells in enumerate(group, 1)
    ]
    return (*lines, YellowLine("diagonal", tuple(ROW_START[i] + i for i in range(3)), "reroll"))


YELLOW_LINES: Final = _yellow_lines()
"""Six rows, six columns, the middle diagonal."""

CELL_LINES: Final = tuple(
    tuple((mask(line.cells), line) for line in YELLOW_LINES if cell in line.cells) for cell in range(CELLS)
)
"""For each yellow cell the lines through it: (the line's cells as a set, the line)."""


# -- actions -----------------------------------------------------------------------------------------------


Unit = Literal["white", "black-1", "black-2", "red", "yellow", "blue"]

UNITS: Final[tuple[Unit, ...]] = ("white", "black-1", "black-2", "red", "yellow", "blue")
"""The units in the order of the dice (C1); a set of units is an integer with bit i for unit i."""
WHITE_UNIT, BLACK_1, BLACK_2, RED_UNIT, YELLOW_UNIT, BLUE_UNIT = range(6)
UNIT_NUMBER: Final[dict[str, int]] = {unit: number for number, unit in enumerate(UNITS)}
ALL_UNITS: Final = 63


@attrs.frozen(eq=False)
class Keep(Interned):
    """Keep one unit in hand and discard another (T1)."""

    do: ClassVar[Literal["keep"]] = "keep"
    unit: Unit
    """the unit to keep"""
    discard: Unit
    """the unit to discard, never the white pair"""


@attrs.frozen(eq=False)
class Reroll(Interned):
    """Spend a reroll: roll all dice in hand again (T1, T4)."""

    do: ClassVar[Literal["reroll"]] = "reroll"


@attrs.frozen(eq=False)
class Line(Interned):
    """Use the white pair: draw one missing edge of a box that the two dice name (T2)."""

    do: ClassVar[Literal["line"]] = "line"
    edge: int
    """the edge to draw, 0-83"""


@attrs.frozen(eq=False)
class Yellow(Interned):
    """Use a yellow or black die: mark a yellow number equal to its value (T2)."""

    do: ClassVar[Literal["yellow"]] = "yellow"
    cell: int
    """the yellow cell to mark, 0-20"""
    unit: Unit
    """the die used"""


@attrs.frozen(eq=False)
class Red(Interned):
    """Use a red or black die: mark its value in the red section and complete a box (S3)."""

    do: ClassVar[Literal["red"]] = "red"
    value: int
    """the value of the die, 1-6"""
    box: int | None
    """the box to complete, 0-35; null when none is left"""
    unit: Unit
    """the die used"""


@attrs.frozen(eq=False)
class Blue(Interned):
    """Use a blue or black die: write its value, or cross it out and draw a wormhole (S4)."""

    do: ClassVar[Literal["blue"]] = "blue"
    value: int
    """the value of the die, 1-6"""
    box: int | None
    """the box for the wormhole, 0-35; null when writing"""
    unit: Unit
    """the die used"""


@attrs.frozen(eq=False)
class Take(Interned):
    """Take a discarded die, to be used next (T3, T4)."""

    do: ClassVar[Literal["take"]] = "take"
    unit: Unit
    """the die to take"""


@attrs.frozen(eq=False)
class FreeLine(Interned):
    """Spend a free line: draw any missing edge (T5)."""

    do: ClassVar[Literal["free-line"]] = "free-line"
    edge: int
    """the edge to draw, 0-83"""


@attrs.frozen(eq=False)
class Pass(Interned):
    """Take no die (T3, T4), or draw no more lines at the end of the game (T5)."""

    do: ClassVar[Literal["pass"]] = "pass"


Action: TypeAlias = Keep | Reroll | Line | Yellow | Red | Blue | Take | FreeLine | Pass

ACTIONS: Final[tuple[type, ...]] = (Keep, Reroll, Line, Yellow, Red, Blue, Take, FreeLine, Pass)

_YELLOW_USERS: Final = (BLACK_1, BLACK_2, YELLOW_UNIT)
_RED_USERS: Final = (BLACK_1, BLACK_2, RED_UNIT)
_BLUE_USERS: Final = (BLACK_1, BLACK_2, BLUE_UNIT)

REROLL: Final = Reroll()
PASS: Final = Pass()
KEEPS: Final = {
    (keep, discard): Keep(UNITS[keep], UNITS[discard])
    for keep in range(6)
    for discard in range(1, 6)
    if keep != discard
}
"""By the numbers of the units kept and discarded."""
LINES: Final = tuple(Line(edge) for edge in range(EDGES))
FREE_LINES: Final = tuple(FreeLine(edge) for edge in range(EDGES))
YELLOWS: Final = {unit: tuple(Yellow(cell, UNITS[unit]) for cell in range(CELLS)) for unit in _YELLOW_USERS}
"""By unit, then cell."""
REDS: Final = {
    (unit, v): {box: Red(v, box, UNITS[unit]) for box in (*members(CROSS[v]), None)}
    for unit in _RED_USERS
    for v in range(1, 7)
}
"""By unit and value, then box (None: nothing to complete)."""
BLUES: Final = {
    (unit, v): {box: Blue(v, box, UNITS[unit]) for box in (*members(CROSS[v]), None)}
    for unit in _BLUE_USERS
    for v in range(1, 7)
}
"""By unit and value, then box (None: the value is written)."""
TAKES: Final = tuple(Take(unit) for unit in UNITS)
"""By unit; the first, of the white pair, is never legal."""
