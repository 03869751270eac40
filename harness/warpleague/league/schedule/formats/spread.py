"""Lists every set of bots once, in an order in which any part of the list is balanced."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb, gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.season.fixture import Table

_WINDOW = 48  # orbits that the next one is chosen from


def spread_sets(n: int, k: int) -> Iterator[Table]:
    """Every set of `k` of 0..n-1 once: an orbit of Z_n at a time, so that all have met about equally often so far.

    In a whole orbit each number is in as many sets as any other, and numbers of the same distance meet equally often.
    The next orbit is the one that evens out the distances. Needs memory for a few orbits only.
    """
    half = n // 2
    met = [0] * (half + 1)
    # A pair at distance n/2 is met by two of the n translations, and there are only n/2 such pairs.
    weight = [0] + [2 if 2 * d == n else 1 for d in range(1, half + 1)]
    blocks = _base_blocks(n, k)
    window: list[tuple[Table, list[int], int]] = []
    while True:
        for block, size in islice(blocks, _WINDOW - len(window)):
            distances = [min(y - x, n - y + x) for x, y in combinations(block, 2)]
            window.append((block, distances, size))
        if not window:
            return
        # The oldest of equals: none waits forever.
        costs = [sum(met[d] for d in distances) for _, distances, _ in window]
        block, distances, size = window.pop(costs.index(min(costs)))
        for d in distances:
            met[d] += weight[d]
        step = _step(n, block) if size == n else 1
        for t in range(size):
            yield tuple((x + t * step) % n for x in block)


def _base_blocks(n: int, k: int) -> Iterator[tuple[Table, int]]:
    """One set of each orbit, with the size of the orbit, in an order that looks random."""
    count = comb(n - 1, k - 1)
    stride = max(round(count * 0.6180339887), 1)
    while gcd(stride, count) > 1:
        stride += 1
    for index in range(count):
        block = (0, *_unranked(index * stride % count, n - 1, k - 1))
        # Every set of an orbit that has a 0 leads to the orbit; the least of these sets stands for it.
        if block != min(tuple(sorted((x - shift) % n for x in block)) for shift in block):
            continue
        size = next(t for t in range(1, n + 1) if n % t == 0 and {(x + t) % n for x in block} == set(block))
        yield block, size


def _unranked(rank: int, n: int, k: int) -> Table:
    """The set of number `rank` among all sets of `k` of 1..n, in colexicographic order."""
    unranked = []
    for size in range(k, 0, -1):
        top = size - 1
        while top + 1 < n and comb(top + 1, size) <= rank:
            top += 1
        rank -= comb(top, size)
        unranked.append(top + 1)
    return tuple(reversed(unranked))


def _step(n: int, block: Table) -> int:
    """A translation whose multiples keep the block apart from itself for long, so that bots play in turn."""
    differences = {(x - y) % n for x in block for y in block if x != y}

    def apart(step: int) -> int:
        return next((t for t in range(1, n) if t * step % n in differences), n)

    return max((step for step in range(1, n) if gcd(step, n) == 1), key=apart, default=1)
