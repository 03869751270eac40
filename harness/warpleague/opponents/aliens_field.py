"""How many turns ships of aliens are from an enemy base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from warpleague.games.aliens.geometry import AXES, COUNT, HOME, TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any

FAR: Final = 10.0
SWEEPS: Final = 12
"""Of value iteration, from the field before."""
FIRST_SWEEPS: Final = 40


def _ends() -> Array:
    """By square, die from 1 to 5, and a number up to 8: where a ship can end; the square itself if nowhere else."""
    ends = np.zeros((COUNT, 5, 8), np.int64)
    for square in range(COUNT):
        for die in range(1, 6):
            found = [TARGET[(square * 6 + die) * 8 + way] for way in range(8)]
            found = [end for end in found if end >= 0] or [square]
            ends[square, die - 1] = (found * 8)[:8]
    return ends


ENDS: Final = _ends()
GOALS: Final = tuple(np.array([home == 1 - side for home in HOME]) for side in (0, 1))
"""By side: the squares that it wants to land on."""


def jumps(diagonals: str, coin: int, square: int) -> list[int]:
    """Where the wormhole `coin` on a square leads."""
    if coin % 6 == 0:
        return []
    ends = [TARGET[(square * 6 + coin % 6) * 8 + way] for way in AXES[diagonals][coin // 6]]
    return [end for end in ends if end >= 0]


class Field:
    """The turns of a lone ship, for each side and square; `holes` are (square, coins that may lie there)."""

    def __init__(
        self, diagonals: str, holes: Sequence[tuple[int, Sequence[int]]] = (), before: Field | None = None
    ) -> None:
        self.diagonals = diagonals
        self.leads = [
            (square, [(jumps(diagonals, coin, square), coin % 6 == 0) for coin in coins])
            for square, coins in holes
        ]
        goals = [np.where(goal, 0.0, FAR).astype(np.float32) for goal in GOALS]
        start = goals if before is None else before.fields
        sweeps = FIRST_SWEEPS if before is None else SWEEPS
        self.fields: list[Array] = [self._iterate(side, start[side], sweeps) for side in (0, 1)]
        self.turns: list[list[float]] = [field.tolist() for field in self.fields]
        self.landing: list[list[float]] = [self._landing(field).tolist() for field in self.fields]

    def _landing(self, turns: Array) -> Array:
        """The turns after landing on each square by a die, where a wormhole may lie."""
        landing = turns.copy()
        for square, leads in self.leads:
            total = 0.0
            for ends, null in leads:
                total = total + (turns[ends].min() if ends else turns[square] + null)
            landing[square] = total / len(leads)
        return landing

    def _iterate(self, side: int, turns: Array, sweeps: int) -> Array:
        """Value iteration: a turn, and then the mean over the die of the best square it leads to."""
        for _ in range(sweeps):
            landing = self._landing(turns)
            turns = 1 + (landing + landing[ENDS].min(axis=-1).sum(axis=-1)) / 6
            turns[GOALS[side]] = 0
        return turns

    def saving(self, side: int, coin: int, square: int) -> float:
        """Roughly what a wormhole is worth to a side: turns saved on its square, weighed against those to go."""
        turns = self.turns[side]
        ends = jumps(self.diagonals, coin, square)
        if not ends:
            return -1.0 if coin % 6 == 0 else 0.0
        return float((turns[square] - min(turns[end] for end in ends)) / max(turns[square], 1.0) ** 0.5)
