"""Fixtures: groups of matches on one deal, single matches, and their outcomes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from warpleague.league.season.played_match import StoredMatch


Table = tuple[int, ...]
"""Bots at a table, as numbers in `Season.bots`; where it says so, in seat order."""


@attrs.frozen
class Group:
    """One deal, and the matches that are played on it: what counts only as a whole.

    `seats` has the bots of each match in seat order, in the order to play them. `bots` are those on whom the deal's
    number depends; two groups of the same ones must differ in `round` or `turn` (both from 0).
    """

    bots: Table
    seats: tuple[Table, ...]
    round: int
    turn: int = 0


@attrs.frozen
class Outcome:
    """The outcome of a group: the result of each match of `group.seats`, in this order.

    `played` is None if the group will not be played to its end, because the bots `absent` were disqualified before.
    """

    group: Group
    played: tuple[StoredMatch, ...] | None
    absent: frozenset[int] = frozenset()

    def matches(self) -> list[tuple[Table, tuple[int, ...]]]:
        """Bots and ranks by seat of each match that was played."""
        return [
            (seats, result.ranks) for seats, result in zip(self.group.seats, self.played or (), strict=False)
        ]

    def seconds(self) -> list[tuple[Table, tuple[float, ...], float]]:
        """Bots by seat of each match that was played, the seconds of their decisions, and those of all the rest."""
        times = []
        for seats, result in zip(self.group.seats, self.played or (), strict=False):
            own = tuple(times.wall_ms / 1000 for times in result.times)
            times.append((seats, own, max(result.elapsed_s - sum(own), 0.0)))
        return times


def points_of(outcome: Outcome, by_score: bool = False) -> Counter[int]:
    """The points of each bot in a group that was played: two for each opponent beaten in a match, one for a tie.

    With `by_score` a bot has beaten those who scored less than it in all matches of the group together.
    """
    points: Counter[int] = Counter()
    played = list(zip(outcome.group.seats, outcome.played or (), strict=True))
    totals: Counter[int] = Counter()
    for seats, result in played:
        totals.update(dict(zip(seats, result.scores, strict=True)))
    for seats, result in played:
        ranks = [-totals[bot] for bot in seats] if by_score else result.ranks
        for bot, rank in zip(seats, ranks, strict=True):
            points[bot] += sum((rank < other) + (rank <= other) for other in ranks) - 1
    return points


def faulted_in(outcome: Outcome) -> Counter[int]:
    """In how many matches of a group that was played each bot faulted."""
    counts: Counter[int] = Counter()
    for seats, result in zip(outcome.group.seats, outcome.played or (), strict=False):
        counts.update(bot for bot, faults in zip(seats, result.faults, strict=True) if faults)
    return counts


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
