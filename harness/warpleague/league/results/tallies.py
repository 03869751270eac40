"""Counts results: what each bot won, lost and scored, the points of pairs, and Elo match by match.

Many matches are counted at once, as columns; matches that a run has just played are counted one by one.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import exp
from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.league.ratings.outcomes import Outcomes, PairTotals
from warpleague.league.ratings.statistics import SCALE, Mean, SequentialElo, pair_points
from warpleague.league.store.columns import BLOCK, Columns, block_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.store.columns import Array


@attrs.define
class WinLossRecord:
    """A bot's (or a seat's) matches: `won` alone in front, `drawn` sharing the first place, `lost` all others.

    `points` is, for each match, the share of opponents beaten (a shared place half): 1, a half or 0 at a table
    of two. A solo match is won or lost against the game's own opponent, the rival, and neither where there is
    none. `scores` and `margins`, the score less the rival's, are in the game's own unit; `faults` counts faults.
    """

    played: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    points: float = 0.0
    faults: int = 0
    scores: Mean = attrs.Factory(Mean)
    margins: Mean = attrs.Factory(Mean)

    def __add__(self, other: WinLossRecord) -> WinLossRecord:
        """The record of the matches of both, which have no group in common."""
        both = (attrs.astuple(record, recurse=False) for record in (self, other))
        return WinLossRecord(*(one + two for one, two in zip(*both, strict=True)))

    def add(
        self,
        seat: int,
        ranks: Sequence[int],
        score: float,
        faults: int,
        rival: float | None = None,
        group: int | None = None,
    ) -> None:
        """Count a match seen from `seat`; those of one `group` (on one deal) follow each other."""
        self.played += 1
        self.scores.add(score, group)
        self.faults += faults
        others = len(ranks) - 1
        if rival is not None:
            self.margins.add(score - rival, group)
            self.won += ranks[seat] == 1
            self.lost += ranks[seat] != 1
            self.points += ranks[seat] == 1
        if others == 0:
            return
        self.points += (
            sum(pair_points(ranks[seat], rank) for i, rank in enumerate(ranks) if i != seat) / others
        )
        if ranks[seat] != 1:
            self.lost += 1
        elif ranks.count(1) > 1:
            self.drawn += 1
        else:
            self.won += 1


class Tally:
    """The counts behind standings, match by match in schedule order."""

    def __init__(self, bots: int, k: float, start: float) -> None:
        self.records = [WinLossRecord() for _ in range(bots)]
        self.totals = PairTotals(bots)
        self.elo = SequentialElo(bots, k, start)
        self.outcomes = Outcomes()
        self.matches = 0
        self.course: list[list[float]] = []

    def add(
        self,
        seats: Sequence[int],
        ranks: Sequence[int],
        scores: Sequence[float],
        faults: Sequence[int],
        rival: float | None = None,
        group: int | None = None,
    ) -> None:
        """Count a match: bot, rank, score and number of faults of each seat, the rival's score, and its group."""
        self.matches += 1
        self.totals.add(seats, ranks)
        self.elo.add(seats, ranks)
        self.outcomes.add(group, tuple(seats), tuple(ranks))
        for seat, bot in enumerate(seats):
            self.records[bot].add(seat, ranks, scores[seat], faults[seat], rival, group)


def tally(columns: Columns, bots: int, k: float, start: float, marks: Sequence[int] = ()) -> Tally:
    """The counts of all matches of `columns`, in schedule order.

    `marks` are numbers of matches, in order. The Elo ratings after each are in `course`.
    """
    table = Tally(bots, k, start)
    table.matches = len(columns)
    if not len(columns):
        return table
    table.course = rate(table.elo.ratings, columns, k, marks)
    table.outcomes = outcomes(columns)
    _count_pairs(table.totals, columns, bots)
    table.records = records(columns, columns.seats, bots)
    return table


