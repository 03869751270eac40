"""Sampled: a round-robin of some of the sets of bots, chosen so that bots, pairs and seats are as even as possible."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from warpleague.league.formats.api import Group, Static
from warpleague.league.formats.round_robin import described
from warpleague.league.formats.sampling import sample_tables
from warpleague.league.formats.seating import seatings, seatings_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.formats.sampling import Sample
    from warpleague.league.season import Season


def make(season: Season) -> Sampled:
    """The format of `season`."""
    return Sampled(season)


@attrs.frozen(slots=False)
class Sampled(Static):
    """The tables of a balanced sample, one deal after another."""

    season: Season

    @cached_property
    def sample(self) -> Sample:
        """The balanced sample of tables."""
        tables = self.season.format.tables
        assert tables != "all"
        return sample_tables(len(self.season.bots), self.season.players, tables)

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table."""
        form = self.season.format
        for round_ in range(form.deals):
            for turn, table in enumerate(self.sample.tables):
                yield Group(table, tuple(seatings(form.seats, table, round_)), round_, turn)

    def total(self, without: frozenset[int]) -> int:
        """All matches but those of the bots `without`."""
        form = self.season.format
        tables = sum(without.isdisjoint(table) for table in self.sample.tables)
        return tables * form.deals * seatings_count(form.seats, self.season.players)

    def describe(self) -> str:
        """Tables, deals, seat orders, and how even it is."""
        sample = self.sample
        return (
            f"{described(self.season, 'round-robin', len(sample.tables))}; "
            f"meetings of pairs differ by {sample.meetings_spread} at most, "
            f"tables of bots by {sample.games_spread}"
        )
