"""Round-robin: every set of bots that fits a table plays all its deals."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import attrs

from warpleague.league.formats.api import Group, Static, counted
from warpleague.league.formats.sampling import orbits
from warpleague.league.formats.seating import seatings, seatings_count, told_seatings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.formats.api import Table
    from warpleague.league.season import Season


def make(season: Season) -> RoundRobin:
    """The format of `season`."""
    return RoundRobin(season)


@attrs.frozen
class RoundRobin(Static):
    """Every set of bots, one deal after another; memory does not grow with their number."""

    season: Season

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table; all bots have played about as often at any moment."""
        form = self.season.format
        n, k = len(self.season.bots), self.season.players
        for round_ in range(form.deals):
            for table in berger(n) if k == 2 else orbits(n, k):
                yield Group(table, tuple(seatings(form.seats, table, round_)), round_)

    def total(self, without: frozenset[int]) -> int:
        """All matches but those of the bots `without`."""
        form, k = self.season.format, self.season.players
        tables = comb(len(self.season.bots) - len(without), k)
        return tables * form.deals * seatings_count(form.seats, k)

    def describe(self) -> str:
        """Tables, deals and seat orders."""
        return described(self.season, "round-robin", comb(len(self.season.bots), self.season.players))


def described(season: Season, kind: str, tables: int) -> str:
    """A format of so many tables, each of which plays all deals."""
    deals = counted(season.format.deals, "deal")
    seats = told_seatings(season.format)
    return f"{kind}: {counted(tables, 'table')} of {season.players}, {deals} each, {seats}"


def berger(n: int) -> Iterator[Table]:
    """Every pair of `n` bots once, by Berger's tables (FIDE C.05 Annex 1): rounds in which each bot plays once.

    Each bot sits first and second equally often, within one.
    """
    even = n + n % 2
    last, circle = even - 1, even - 1
    for round_ in range(even - 1):
        pivot = round_ * even // 2 % circle
        pairs = [(pivot, last) if round_ % 2 == 0 else (last, pivot)]
        pairs += [((pivot + i) % circle, (pivot - i) % circle) for i in range(1, even // 2)]
        yield from (pair for pair in pairs if max(pair) < n)
