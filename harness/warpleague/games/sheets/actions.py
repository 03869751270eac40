"""The actions of sheets: one class for each kind, one object for each action."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.sheets.geometry import CELLS, CROSS, EDGES
from warpleague.games.values import Interned, members

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
