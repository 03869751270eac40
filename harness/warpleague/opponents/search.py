"""Compares actions by playouts: those that do well get more, and all of them the same worlds and dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpline.budget import OverBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpline.budget import Budget


def best_of(
    numbers: Sequence[int],
    rounds: Sequence[tuple[int, int]],
    worth: Callable[[int, int], float],
    budget: Budget,
) -> tuple[int, float | None]:
    """The number of the best action, and the mean of its playouts; the first and None if nothing was compared.

    Each of the `rounds` has the number of remaining actions, and the number of playouts for each of them.
    `worth(number, trial)` plays one to its end; equal trials must mean equal worlds and dice, so that luck has little
    weight in the comparison. When the `budget` is used up, the results so far decide; `worth` may raise `OverBudget`.
    """
    total = dict.fromkeys(numbers, 0.0)
    left = list(numbers)
    trial = 0
    results: dict[int, float] = {}
    """The results so far of the trial in progress."""
    for most, playouts in rounds:
        left = sorted(left, key=total.__getitem__, reverse=True)[:most]
        if len(left) == 1:
            break
        for _ in range(playouts):
            results.clear()
            try:
                for number in left:
                    budget.check()
                    results[number] = worth(number, trial)
            except OverBudget:
                return _best(total, left, trial) if trial or not results else _best(results, list(results), 1)
            for number, one in results.items():
                total[number] += one
            trial += 1
    return _best(total, left, trial)


def _best(total: dict[int, float], left: Sequence[int], trials: int) -> tuple[int, float | None]:
    """The best of those that are left, who took part in all trials."""
    best = max(left, key=total.__getitem__)
    return best, total[best] / trials if trials else None
