"""Gauntlet: each challenger plays with every set of the bots that are not challengers."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import attrs

from warpleague.league.formats.api import Group, Static
from warpleague.league.formats.round_robin import described
from warpleague.league.formats.seating import seatings, seatings_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.season import Season


def make(season: Season) -> Gauntlet:
    """The format of `season`."""
    return Gauntlet(season)


@attrs.frozen
class Gauntlet(Static):
    """Challengers against the field; challengers take turns."""

    season: Season

    @property
    def challengers(self) -> list[int]:
        """The challengers; the first bot if the file names none."""
        names = self.season.names
        return [names.index(name) for name in self.season.format.challengers] or [0]

    def groups(self) -> Iterator[Group]:
        """A round plays one deal at every table."""
        form, k, challengers = self.season.format, self.season.players, self.challengers
        field = [bot for bot in range(len(self.season.bots)) if bot not in challengers]
        for round_ in range(form.deals):
            for turn, others in enumerate(combinations(field, k - 1)):
                for challenger in challengers:
                    table = (challenger, *others)
                    # A challenger would always sit first.
                    yield Group(table, tuple(seatings(form.seats, table, round_ + turn)), round_)

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
