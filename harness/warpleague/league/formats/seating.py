"""Seat orders: which orders a table plays on one deal, so that seats and neighbours come out even.

In most games it matters who plays just before whom. All rotations of one order have the same neighbours, so each deal
has another base order, from a design in which every bot follows every other one equally often.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.config import FormatTable, Seating
    from warpleague.league.formats.api import Table


@lru_cache
def cycles(k: int) -> tuple[Table, ...]:
    """Cyclic orders of 0..k-1: over all of them, each number is followed by each other one equally often.

    For a prime k these are the multiples of 1..k-1 modulo k. For others they are Walecki's Hamiltonian cycles
    (Lucas, Récréations mathématiques II, 1892), each in both directions.
    """
    if k < 3:
        return (tuple(range(k)),)
    if all(k % d for d in range(2, k)):
        return tuple(tuple(step * place % k for place in range(k)) for step in range(1, k))
    rest = k - 1
    zigzag = [(place + 1) // 2 * (1 if place % 2 else -1) for place in range(rest)]
    found: list[Table] = []
    for turn in range(rest):
        cycle = (rest, *((place + turn) % rest for place in zigzag))
        found += [cycle, (rest, *cycle[:0:-1])]
    return tuple(found)


def seatings(kind: Seating, table: Sequence[int], round_: int, first: int = 0) -> tuple[Table, ...]:
    """The seat orders that `table` plays in a round; `first` is the number of the one it begins with.

    With one order a deal, bots take each seat once in as many rounds as there are seats, and follow each other
    equally often in `period` rounds.
    """
    k = len(table)
    if kind == "all":
        return tuple(permutations(table))
    design = cycles(k)
    turn = round_ if kind == "rotations" else round_ // k
    order = tuple(table[place] for place in design[(first + turn) % len(design)])
    rotations = tuple(order[i:] + order[:i] for i in range(k))
    return rotations if kind == "rotations" else (rotations[(first + round_) % k],)


def period(kind: Seating, players: int) -> int:
    """After how many deals of a table all its bots have had the same seats and neighbours equally often."""
    if kind == "all":
        return 1
    return len(cycles(players)) * (players if kind == "fixed" else 1)


def seatings_count(kind: Seating, players: int) -> int:
    """How many matches a table of `players` plays on one deal."""
    return {"all": factorial(players), "rotations": players, "fixed": 1}[kind]


def told_seatings(form: FormatTable) -> str:
    """The seat orders and dice of a format in words."""
    seats = {"all": "every seat order", "rotations": "every rotation", "fixed": "one seat order"}[form.seats]
    return seats + (", each match with dice of its own" if form.dice == "own" else "")
