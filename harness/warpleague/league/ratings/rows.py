"""Results as arrays: one row for each match of each outcome of a deal, with what each model makes of it."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpleague.league.ratings.outcomes import Outcomes

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


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
