"""Gauntlet: each challenger plays with every set of the bots that are not challengers."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.formats.api import Static
from warpleague.league.schedule.formats.round_robin import described, group_of, planned_orders
from warpleague.league.schedule.formats.seating import seatings, seatings_count
from warpleague.league.schedule.formats.spread import spread_sets
from warpleague.league.season.fixture import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.season.fixture import Table
    from warpleague.league.season.season import Season


def make(season: Season) -> Gauntlet:
    """The format of `season`."""
    return Gauntlet(season)


@attrs.frozen
class Gauntlet(Static):
    """Challengers against the field; challengers take turns."""

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
        if season.seating == 1:
            return group_of(season, table, round_).seats
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
