"""The printed sheet: numbering and look-up tables of its white and yellow sections (sheets S1, S2).

Sets of edges, boxes and yellow cells are integers: bit i stands for number i. Boxes are 0-35, yellow cells 0-20, both
row by row from the top left; edges are 0-41 horizontal (7 rows of 6), then 42-83 vertical (6 rows of 7).
"""

from __future__ import annotations

from typing import Final

import attrs

from warpleague.games.values import mask

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
