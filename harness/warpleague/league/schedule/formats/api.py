"""The contract every format keeps: what it plays, what it is told of results, and when it has decided.

A format is a pure function of the season and of the results of earlier batches. So a league that was killed, resumed,
merged or played in parallel has the same matches as an undisturbed one, and anyone can compute them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from warpleague.league.season.played_match import StoredMatch
    from warpleague.league.season.season import Season

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


def deal_of(season: Season, group: Group, seats: Table) -> int:
    """The number of the deal on which these seats of a group play: all share it, unless each match has own dice."""
    own = season.format.dice == "own"
    return season.deal(seats if own else group.bots, group.turn, group.round, own=own)


@attrs.frozen
class Outcome:
    """What came of a group: the result of each match of `group.seats`, in this order.

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
    found: Counter[int] = Counter()
    for seats, result in zip(outcome.group.seats, outcome.played or (), strict=False):
        found.update(bot for bot, faults in zip(seats, result.faults, strict=True) if faults)
    return found


Batches = Generator[Iterable[Group], list[Outcome], bool]
"""Yields batches of groups. Each `yield` is answered with the outcomes of an earlier batch, in its order: of the one
`Format.ahead` batches before, or of this one if that is 0. While there is no batch so far before, the answer is an
empty list.

It returns whether it has decided: if so, only the batches whose outcomes it was sent count, and what was played beyond
them does not. If not, everything it yielded counts. To see the outcomes of its last batches it yields empty ones."""


class Format(Protocol):
    """A format for one season."""

    @property
    def ahead(self) -> int | None:
        """How many batches may be played while an earlier one waits for results.

        The pairing depends on it, so it must not depend on the machine. None: the format needs no results at all, and
        plays one batch, which may be too long for memory.
        """

    def batches(self) -> Batches:
        """What to play, from the beginning."""

    def total(self, without: frozenset[int]) -> int | None:
        """How many matches there are, except those in which one of `without` plays; None if results decide it."""

    def describe(self) -> str:
        """What is played, in a few words: the beginning of the line that `Schedule.describe` makes."""


class Static:
    """A format that needs no results: it only lists its groups."""

    ahead: int | None = None

    def groups(self) -> Iterable[Group]:
        """All groups, in order."""
        raise NotImplementedError

    def batches(self) -> Batches:
        """All groups in one batch."""
        yield self.groups()
        return False
