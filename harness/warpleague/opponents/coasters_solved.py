"""The solved duels of coasters: the chance to win of every position with one ship each.

`coasters_duel.xz` has a byte for each: the chance of the seat to move in 255ths. The bytes are ordered by galaxy, its
hit points, the other's, its pose, the other's. `scripts/solve_coasters.py` makes the file. Galaxies and poses are
those of the engine, turned and shifted so that the coaster of the seat to move lies at the origin as in rotation 0.
"""

from __future__ import annotations

import lzma
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warpleague.games.coasters.geometry import Systems

PLACES: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""Where the other coaster may lie: its number is 4 x this place + its rotation."""
POSES: Final = 72


@cache
def unpack() -> bytes:
    """The bytes of the file, which are unpacked once."""
    return lzma.decompress(files(__package__).joinpath("coasters_duel.xz").read_bytes())


class Solved:
    """The chances in one galaxy of two coasters."""

    def __init__(self, systems: Systems) -> None:
        self._views = [_seen_from(systems, seat) for seat in (0, 1)]

        self._first: tuple[float, ...] = ()

    def first_chances(self) -> tuple[float, ...]:
        """For each pose of seat 0 on its coaster the chance of seat 0 if the other answers it as well as possible."""
        if not self._first:
            whole = (3, 3)
            self._first = tuple(
                min(self.chance(0, (pose, other), whole) for other in range(36, POSES)) for pose in range(36)
            )
        return self._first

    def chance(self, seat: int, ships: tuple[int, ...], hits: tuple[int, ...]) -> float:
        """The chance to win of `seat`, which rolls next."""
        number, poses = self._views[seat]
        mine, theirs = poses[ships[seat]], poses[ships[1 - seat]]
        at = ((number * 3 + hits[seat] - 1) * 3 + hits[1 - seat] - 1) * POSES + mine
        return unpack()[at * POSES + theirs] / 255


@lru_cache(maxsize=64)
def solution(systems: Systems) -> Solved:
    """The solution of the galaxy with these two coasters."""
    return Solved(systems)


def _seen_from(systems: Systems, seat: int) -> tuple[int, list[int]]:
    """The galaxy's number, and for each pose its number there."""
    mine, theirs = systems[seat], systems[1 - seat]
    assert mine is not None
    assert theirs is not None
    back = -mine[2] % 4
    x, y = theirs[0] - mine[0], theirs[1] - mine[1]
    for _ in range(back):
        x, y = -y, x
    number = 4 * PLACES.index((x, y)) + (theirs[2] + back) % 4
    poses = []
    for pose in range(POSES):
        square, way = divmod(pose, 4)
        colour, inner = divmod(square, 9)
        row, column = divmod(inner, 3)
        for _ in range(back):
            row, column = column, 2 - row
        first = 0 if colour == seat else 9
        poses.append(4 * (first + 3 * row + column) + (way + back) % 4)
    return number, poses
