"""Seat orders: which orders a table plays on one deal, so that seats and neighbours come out even.

In most games it matters who plays just before whom. All rotations of one order have the same neighbours, so each deal
has another base order, from a design in which every bot follows every other one equally often.

A design evens out the deals of one table. `SeatPlan` evens out the tables of a league: it chooses where the design of
each table begins, or which bot takes which seat. It draws from the season's secret, so no author can choose a name for
the seats that follow from it.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING

from warpleague.league.season.seat_plan import cycles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.season.config import FormatTable, Seating
    from warpleague.league.season.fixture import Table


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


def describe_seatings(form: FormatTable) -> str:
    """The seat orders and dice of a format in words."""
    seats = {"all": "every seat order", "rotations": "every rotation", "fixed": "one seat order"}[form.seats]
    return seats + (", each match with dice of its own" if form.dice == "own" else "")
