"""Round-robin: every set of bots that fits a table plays all its deals. Gauntlet: every set with a challenger."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb, gcd
from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.formats.api import Static, describe_seatings, period, seatings, seatings_count
from warpleague.league.season.fixture import Group, Table
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpleague.league.season.season import Season


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
    if kind == "fixed" and k == 2:
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
    if season.format.seats == "all":
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


@attrs.frozen
class Gauntlet(Static):
    """Each challenger plays with every set of the bots that are not challengers; challengers take turns."""

    season: Season

    @property
    def challengers(self) -> list[int]:
        """The challengers, in the order of their names."""
        names = self.season.names
        return sorted((names.index(name) for name in self.season.challengers), key=lambda bot: names[bot])

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table.

        Challengers share their deals, seats and neighbours, so that they can be compared; but one that was entered
        with another content before gets deals of its own, since its author may have seen the dice.
        """
        season, k, challengers = self.season, self.season.players, self.challengers
        field = [bot for bot in season.by_name if bot not in challengers]
        for round_ in range(season.format.deals):
            for places in spread_sets(len(field), k - 1):
                others = tuple(field[place] for place in places)
                for challenger in challengers:
                    table = (challenger, *others)
                    bots = table if challenger in season.renewed else others
                    yield Group(bots, self._orders(table, round_), round_)

    def _orders(self, table: Table, round_: int) -> tuple[Table, ...]:
        """The seat orders follow from the field alone: the challenger, who comes first, has one place in them."""
        season = self.season
        planned = planned_orders(season, table, round_, guest=table[0])
        return planned or seatings(season.format.seats, table, round_, season.shuffled(table[1:]))

    def total(self, without: frozenset[int]) -> int:
        """All matches but those of the bots `without`."""
        form, k = self.season.format, self.season.players
        return self._tables(without) * form.deals * seatings_count(form.seats, k)

    def describe(self) -> str:
        """Tables, deals and seat orders."""
        return described(self.season, "gauntlet", self._tables(frozenset()))

    def _tables(self, without: frozenset[int]) -> int:
        challengers = len(set(self.challengers) - without)
        field = len(self.season.bots) - len(without) - challengers
        return challengers * comb(field, self.season.players - 1)


# -- the order of sets -----------------------------------------------------------------------------------
# Every set of bots once, in an order in which any part of the list is balanced.


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
    # Steps of the golden section: sets that follow each other differ much, wherever one begins. A stride without a
    # common divisor reaches each number once, so no list of those that were had is needed.
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
