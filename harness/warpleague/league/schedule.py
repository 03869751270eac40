"""The schedule: which matches a season has, and in which order.

It is a pure function of the season, and generates the matches one by one. `sampling` chooses tables when not all
are played; `season` gives ids and deal numbers.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, permutations
from math import comb, factorial
from typing import TYPE_CHECKING

import attrs

from warpleague.league.sampling import Table, orbits, sample_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.config import Seating
    from warpleague.league.sampling import Sample
    from warpleague.league.season import Season


@attrs.frozen
class Fixture:
    """A scheduled match.

    `number` counts the season's matches from 1 in schedule order; `seats` holds the bot in each seat;
    `group` numbers the matches that share one deal at one table: they follow each other without a gap. A match that
    has its own dice is a group of its own.
    """

    number: int
    id: str
    deal: int
    group: int
    seats: Table


class Schedule:
    """The matches of a season, iterable as often as wanted; memory does not grow with their number.

    A round plays one deal at every table; within it tables follow each other so that all bots have played about
    as often at any moment; the seat orders of a table follow each other on the same deal (duplicate).
    """

    def __init__(self, season: Season, without: frozenset[int] = frozenset()) -> None:
        self.season = season
        self._without = without

    def without(self, bots: frozenset[int]) -> Schedule:
        """The same matches with the same numbers, but for those in which one of `bots` plays."""
        if bots <= self._without:
            return self
        rest = Schedule(self.season, self._without | bots)
        rest.sample = self.sample  # it takes time to find, and is that of all bots
        return rest

    def __len__(self) -> int:
        return self._tables_left() * self.season.format.deals * self.seatings

    def __iter__(self) -> Iterator[Fixture]:
        season, number, group = self.season, 0, 0
        sampled, own = self.sample is not None, season.format.dice == "own"
        for round_ in range(season.format.deals):
            for turn, table in enumerate(self._tables()):
                if not self._without.isdisjoint(table):
                    number += self.seatings
                    group += 1
                    continue
                told = turn if sampled else 0
                deal = season.deal(table, told, round_)
                for seats in seatings(season.format.seats, table, round_ + self._shift(turn)):
                    number += 1
                    if own:
                        deal, group = season.deal(seats, told, round_), number
                    yield Fixture(number, season.match_id(deal, seats), deal, group, seats)
                group += 1

    @cached_property
    def sample(self) -> Sample | None:
        """The balanced sample of tables, if the season does not play them all."""
        tables = self.season.format.tables
        if tables == "all":
            return None
        return sample_tables(len(self.season.bots), self.season.players, tables)

    @cached_property
    def tables(self) -> int:
        """How many tables a round has, including those of bots that are left out."""
        return self._count_tables(frozenset())

    def _tables_left(self) -> int:
        return self._count_tables(self._without) if self._without else self.tables

    def _count_tables(self, without: frozenset[int]) -> int:
        n, k = len(self.season.bots) - len(without), self.season.players
        if self.sample is not None:
            return sum(without.isdisjoint(table) for table in self.sample.tables)
        if self.season.format.kind == "gauntlet":
            challengers = len(set(self._challengers()) - without)
            return challengers * comb(n - challengers, k - 1)
        return comb(n, k)

    @property
    def seatings(self) -> int:
        """How many matches a table plays on one deal."""
        k = self.season.players
        return {"all": factorial(k), "rotations": k, "fixed": 1}[self.season.format.seats]

    def describe(self) -> str:
        """One line: what is played, and how even it is where that is not plain."""
        form = self.season.format
        seats = {"all": "every seat order", "rotations": "every rotation", "fixed": "one seat order"}[
            form.seats
        ]
        dice = ", each match with dice of its own" if form.dice == "own" else ""
        text = (
            f"{form.kind}: {_count(self.tables, 'table')} of {self.season.players}, "
            f"{_count(form.deals, 'deal')} each, {seats}{dice} = {_count(len(self), 'match', 'matches')}"
        )
        if self.sample is not None:
            text += (
                f"; meetings of pairs differ by {self.sample.meetings_spread} at most, "
                f"tables of bots by {self.sample.games_spread}"
            )
        return text

    def _challengers(self) -> list[int]:
        names = self.season.names
        return [names.index(name) for name in self.season.format.challengers] or [0]

    def _tables(self) -> Iterator[Table]:
        n, k = len(self.season.bots), self.season.players
        if self.sample is not None:
            return iter(self.sample.tables)
        if self.season.format.kind == "gauntlet":
            return gauntlet(n, k, self._challengers())
        return berger(n) if k == 2 else orbits(n, k)

    def _shift(self, turn: int) -> int:
        # Berger tables, orbits and samples are seated evenly already; a gauntlet's challenger always sits first, and
        # each challenger meets the others in the same order.
        return turn // len(self._challengers()) if self.season.format.kind == "gauntlet" else 0


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


def gauntlet(n: int, k: int, challengers: list[int]) -> Iterator[Table]:
    """Each challenger with every set of k-1 bots that are not challengers; challengers take turns."""
    field = [bot for bot in range(n) if bot not in challengers]
    for others in combinations(field, k - 1):
        for challenger in challengers:
            yield (challenger, *others)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
