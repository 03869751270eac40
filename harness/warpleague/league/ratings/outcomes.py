"""Results as sums, all that fits and their errors need of them: points of pairs, and how often deals went alike.

Matches on one deal share its luck, so the deal, not the match, is what is counted: two deals at one table that went
alike are one outcome, counted twice. So the memory that fits need does not grow with the number of matches at tables
of two, and elsewhere by a few bytes for each match.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from struct import Struct
from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.league.ratings.statistics import pair_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Match = tuple[tuple[int, ...], tuple[int, ...]]
    """The bot in each seat, and the rank of each seat."""
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


_MAX_COMPACT = 100_000
"""Matches that are cached in compact form."""


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
    bot, of which the second followed the first; no version follows two.
    """

    versions: int = 0
    links: tuple[tuple[int, int], ...] = ()
    outcomes: Outcomes = attrs.Factory(Outcomes)


# -- as arrays -------------------------------------------------------------------------------------------
# One row for each match of each outcome of a deal, with what each model makes of it.


def added(index: Ints, values: Floats, size: int) -> Floats:
    """The sum of the values at each index below `size`."""
    return np.bincount(index, values, size).astype(np.float64, copy=False)


@attrs.frozen
class Deals:
    """The matches of all outcomes: `bots` and `ranks` (matches, seats).

    `deal` (matches) is the outcome they belong to,
    `times` (outcomes) is how many deals went like this.
    """

    bots: Ints
    ranks: Ints
    deal: Ints
    times: Floats

    @classmethod
    def of(cls, outcomes: Outcomes) -> Deals:
        """The outcomes as arrays."""
        counts, players = outcomes.closed(), outcomes.players
        numbers = (
            np.frombuffer(b"".join(counts), dtype="<u2").reshape(-1, 2, max(players, 1)).astype(np.int64)
        )
        sizes = [len(key) // (4 * players) for key in counts]
        return cls(
            bots=numbers[:, 0],
            ranks=numbers[:, 1],
            deal=np.repeat(np.arange(len(sizes)), sizes),
            times=np.array(list(counts.values()), dtype=float),
        )

    @property
    def coarse(self) -> bool:
        """Whether each deal has three outcomes: matches of two bots in both seat orders, none of them drawn."""
        if self.bots.shape[1] != 2 or (self.ranks[:, 0] == self.ranks[:, 1]).any():
            return False
        return bool((np.bincount(self.deal) > 1).all())


@attrs.frozen
class Rows:
    """The data for a fit: each row is a contest among the bots of one tier.

    `bots` and `seats` (rows, places); `weight` (rows): how often it came about; `deal` (rows): the outcome it is part
    of. `points` and `drawn` (rows) are of contests of two, for the first bot; in contests that are rankings the bots
    are in order of rank, and `here` (rows, places) says whether a place is taken.
    """

    bots: Ints
    seats: Ints
    weight: Floats
    deal: Ints
    points: Floats
    drawn: Floats
    here: NDArray[np.bool_]


def pair_rows(deals: Deals, tier: Ints) -> Rows:
    """Every pair of every match within a tier; `tier` (bots) numbers the tiers, -1 for bots that are none's."""
    parts = []
    for s, t in combinations(range(deals.bots.shape[1]), 2):
        one, two = deals.bots[:, s], deals.bots[:, t]
        used = np.flatnonzero((tier[one] == tier[two]) & (tier[one] >= 0))
        better = np.sign(deals.ranks[used, t] - deals.ranks[used, s])
        seats = np.broadcast_to(np.array([s, t]), (used.size, 2))
        parts.append(
            (np.stack([one[used], two[used]], 1), seats, deals.deal[used], (better + 1) / 2, better == 0)
        )
    bots, seats, deal, points, drawn = (np.concatenate([part[i] for part in parts]) for i in range(5))
    return Rows(bots, seats, deals.times[deal], deal, points, drawn.astype(float), np.ones(bots.shape, bool))


def summed(rows: Rows, bots: int, seats: int, *, by_seat: bool) -> Rows:
    """The same pairs, those of the same bots (and, `by_seat`, the same seats) in one row of their total weight."""
    key = rows.bots[:, 0] * bots + rows.bots[:, 1]
    if by_seat:
        key = (key * seats + rows.seats[:, 0]) * seats + rows.seats[:, 1]
    size = bots * bots * (seats * seats if by_seat else 1)
    if size <= 1 << 24:
        weight = added(key, rows.weight, size)
        used = np.flatnonzero(weight)
        points = added(key, rows.weight * rows.points, size)[used]
        drawn = added(key, rows.weight * rows.drawn, size)[used]
        weight = weight[used]
    else:
        used, at = np.unique(key, return_inverse=True)
        weight = added(at, rows.weight, used.size)
        points = added(at, rows.weight * rows.points, used.size)
        drawn = added(at, rows.weight * rows.drawn, used.size)
    places = np.stack([used // seats % seats, used % seats], 1) if by_seat else np.zeros((used.size, 2), int)
    pair = used // (seats * seats) if by_seat else used
    numbers = np.stack([pair // bots, pair % bots], 1)
    none = np.zeros(used.size, dtype=np.int64)
    return Rows(numbers, places, weight, none, points / weight, drawn / weight, np.ones(numbers.shape, bool))


def ranking_rows(deals: Deals, tier: Ints) -> Rows:
    """Every match as a ranking of the bots of each tier in it; a shared place counts as all its orders, evenly."""
    players = deals.bots.shape[1]
    order = np.argsort(deals.ranks, axis=1, kind="stable")
    bots, ranks = np.take_along_axis(deals.bots, order, 1), np.take_along_axis(deals.ranks, order, 1)
    parts = []
    shapes, which = np.unique(ranks, axis=0, return_inverse=True)
    for number, shape in enumerate(shapes):
        mine = np.flatnonzero(which.ravel() == number)
        orders = [
            list(permuted)
            for permuted in permutations(range(players))
            if all(shape[permuted[i]] <= shape[permuted[i + 1]] for i in range(players - 1))
        ]
        share = np.full(mine.size, 1 / len(orders))
        parts += [(bots[mine][:, permuted], order[mine][:, permuted], mine, share) for permuted in orders]
    seated, seats, match, share = (np.concatenate([part[i] for part in parts]) for i in range(4))
    tiers = tier[seated]
    found_rows = []
    for number in sorted(set(tiers[tiers >= 0].tolist())):
        here = tiers == number
        used = np.flatnonzero(here.sum(axis=1) > 1)
        found_rows.append((seated[used], seats[used], match[used], share[used], here[used]))
    if not found_rows:
        found_rows = [(seated[:0], seats[:0], match[:0], share[:0], tiers[:0] >= 0)]
    seated, seats, match, share, here = (np.concatenate([part[i] for part in found_rows]) for i in range(5))
    deal = deals.deal[match]
    none = np.zeros(deal.size)
    return Rows(seated, seats, deals.times[deal] * share, deal, none, none, here)