def records(columns: Columns, owners: Array, count: int) -> list[WinLossRecord]:
    """The record of each of `count` owners; `owners` has one for each seat of each match, such as its bot."""
    # Block by block, since the arrays in between are several times as large as the columns. Blocks are whole groups,
    # so that errors clustered by group add up.
    records = [WinLossRecord() for _ in range(count)]
    begin = 0
    for some in columns.blocks():
        end = begin + len(some)
        of_some = _records(some, owners[begin:end], count)
        records = [record + more for record, more in zip(records, of_some, strict=True)]
        begin = end
    return records


def _records(columns: Columns, owners: Array, count: int) -> list[WinLossRecord]:
    against = ~np.isnan(columns.rival)
    margins = (columns.scores - columns.rival[:, None])[against]
    figures = (
        *_counts(columns, owners, count),
        means(columns.scores, owners, columns.group, count, columns.block),
        means(margins, owners[against], columns.group[against], count, columns.block),
    )
    return [
        WinLossRecord(played, won, drawn, lost, points, faults, *both)
        for played, won, drawn, lost, faults, points, *both in zip(*figures, strict=True)
    ]


def shares(columns: Columns) -> Array:
    """For each match and seat the share of opponents beaten, a shared place half; against a rival, the share of wins.

    The opponents number one less than the seats; alone at the table and without a rival there is no share: zero.
    """
    ranks, players = columns.ranks, columns.players
    if players == 1:
        won: Array = (ranks == 1) & ~np.isnan(columns.rival)[:, None]
        return won.astype(float)
    halves = np.zeros(ranks.shape, np.int64)
    for seat, other in combinations(range(players), 2):
        before, behind = ranks[:, seat] < ranks[:, other], ranks[:, seat] > ranks[:, other]
        halves[:, seat] += 1 + before - behind
        halves[:, other] += 1 + behind - before
    return halves / (2 * (players - 1))


def _counts(columns: Columns, owners: Array, count: int) -> list[list[float]]:
    """By owner, of which each seat of each match has one: played, won, drawn, lost, faults, points."""
    first = columns.ranks == 1
    alone = first & (first.sum(axis=1) == 1)[:, None]
    if columns.players == 1:
        decided = ~np.isnan(columns.rival)[:, None]
        won, drawn, lost = first & decided, first & False, ~first & decided
    else:
        won, drawn, lost = alone, first & ~alone, ~first
    flat = owners.ravel()

    def summed(values: Array) -> Array:
        return np.bincount(flat, values.ravel(), count)

    whole = (np.ones(flat.shape), won, drawn, lost, columns.faults)
    # Halves and thirds are summed as the whole numbers they are multiples of, so that the order changes nothing.
    unit = 2 * max(columns.players - 1, 1)
    points = summed(np.rint(shares(columns) * unit)) / unit
    return [*(summed(values).astype(int).tolist() for values in whole), points.tolist()]


def _count_pairs(totals: PairTotals, columns: Columns, bots: int) -> None:
    games, halves = np.zeros(bots * bots, np.int64), np.zeros(bots * bots)
    for some in columns.blocks():
        seats, ranks = some.seats.astype(np.int64), some.ranks
        for a, b in combinations(range(columns.players), 2):
            won = 1.0 + (ranks[:, a] < ranks[:, b]) - (ranks[:, a] > ranks[:, b])
            for one, two, of_one in ((a, b, won), (b, a, 2.0 - won)):
                cell = seats[:, one] * bots + seats[:, two]
                games += np.bincount(cell, minlength=bots * bots)
                halves += np.bincount(cell, of_one, bots * bots)
    totals.games = games.reshape(bots, bots).tolist()
    totals.points = (halves / 2).reshape(bots, bots).tolist()


def means(values: Array, owners: Array, groups: Array, count: int, block: int = BLOCK) -> list[Mean]:
    """The mean of the `values` of each owner, clustered by group; arrays with a row for each match.

    The matches of one group follow each other; about `block` of them are counted at once.
    """
    means = [Mean() for _ in range(count)]
    begin = 0
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(groups) else groups
    for end in block_ends(starts, len(groups), block):
        of_some = _means(values[begin:end], owners[begin:end], groups[begin:end], count)
        means = [mean + more for mean, more in zip(means, of_some, strict=True)]
        begin = end
    return means


