"""Sampled: a round-robin of some of the sets of bots, chosen so that bots, pairs and seats are as even as possible."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.formats.api import Static
from warpleague.league.schedule.formats.round_robin import described
from warpleague.league.schedule.formats.sampling import sample_tables, spreads
from warpleague.league.schedule.formats.seating import seatings, seatings_count
from warpleague.league.season.fixture import Group
from warpleague.league.season.seat_plan import cycles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.season.fixture import Table
    from warpleague.league.season.season import Season


def make(season: Season) -> Sampled:
    """The format of `season`."""
    return Sampled(season)


@attrs.frozen(slots=False)
class Sampled(Static):
    """The tables of a balanced sample, one deal after another; the tables of earlier entries are among them."""

    season: Season

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in the order to play them, with the bots of `Season.bots` in seat order."""
        season = self.season
        places = {name: place for place, name in enumerate(season.arrivals)}
        stages: list[tuple[frozenset[int], int]] = []
        for entry in season.entries:
            present = frozenset(places[name] for name, _ in entry.bots)
            if entry.tables is not None and len(present) >= season.players:
                stages.append((present, entry.tables))
        bots = dict(zip(season.arrived, range(len(season.bots)), strict=True))
        sampled = sample_tables(season.players, tuple(stages), long=season.seating == 1)
        return tuple(tuple(bots[place] for place in table) for table in sampled)

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table."""
        season, k = self.season, self.season.players
        turns, firsts = self._turns_and_firsts
        for round_ in range(season.format.deals):
            for table, turn, first in zip(self.tables, turns, firsts, strict=True):
                bots = [bot for bot in table if k > 1 or bot in season.renewed]
                yield Group(tuple(bots), seatings(season.format.seats, table, round_, first), round_, turn)

    @cached_property
    def _turns_and_firsts(self) -> tuple[list[int], list[int]]:
        """For each table: how often its bots sat together before, and the cyclic order that evens out neighbours."""
        seen: Counter[frozenset[int]] = Counter()
        turns, firsts = [], []
        follows: Counter[tuple[int, int]] = Counter()
        design = cycles(self.season.players)
        for table in self.tables:
            bots = frozenset(table)
            turns.append(seen[bots])
            seen[bots] += 1
            pairs = [[(table[a], table[b]) for a, b in zip(c, c[1:] + c[:1], strict=True)] for c in design]
            costs = [sum(follows[pair] for pair in order) for order in pairs]
            best = costs.index(min(costs))
            follows.update(pairs[best])
            firsts.append(0 if self.season.format.seats == "fixed" else best)
        return turns, firsts

    def total(self, without: frozenset[int]) -> int:
        """All matches but those of the bots `without`."""
        form = self.season.format
        tables = sum(without.isdisjoint(table) for table in self.tables)
        return tables * form.deals * seatings_count(form.seats, self.season.players)

    def describe(self) -> str:
        """Tables, deals, seat orders, and how even it is."""
        games, met, _ = spreads(range(len(self.season.bots)), self.tables)
        return (
            f"{described(self.season, 'round-robin', len(self.tables))}; "
            f"meetings of pairs differ by {met} at most, tables of bots by {games}"
        )
