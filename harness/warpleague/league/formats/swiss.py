"""Swiss: in each round bots of like scores meet that have not met before; a bye is worth a win."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.league.formats.api import Group, counted, points_of
from warpleague.league.formats.pairing import Field, luck_of, pair_round
from warpleague.league.formats.seating import seatings, seatings_count, told_seatings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.formats.api import Batches, Table
    from warpleague.league.season import Season


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

    def batches(self) -> Batches:
        """The rounds, one after another."""
        season = self.season
        seeds = {} if self.drawn else {bot: place for place, bot in enumerate(season.seeded)}
        field = Field(season.players, self.win, list(season.by_name), season.format.seats == "fixed", seeds)
        for round_ in range(season.format.rounds):
            if len(field.bots) < season.players:
                break
            luck = luck_of(season.names, season.secret, round_)
            tables, byes = pair_round(field, luck)
            field.seat(tables)
            for bot in byes:
                field.bye(bot)
            for outcome in (yield list(self._groups(tables, round_))):
                if outcome.played is not None:
                    field.scores.update(points_of(outcome))
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
            f"{told_seatings(form)}"
        )