def _means(values: Array, owners: Array, groups: Array, count: int) -> list[Mean]:
    if not len(values):
        return [Mean() for _ in range(count)]
    seats = values.shape[1]
    flat, owner = values.ravel(), owners.ravel().astype(np.int64)
    cluster = np.repeat(groups.astype(np.int64), seats) * count + owner
    order = np.argsort(cluster, kind="stable")
    sizes = np.bincount(owner, minlength=count)
    # The first value of each is subtracted, so that squares of large, similar values lose no digits.
    origins = np.zeros(count)
    origins[owner[::-1]] = flat[::-1]
    shifted, ordered = (flat - origins[owner])[order], cluster[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sums = np.add.reduceat(shifted, starts)
    many = np.diff(np.r_[starts, len(ordered)])
    whose = owner[order][starts]
    columns = (
        sizes,
        origins,
        np.bincount(whose, sums, count),
        np.bincount(whose, minlength=count),
        np.bincount(whose, sums * sums, count),
        np.bincount(whose, sums * many, count),
        np.bincount(whose, many * many, count),
    )
    return [Mean.of_sums(*sums_of) for sums_of in zip(*(column.tolist() for column in columns), strict=True)]


def rate(ratings: list[float], columns: Columns, k: float, marks: Sequence[int] = ()) -> list[list[float]]:
    """Let every match change the Elo `ratings`, in schedule order.

    Returns the ratings after each number of matches in `marks`. It does what `SequentialElo` does, in less time.
    """
    course: list[list[float]] = []
    at = 0
    for mark in (*marks, len(columns)):
        part = columns.only(slice(at, mark))
        if columns.players == 2:
            for some in part.blocks():
                _rate_pairs(ratings, some, k)
        else:
            elo = SequentialElo(len(ratings), k)
            elo.ratings = ratings
            for seats, ranks in zip(part.seats.tolist(), part.ranks.tolist(), strict=True):
                elo.add(seats, ranks)
        at = mark
        course.append(list(ratings))
    return course[: len(marks)]


def _rate_pairs(ratings: list[float], columns: Columns, k: float) -> None:
    # One after the other: each rating follows from the one before. Lists of Python's own numbers are quicker here than
    # elements of arrays.
    ranks = columns.ranks
    points = (1.0 + (ranks[:, 0] < ranks[:, 1]) - (ranks[:, 0] > ranks[:, 1])) / 2
    for one, two, won in zip(*columns.seats.T.tolist(), points.tolist(), strict=True):
        change = k * (won - 1.0 / (1.0 + exp((ratings[two] - ratings[one]) / SCALE)))
        ratings[one] += change
        ratings[two] -= change


def outcomes(columns: Columns, counted: Array | None = None) -> Outcomes:
    """How often each outcome of a deal came about, as fits want it; of the matches where `counted` is true, or all."""
    counts: Counter[bytes] = Counter()
    begin = 0
    for some in columns.blocks():
        end = begin + len(some)
        counts.update(_outcomes(some if counted is None else some.only(counted[begin:end])))
        begin = end
    return Outcomes.of_counts(columns.players if len(columns) else 0, counts)


def _outcomes(columns: Columns) -> Counter[bytes]:
    players, starts = columns.players, columns.starts
    width = 4 * players
    plain = np.concatenate((columns.seats, columns.ranks), axis=1).astype("<u2")
    match = np.ascontiguousarray(plain).view(f"S{width}").ravel()
    sizes = np.diff(np.r_[starts, len(columns)])
    counts: Counter[bytes] = Counter()
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        deals = match[starts[sizes == size][:, None] + np.arange(size)]
        deals = np.ascontiguousarray(np.sort(deals, axis=1)).view(f"S{width * size}").ravel()
        keys, many = np.unique(deals, return_counts=True)
        # numpy leaves out zeros at the end.
        counts.update(
            {key.ljust(width * size, b"\0"): n for key, n in zip(keys.tolist(), many.tolist(), strict=True)}
        )
    return counts
