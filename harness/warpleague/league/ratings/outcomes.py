"""Results as sums, all that fits and their errors need of them: points of pairs, and how often deals went alike.

Matches on one deal share its luck, so the deal, not the match, is what is counted: two deals at one table that went
alike are one outcome, counted twice. So the memory that fits need does not grow with the number of matches at tables
of two, and elsewhere by a few bytes for each match.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from struct import Struct
from typing import TYPE_CHECKING

import attrs

from warpleague.league.ratings.elo import pair_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Match = tuple[tuple[int, ...], tuple[int, ...]]
    """The bot in each seat, and the rank of each seat."""

_MAX_COMPACT = 100_000  # matches that are cached in compact form


class PairTotals:
    """The points of each bot against each other and the number of their meetings; all a fit needs but errors."""

    def __init__(self, bots: int) -> None:
        self.points = [[0.0] * bots for _ in range(bots)]
        self.games = [[0] * bots for _ in range(bots)]

    def add(self, seats: Sequence[int], ranks: Sequence[int]) -> None:
        """Count a match: the bot and the rank of each seat."""
        for a, b in combinations(range(len(seats)), 2):
            one, two = seats[a], seats[b]
            won = pair_points(ranks[a], ranks[b])
            self.points[one][two] += won
            self.points[two][one] += 1.0 - won
            self.games[one][two] += 1
            self.games[two][one] += 1


class Outcomes:
    """How often each outcome of a deal came about.

    `counts` has, for each outcome, the number of deals (groups of matches, `Fixture.group`) that went like this. An
    outcome is the matches of a deal, sorted; a match is the bot in each seat, then the rank of each seat, all as
    two bytes, little-endian. `players` is the number of seats, 0 before the first match.
    """

    def __init__(self) -> None:
        self.counts: Counter[bytes] = Counter()
        self.players = 0
        self.matches = 0
        self._group: int | None = None
        self._open: list[bytes] = []
        self._struct = Struct("<")
        self._compact: dict[Match, bytes] = {}

    @classmethod
    def of_counts(cls, players: int, counts: Counter[bytes]) -> Outcomes:
        """Outcomes that have been counted elsewhere."""
        outcomes = cls()
        outcomes.players, outcomes.counts = players, counts
        outcomes._struct = Struct(f"<{2 * players}H")
        size = max(outcomes._struct.size, 1)
        outcomes.matches = sum(len(key) // size * times for key, times in counts.items())
        return outcomes

    def add(self, group: int | None, seats: tuple[int, ...], ranks: tuple[int, ...]) -> None:
        """Count a match. Matches of one `group` must follow each other; None makes a group of its own."""
        if group is None or group != self._group:
            self._close()
        self._group = group
        self._open.append(self._pack(seats, ranks))
        self.matches += 1

    def add_deal(self, matches: Sequence[Match], times: int = 1) -> None:
        """Count a whole deal, `times` times; a negative number takes it out again."""
        key = b"".join(sorted(self._pack(seats, ranks) for seats, ranks in matches))
        self.counts[key] += times
        self.matches += times * len(matches)
        if not self.counts[key]:
            del self.counts[key]

    def closed(self) -> Counter[bytes]:
        """The counts, the deal that was added last included."""
        self._close()
        return self.counts

    def with_all(self, others: Outcomes) -> Outcomes:
        """These outcomes and others together."""
        return Outcomes.of_counts(self.players or others.players, self.closed() + others.closed())

    def deals(self) -> Iterator[tuple[list[Match], int]]:
        """Each outcome as its matches, and how often it came about."""
        size, players = self._struct.size, self.players
        for key, times in self.closed().items():
            rows = [self._struct.unpack_from(key, at) for at in range(0, len(key), size)]
            yield [(row[:players], row[players:]) for row in rows], times

    def _close(self) -> None:
        if self._open:
            self.counts[b"".join(sorted(self._open))] += 1
            self._open = []

    def _pack(self, seats: tuple[int, ...], ranks: tuple[int, ...]) -> bytes:
        match = (seats, ranks)
        compact = self._compact.get(match)
        if compact is None:
            if not self.players:
                self.players = len(seats)
                self._struct = Struct(f"<{2 * self.players}H")
            compact = self._struct.pack(*seats, *ranks)
            if len(self._compact) < _MAX_COMPACT:
                self._compact[match] = compact
        return compact


@attrs.frozen
class Earlier:
    """Earlier versions of bots, and bots that have left, and the `outcomes` of deals that no longer count.

    `versions` is the number of earlier versions, numbered after the current bots. `links` are pairs of versions of one
    bot, of which the second followed the first.
    """

    versions: int = 0
    links: tuple[tuple[int, int], ...] = ()
    outcomes: Outcomes = attrs.Factory(Outcomes)
