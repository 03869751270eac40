"""Ladder: bots meet without end; next comes the deal that tells most about their order."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.formats.api import counted
from warpleague.league.formats.round_robin import group_of
from warpleague.league.formats.seating import seatings_count, told_seatings
from warpleague.league.formats.until import FEWEST, MOST, batch_size, enough, told_until
from warpleague.league.taken_over import groups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.league.formats.api import Batches, Group, Outcome, Table
    from warpleague.league.ratings.posterior import Posterior
    from warpleague.league.ratings.rows import Floats
    from warpleague.league.season import Season

_SHARE: Final = 4  # no bot plays less than this part of the mean
_ROUNDED: Final = 1e-9
_DIGITS: Final = 9


def make(season: Season) -> Ladder:
    """The format of `season`."""
    return Ladder(season)


@attrs.frozen
class Ladder:
    """Batches of deals, each chosen by what is known when the batch begins.

    The n-th deal of a table is the same in every ladder and round-robin of the season, so that bots can come and go:
    it begins with the deals that those who stay have played. A bot that is disqualified does not play any more.
    """

    season: Season
    ahead: int | None = 1

    @property
    def matches_a_deal(self) -> int:
        """How many matches one deal takes."""
        return seatings_count(self.season.format.seats, self.season.players)

    def batches(self) -> Batches:
        """Deals until the order is settled, or as many matches are played as the file says, or without end."""
        from warpleague.league.ratings.posterior import Posterior

        season, form = self.season, self.season.format
        choice = _Choice(season, self.matches_a_deal, Posterior(len(season.bots)), list(season.by_name))
        known = choice.known
        most = None if form.max_matches is None else max(form.max_matches // self.matches_a_deal, 1)
        given = 0
        waiting: list[list[Group]] = []

        def learn(outcomes: list[Outcome]) -> None:
            """Take in what came of the batch that waits longest; nothing came of one without deals."""
            if outcomes:
                waiting.pop(0)
            for outcome in outcomes:
                if outcome.played is not None:
                    known.add(outcome)
                choice.present = [bot for bot in choice.present if bot not in outcome.absent]

        deals = islice(groups(season), self._room(most))
        while taken := list(islice(deals, MOST)):
            waiting.append(taken)
            given += len(taken)
            choice.count(taken)
            learn((yield taken))
        while waiting:
            learn((yield []))
        if given:
            known.update()
            if len(choice.present) >= season.players and enough(known, choice.present, form.until):
                return True
        while len(choice.present) >= season.players:
            size = batch_size(len(choice.present), given)
            chosen = choice.batch(size if most is None else min(size, most - given))
            waiting.append(chosen)
            given += len(chosen)
            outcomes = yield chosen
            if outcomes:
                learn(outcomes)
                known.update()
                if len(choice.present) >= season.players and enough(known, choice.present, form.until):
                    return True
                # What is being played now need not be chosen once more.
                known.expect_all([group.bots for batch in waiting for group in batch], choice.matches)
            if most is not None and given >= most and not any(waiting):
                break
        return False

    def _room(self, most: int | None) -> int | None:
        """How many deals may be taken over, so that bots which have played none get their part of `most`."""
        if most is None:
            return None
        season, known = self.season, {bot for table, _ in self.season.taken_over for bot in table}
        bots = len(season.bots)
        return max(most * (bots - season.players * (bots - len(known))) // bots, 0)

    def total(self, without: frozenset[int]) -> int | None:  # noqa: ARG002 - results decide
        """Results decide it."""
        return None

    def describe(self) -> str:
        """Bots, seat orders, and what ends it."""
        form = self.season.format
        end = [] if form.max_matches is None else [f"{form.max_matches:,} matches at most"]
        end += [] if form.until is None else [told_until(form.until)]
        tables = f"{counted(len(self.season.bots), 'bot')} at tables of {self.season.players}"
        return f"ladder: {tables}, {told_seatings(form)}, {' or '.join(end) or 'without end'}"


@attrs.define
class _Choice:
    """Chooses deals: `present` are the bots that still play, `known` is what results say of them."""

    season: Season
    matches: int
    known: Posterior
    present: list[int]
    dealt: Counter[int] = attrs.Factory(Counter)
    met: Counter[Table] = attrs.Factory(Counter)
    _luck: dict[int, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._luck = {bot: self.season.shuffled([bot]) for bot in self.present}

    def batch(self, size: int) -> list[Group]:
        """The next deals, each chosen as if those before it had been played."""
        season, until = self.season, self.season.format.until
        known, everyone = self.known, len(self.present)
        told = known.worth(self.present, everyone if until is None else until.top)
        each = known.worth(self.present, everyone)
        found = []
        for _ in range(size):
            table = self._table(told, each)
            group = group_of(season, table, self.met[table])
            self.count([group])
            known.expect(table, self.matches)
            found.append(group)
        return found

    def count(self, groups: Iterable[Group]) -> None:
        """Take it that these deals have been chosen."""
        for group in groups:
            table = tuple(sorted(group.bots))
            self.met[table] += 1
            self.dealt.update(table)

    def _table(self, told: Floats, each: Floats) -> Table:
        """The pair that tells most of what is to be settled (`told`), and who tells most beside it.

        First comes who has played too little, with whom tells most of its place (`each`).
        """
        dealt = [self.dealt[bot] for bot in self.present]
        mean, least = sum(dealt) / len(dealt), min(dealt)
        if least < max(mean / _SHARE, min(mean, FEWEST)):
            needy = [bot for bot, many in zip(self.present, dealt, strict=True) if many == least]
            table, worth = [min(needy, key=self._luck.__getitem__)], each * self.known.distances
        else:
            worth = told * self.known.distances
            # Machines may round differently: what is as good but for the last digits is equal.
            best = zip(*(worth >= worth.max() * (1 - _ROUNDED)).nonzero(), strict=True)
            table = min(([int(one), int(two)] for one, two in best), key=self._drawn)
        while len(table) < self.season.players:
            tells = worth[table].sum(axis=0).round(_DIGITS)
            rest = [bot for bot in self.present if bot not in table]
            table.append(max(rest, key=lambda bot: (tells[bot], -self.dealt[bot], self._luck[bot])))
        return tuple(sorted(table))

    def _drawn(self, table: list[int]) -> list[int]:
        return sorted(self._luck[bot] for bot in table)
