"""Swiss: in each round bots of like scores meet that have not met before; a bye is worth a win."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import attrs

from warpleague.counts import counted
from warpleague.league.schedule.formats.pairing import Field, luck_of, pair_round
from warpleague.league.schedule.formats.seating import describe_seatings, seatings, seatings_count
from warpleague.league.season.fixture import Group, faulted_in, points_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.schedule.formats.api import Batches
    from warpleague.league.season.fixture import Table
    from warpleague.league.season.season import Season


@attrs.define
class Meeting:
    """A table of a round, in the order in which it was paired; a bot alone at a table of more has a bye.

    `points` are, for each of its bots, two for each opponent beaten in a match and one for a tie; `deals` is how many
    were played, and `faulted` in how many matches each bot faulted.
    """

    round: int
    bots: Table
    points: dict[int, int] = attrs.Factory(dict)
    deals: int = 0
    faulted: Counter[int] = attrs.Factory(Counter)


def make(season: Season) -> Swiss:
    """The format of `season`."""
    return Swiss(season)


@attrs.frozen
class Swiss:
    """A batch for each round. A bot that is disqualified is not paired any more; its opponents have a bye."""

    season: Season
    ahead: int | None = 0

    @property
    def win(self) -> int:
        """The points of a bot that won all matches of a round."""
        form, k = self.season.format, self.season.players
        return 2 * (k - 1) * form.deals * seatings_count(form.seats, k)

    @property
    def drawn(self) -> bool:
        """Whether equals are paired by a draw, and not by their seeds."""
        return self.season.format.seeding in (None, "draw")

    def field(self) -> Field:
        """The bots before the first round."""
        season = self.season
        seeds = {} if self.drawn else {bot: place for place, bot in enumerate(season.seeded)}
        return Field(season.players, self.win, list(season.by_name), season.format.seats == "fixed", seeds)

    def batches(self, field: Field | None = None, meetings: list[Meeting] | None = None) -> Batches:
        """The rounds, one after another; `field` and `meetings` hear of each."""
        season = self.season
        field = self.field() if field is None else field
        meetings = [] if meetings is None else meetings
        for round_ in range(season.format.rounds):
            if len(field.bots) < season.players:
                break
            luck = luck_of(season.names, season.secret, round_)
            tables, byes = pair_round(field, luck)
            field.seat(tables)
            for bot in byes:
                field.bye(bot)
            paired = {frozenset(table): Meeting(round_, table) for table in tables}
            meetings += [*paired.values(), *(Meeting(round_, (bot,), {bot: self.win}) for bot in byes)]
            for outcome in (yield list(self._groups(tables, round_))):
                if outcome.played is not None:
                    points = points_of(outcome, season.by_score)
                    field.scores.update(points)
                    meeting = paired[frozenset(outcome.group.bots)]
                    meeting.deals += 1
                    meeting.faulted.update(faulted_in(outcome))
                    for bot in meeting.bots:
                        meeting.points[bot] = meeting.points.get(bot, 0) + points[bot]
                    continue
                field.bots = [bot for bot in field.bots if bot not in outcome.absent]
                for bot in set(outcome.group.seats[0]) - outcome.absent:
                    field.scores[bot] += self.win // season.format.deals
        return False

    def _groups(self, tables: list[Table], round_: int) -> Iterator[Group]:
        season, k = self.season, self.season.players
        for deal in range(season.format.deals):
            for table in tables:
                if season.format.seats == "fixed":
                    orders: tuple[Table, ...] = (table[deal % k :] + table[: deal % k],)
                else:
                    orders = seatings(season.format.seats, table, deal, season.shuffled(table))
                yield Group(table, orders, round_, deal)

    def total(self, without: frozenset[int]) -> int | None:
        """All matches of all rounds; unknown where bots were taken out."""
        if without:
            return None
        form, n, k = self.season.format, len(self.season.bots), self.season.players
        return form.rounds * (n // k) * form.deals * seatings_count(form.seats, k)

    def describe(self) -> str:
        """Rounds, deals and seat orders."""
        form, n, k = self.season.format, len(self.season.bots), self.season.players
        byes = f", {counted(n % k, 'bye')}" if n % k else ""
        deals = counted(form.deals, "deal")
        tables = counted(n // k, "table")
        seeds = "" if self.drawn else f", seeded by {form.seeding}"
        return (
            f"swiss: {counted(form.rounds, 'round')} of {tables} of {k}{byes}{seeds}, {deals} each, "
            f"{describe_seatings(form)}"
        )
