"""Compares actions by playouts: those that do well get more, and all of them the same worlds and dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def best_of(
    numbers: Sequence[int], rounds: Sequence[tuple[int, int]], worth: Callable[[int, int], float]
) -> tuple[int, float | None]:
    """The number of the best action, and the mean of its playouts; None if there was nothing to compare.

    Each of the `rounds` says how many actions are left in it, and how many playouts each of them gets.
    `worth(number, trial)` plays one out; equal trials are to mean equal worlds and dice, so that luck weighs little
    in the comparison.
    """
    total = dict.fromkeys(numbers, 0.0)
    left = list(numbers)
    trial = 0
    for most, playouts in rounds:
        left = sorted(left, key=total.__getitem__, reverse=True)[:most]
        if len(left) == 1:
            break
        for _ in range(playouts):
            for number in left:
                total[number] += worth(number, trial)
            trial += 1
    best = max(left, key=total.__getitem__)
    return best, total[best] / trial if trial else None  # who is left took part in all trials
