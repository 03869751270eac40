"""The galaxy: its 92 squares, the eight ways, the four ships with their bases, and where every move ends.

Squares are numbered from 0 by y, then x; ships, suits and coins by the
order Suns, Moons, Crowns, Arms, so that ship s belongs to seat s >> 1, and coin c has suit c // 6, value c % 6.
"""

from __future__ import annotations

from typing import Final

# aliens B1: the first and last x of each row of tiles, from y 1, 2 up to y 17, 18.
_ROWS: Final = ((7, 10), (5, 8), (3, 8), (1, 6), (3, 8), (5, 10), (3, 8), (3, 6), (1, 4))

SQUARES: Final = tuple(
    (x, y) for y in range(1, 19) for low, high in (_ROWS[(y - 1) // 2],) for x in range(low, high + 1)
)
"""The coordinates (x, y) of every square by its number."""

INDEX: Final = {square: number for number, square in enumerate(SQUARES)}
COUNT: Final = len(SQUARES)

WAYS: Final = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
STEPS: Final = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))

SHIPS: Final = ("suns", "moons", "crowns", "arms")
"""Ships and suits have the same names."""

SIDES: Final = ("OrthogonAliens", "DiagonAliens")
COINS: Final = 24
"""Six values, 0 (null) to 5, of each suit (aliens B4)."""

STARTS: Final = tuple(INDEX[square] for square in ((10, 1), (10, 2), (1, 17), (1, 18)))
"""Where each ship starts: on a base of its side (aliens B2)."""

HOME: Final = tuple(STARTS.index(number) >> 1 if number in STARTS else -1 for number in range(COUNT))
"""The seat whose base a square is, or -1."""

AXES: Final = {"normal": ((0, 4), (2, 6), (1, 5), (3, 7)), "swapped": ((0, 4), (2, 6), (3, 7), (1, 5))}
"""For each value of the option `diagonals`, the two ways of each suit (aliens B3), in the order of `WAYS`."""


def _target(number: int, way: int, length: int) -> int:
    """The square `length` steps off, or -1 if a square on the way is missing (aliens T1)."""
    (x, y), (dx, dy) = SQUARES[number], STEPS[way]
    path = [INDEX.get((x + dx * step, y + dy * step), -1) for step in range(1, length + 1)]
    return -1 if -1 in path else path[-1]


TARGET: Final = tuple(
    _target(number, way, length) if length else -1
    for number in range(COUNT)
    for length in range(6)
    for way in range(8)
)
"""Where a move ends, -1 for nowhere, at index (square * 6 + length) * 8 + way."""
