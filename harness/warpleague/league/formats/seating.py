"""Seat orders: which orders a table plays on one deal."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.config import FormatTable, Seating
    from warpleague.league.formats.api import Table


def seatings(kind: Seating, table: Table, shift: int) -> Iterator[Table]:
    """The seat orders of `table`, the one rotated by `shift` first."""
    k = len(table)
    turned = table[shift % k :] + table[: shift % k]
    if kind == "all":
        yield from permutations(turned)
    elif kind == "rotations":
        yield from (turned[i:] + turned[:i] for i in range(k))
    else:
        yield turned


def seatings_count(kind: Seating, players: int) -> int:
    """How many matches a table of `players` plays on one deal."""
    return {"all": factorial(players), "rotations": players, "fixed": 1}[kind]


def told_seatings(form: FormatTable) -> str:
    """The seat orders and dice of a format in words."""
    seats = {"all": "every seat order", "rotations": "every rotation", "fixed": "one seat order"}[form.seats]
    return seats + (", each match with dice of its own" if form.dice == "own" else "")
