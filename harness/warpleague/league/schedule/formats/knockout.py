"""Knockout and double elimination: who loses a tie is out, or out at the second loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.league.schedule.formats.api import Batches, describe_seatings, seatings
from warpleague.league.season.fixture import Group, Outcome, faulted_in, points_of
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from warpleague.league.season.season import Season

Pair = tuple[int | None, int | None]


@attrs.define
class Tie:
    """Two bots of a bracket that meet until one is ahead; None: nobody, and the other goes on.

    `points` are as `points_of` counts them: two for each match won and one for each drawn; `deals` is how many were
    played. `winner` is None as long as it is not decided; then `decided` says by what: "points", "seed" where it
    stayed level, "bye", or "absent" where one was disqualified.
    `faulted` is in how many matches each faulted.
    """

    round: str
    bots: Pair
    points: list[int] = attrs.Factory(lambda: [0, 0])
    deals: int = 0
    winner: int | None = None
    decided: str = ""
    faulted: list[int] = attrs.Factory(lambda: [0, 0])


@attrs.frozen
class Knockout:
    """A batch for each round; those that are level play on, one deal at a time, then the better seed goes on.

    A bot that is disqualified loses its ties from then on.
    """

    season: Season
    ahead: int | None = 0

    @property
    def double(self) -> bool:
        """Whether a bot is out only at its second loss."""
        return self.season.format.kind == "double-elimination"

    def batches(self, ties: list[Tie] | None = None) -> Batches:
        """The rounds; each tie is added to `ties` when it is known who meets."""
        seeds = self.season.seeded
        order = {bot: place for place, bot in enumerate(seeds)}
        bracket = _Bracket(self.season, order, [] if ties is None else ties)
        slots = [seeds[place] if place < len(seeds) else None for place in _places(len(seeds))]
        yield from bracket.double(slots) if self.double else bracket.single(slots)
        return False

    def total(self, without: frozenset[int]) -> int | None:  # noqa: ARG002 - ties may have to be played on
        """Results decide it."""
        return None

    def describe(self) -> str:
        """Bots, deals and seat orders."""
        form = self.season.format
        deals = counted(form.deals, "deal")
        extra = counted(form.extra_deals, "more deal")
        return (
            f"{form.kind}: {counted(len(self.season.bots), 'bot')}, {deals} a tie, up to {extra} where level, "
            f"{describe_seatings(form)}"
        )


@attrs.define
class _Bracket:
    season: Season
    seed: dict[int, int]
    ties: list[Tie]
    round: int = 0

    def single(self, slots: Sequence[int | None]) -> Generator[list[Group], list[Outcome]]:
        while len(slots) > 1:
            slots, _ = yield from self._play(_round_name(len(slots)), _pairs(slots))

    def double(self, slots: Sequence[int | None]) -> Generator[list[Group], list[Outcome]]:
        upper, lower = yield from self._play("Winners' round 1", _pairs(slots))
        number = 1
        while len(upper) > 1:
            number += 1
            lower, _ = yield from self._play(f"Losers' round {2 * number - 3}", _pairs(lower))
            upper, dropped = yield from self._play(f"Winners' round {number}", _pairs(upper))
            # Those who have just lost meet bots of the other half: so two who have met meet again as late as can be.
            lower, _ = yield from self._play(
                f"Losers' round {2 * number - 2}", list(zip(lower, dropped[::-1], strict=True))
            )
        winner, _ = yield from self._play("Final", [(upper[0], lower[0])])
        if winner[0] != upper[0] and lower[0] is not None:
            yield from self._play("Second final", [(upper[0], lower[0])])

    def _play(
        self, name: str, pairs: Iterable[Pair]
    ) -> Generator[list[Group], list[Outcome], tuple[list[int | None], list[int | None]]]:
        """Play a round; the winners and the losers, in order."""
        form = self.season.format
        ties = [Tie(name, pair) for pair in pairs]
        self.ties += ties
        for tie in ties:
            one, two = tie.bots
            if None in tie.bots:
                tie.winner, tie.decided = (two if one is None else one), "bye"
        level = [tie for tie in ties if None not in tie.bots]
        turn, absent = 0, set[int]()
        while level and turn < form.deals + form.extra_deals:
            deals = range(turn, form.deals if turn < form.deals else turn + 1)
            groups = [(tie, self._group(tie, deal)) for tie in level for deal in deals]
            outcomes = yield [group for _, group in groups]
            for (tie, _), outcome in zip(groups, outcomes, strict=True):
                absent |= outcome.absent
                points = points_of(outcome, self.season.by_score) if outcome.played is not None else {}
                tie.deals += outcome.played is not None
                faulted = faulted_in(outcome)
                for side, bot in enumerate(tie.bots):
                    tie.points[side] += points.get(bot or 0, 0)
                    tie.faulted[side] += faulted[bot or 0]
            for tie in level:
                tie.winner = self._winner(tie, absent)
            level = [tie for tie in level if tie.winner is None]
            turn = deals.stop
        for tie in level:
            tie.winner = min((bot for bot in tie.bots if bot is not None), key=self.seed.__getitem__)
            tie.decided = "seed"
        self.round += 1
        losers = [tie.bots[0] if tie.winner == tie.bots[1] else tie.bots[1] for tie in ties]
        return [tie.winner for tie in ties], losers

    def _winner(self, tie: Tie, absent: set[int]) -> int | None:
        one, two = tie.bots
        if (one in absent) != (two in absent):
            tie.decided = "absent"
            return two if one in absent else one
        if tie.points[0] == tie.points[1]:
            return None
        tie.decided = "points"
        return one if tie.points[0] > tie.points[1] else two

    def _group(self, tie: Tie, deal: int) -> Group:
        season = self.season
        table = tuple(sorted((bot for bot in tie.bots if bot is not None), key=self.seed.__getitem__))
        orders = seatings(season.format.seats, table, deal, season.shuffled(table))
        return Group(table, orders, self.round, deal)


def _pairs(slots: Sequence[int | None]) -> list[Pair]:
    return list(zip(slots[::2], slots[1::2], strict=True))


def _places(count: int) -> list[int]:
    """The seeds of a bracket from top to bottom: the best two can meet only in the final, and have the byes."""
    # Each round doubles the places: beside each seed comes the one with which it makes the same sum, so that the best
    # meets the worst. What lies beyond the number of bots is a bye, so the best seeds have these.
    places = [0]
    while len(places) < count:
        places = [seed for place in places for seed in (place, 2 * len(places) - 1 - place)]
    return places


def _round_name(bots: int) -> str:
    return {2: "Final", 4: "Semi-finals", 8: "Quarter-finals"}.get(bots, f"Round of {bots}")
