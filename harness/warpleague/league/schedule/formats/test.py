"""Test of strength: two bots play the same deals until a sequential test decides which is better.

The first bot of the league is the new one, the second the old one, the others the field. Without a field they play
each other; at tables of one, and beside a field, each takes the same seats on the same deal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.counts import counted
from warpleague.league.schedule.formats.seating import describe_seatings, seatings, seatings_count
from warpleague.league.schedule.formats.strength_test import Deal, StrengthTest
from warpleague.league.season.fixture import Group

if TYPE_CHECKING:
    from warpleague.league.schedule.formats.api import Batches
    from warpleague.league.season.fixture import Outcome
    from warpleague.league.season.season import Season

NEW, OLD = 0, 1
_FEWEST, _MAX = 4, 64  # deals in a batch
_SHARE = 8  # a batch is so small a part of what was played: what is played beyond the end is wasted


def make(season: Season) -> Test:
    """The format of `season`."""
    return Test(season)


@attrs.frozen
class Test:
    """Batches of whole deals, until the test decides or no more may be played."""

    season: Season
    ahead: int | None = 1

    @property
    def matches_a_deal(self) -> int:
        """How many matches one deal takes."""
        orders = seatings_count(self.season.format.seats, self.season.players)
        return orders if self._duel else 2 * orders

    @property
    def most(self) -> int | None:
        """How many deals are played at most, None without a limit."""
        form = self.season.format
        limit = form.fixed or form.max_matches
        return None if limit is None else max(limit // self.matches_a_deal, 1)

    def batches(self) -> Batches:
        """Deals, each with all its seat orders for both bots."""
        test, played, most = StrengthTest.of(self.season), 0, self.most
        waiting = 0
        while True:
            size = min(max(_FEWEST, played // _SHARE), _MAX)
            if most is not None:
                size = min(size, most - played)
            outcomes = yield [self.group(round_) for round_ in range(played, played + size)]
            played += size
            waiting += 1 if size else 0
            if outcomes:
                waiting -= 1
                for outcome in outcomes:
                    _count(test, outcome)
                    if test.decision:
                        return True
            if most is not None and played >= most and not waiting:
                return False

    def total(self, without: frozenset[int]) -> int | None:
        """Known beforehand only for a fixed number of matches."""
        if without & {NEW, OLD}:
            return 0
        return self.most * self.matches_a_deal if self.season.format.fixed and self.most else None

    def describe(self) -> str:
        """Who is tested, and how."""
        form, names = self.season.format, self.season.names
        beside = f" beside {', '.join(names[2:])}, in the same seats of the same deals" if names[2:] else ""
        if form.fixed:
            size = f"{counted(self.most or 1, 'deal')}"
        else:
            unit = " in normalised Elo" if form.unit == "normalized" else ""
            size = f"{form.elo0:g} against {form.elo1:g}{unit}, errors {form.alpha:g} and {form.beta:g}"
        return f"test: {names[NEW]} against {names[OLD]}{beside}, {size}, {describe_seatings(form)}"

    @property
    def _duel(self) -> bool:
        """Whether both bots sit at one table."""
        return self.season.players == 2 and len(self.season.bots) == 2

    def group(self, round_: int) -> Group:
        """The matches of a deal: all seat orders of both bots."""
        season = self.season
        k, kind = season.players, season.format.seats
        if self._duel:
            orders = tuple(seatings(kind, (NEW, OLD), round_))
        else:
            # The field sits in another order on each deal, so that neighbours change, too.
            field = tuple(range(2, 1 + k))
            turn = round_ // k % max(len(field), 1)
            with_new = tuple(seatings(kind, (NEW, *field[turn:], *field[:turn]), round_))
            with_old = tuple(tuple(OLD if bot == NEW else bot for bot in seats) for seats in with_new)
            orders = tuple(order for both in zip(with_new, with_old, strict=True) for order in both)
        return Group(tuple(range(len(season.bots))), orders, round_)


def _count(test: StrengthTest, outcome: Outcome) -> None:
    if outcome.played is not None:
        matches = zip(outcome.group.seats, outcome.played, strict=True)
        test.add(Deal.of([(seats, result.ranks, result.scores, result.rival) for seats, result in matches]))
