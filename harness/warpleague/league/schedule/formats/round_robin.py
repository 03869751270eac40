"""Round-robin: every set of bots that fits a table plays all its deals."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import attrs

from warpleague.counts import counted
from warpleague.league.schedule.formats.api import Static
from warpleague.league.schedule.formats.seating import describe_seatings, period, seatings, seatings_count
from warpleague.league.schedule.formats.spread import spread_sets
from warpleague.league.season.fixture import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpleague.league.season.fixture import Table
    from warpleague.league.season.season import Season


def make(season: Season) -> RoundRobin:
    """The format of `season`."""
    return RoundRobin(season)


@attrs.frozen
class RoundRobin(Static):
    """Every set of bots, one deal after another; memory does not grow with their number."""

    season: Season

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table; all bots have played about as often at any moment."""
        season = self.season
        n, k = len(season.bots), season.players
        for round_ in range(season.format.deals):
            for places in berger(n) if k == 2 else spread_sets(n, k):
                table = tuple(season.by_name[place] for place in places)
                yield group_of(season, table, round_)

    def total(self, without: frozenset[int]) -> int:
        """All matches but those of the bots `without`."""
        form, k = self.season.format, self.season.players
        tables = comb(len(self.season.bots) - len(without), k)
        return tables * form.deals * seatings_count(form.seats, k)

    def describe(self) -> str:
        """Tables, deals and seat orders."""
        return described(self.season, "round-robin", comb(len(self.season.bots), self.season.players))


def group_of(season: Season, table: Sequence[int], round_: int) -> Group:
    """A deal of `table` with its seat orders, the same wherever the bots stand in the file and whoever comes later.

    The deal depends on all at the table; in a solo league on none, since all share their deals, but for one whose
    author may have seen them.
    """
    bots = table if len(table) > 1 else [bot for bot in table if bot in season.renewed]
    return Group(tuple(bots), _orders(season, table, round_), round_)


def _orders(season: Season, table: Sequence[int], round_: int) -> tuple[Table, ...]:
    kind, k = season.format.seats, season.players
    if k > 2 and (planned := planned_orders(season, table, round_)) is not None:
        return planned
    if kind == "fixed" and (k == 2 or season.seating == 1):
        # The lower of two bots sits first if the sum of their places is odd: so each bot sits first in half of its
        # matches (Berger), and bots that arrive later change nothing.
        table = sorted(table, key=lambda bot: season.arrived[bot])
        return seatings(kind, table, round_, sum(season.arrived[bot] for bot in table) + 1)
    table = sorted(table, key=lambda bot: season.names[bot])
    return seatings(kind, table, round_, season.shuffled(table))


def planned_orders(
    season: Season, table: Sequence[int], round_: int, guest: int | None = None
) -> tuple[Table, ...] | None:
    """The seat orders of a table by the season's plan, in which `guest` is the challenger; None where it has none."""
    if season.seating == 1 or season.format.seats == "all":
        return None
    bots = {"" if bot == guest else season.names[bot]: bot for bot in table}
    orders = season.seat_plan.orders(tuple(bots), round_)
    return None if orders is None else tuple(tuple(bots[name] for name in order) for order in orders)


def described(season: Season, kind: str, tables: int) -> str:
    """A format of `tables` tables, each of which plays all deals; with a hint if that leaves seats uneven."""
    form, k = season.format, season.players
    deals = counted(form.deals, "deal")
    text = f"{kind}: {counted(tables, 'table')} of {k}, {deals} each, {describe_seatings(form)}"
    even = period(form.seats, k)
    if form.deals % even and k > 2:
        if form.seats == "fixed":
            text += f" (a multiple of {k} deals evens out seats, one of {even} also who sits next to whom)"
        else:
            text += f" (a multiple of {even} deals evens out who sits next to whom)"
    return text


def berger(n: int) -> Iterator[Table]:
    """Every pair of `n` bots once, by Berger's tables (FIDE C.05 Annex 1): rounds in which each bot plays once."""
    even = n + n % 2
    last, circle = even - 1, even - 1
    for round_ in range(even - 1):
        pivot = round_ * even // 2 % circle
        pairs = [(pivot, last) if round_ % 2 == 0 else (last, pivot)]
        pairs += [((pivot + i) % circle, (pivot - i) % circle) for i in range(1, even // 2)]
        yield from (pair for pair in pairs if max(pair) < n)
