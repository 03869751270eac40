"""Computes the tables of a league besides its standings: seats, faults, times."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.league.ratings.statistics import Mean
from warpleague.league.results.tallies import WinLossRecord, means, records, shares
from warpleague.league.season.fixture import TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns
    from warpleague.match.spec import SeatFault


@attrs.define
class SeatLine:
    """The worth of a seat: the matches seen from it, and the mean share of points with its standard error.

    Where on each deal every bot of the table takes the seat once, differences in strength cancel out within a deal,
    and the errors, which are clustered by deal, are small. `even` is whether every bot sat in all seats equally often.
    """

    seat: int
    record: WinLossRecord = attrs.Factory(WinLossRecord)
    share: Mean = attrs.Factory(Mean)
    even: bool = True


def seats(league: League, columns: Columns | None = None) -> list[SeatLine]:
    """The results by seat; where every bot sat in all seats equally often, all shares are alike if seats are.

    `columns` are the matches that count, if they have been read already.
    """
    columns = league.columns() if columns is None else columns
    players = columns.players
    of_seats = [WinLossRecord() for _ in range(players)]
    worth = [Mean() for _ in range(players)]
    sat = np.zeros((players, len(league.season.bots)), np.int64)
    for some in columns.blocks():
        owners = np.broadcast_to(np.arange(players), some.seats.shape)
        of_seats = list(map(add, of_seats, records(some, owners, players)))
        worth = list(map(add, worth, means(shares(some), owners, some.group, players)))
        sat += [np.bincount(some.seats[:, seat], minlength=sat.shape[1]) for seat in range(players)]
    even = bool((sat == sat[0]).all())
    return [SeatLine(*line, even=even) for line in zip(range(players), of_seats, worth, strict=True)]


@attrs.frozen
class FaultLine:
    """A fault: whose, in which match (its number and id), in which seat, and what it was."""

    bot: str
    number: int
    match: str
    seat: int
    fault: SeatFault


def faults(league: League, columns: Columns | None = None) -> Iterator[FaultLine]:
    """Every fault, in schedule order; `columns` are "results" and "matches" of all that count, if already read."""
    columns = league.columns("matches") if columns is None else columns
    names = league.season.names
    at = np.flatnonzero(columns.faults.any(axis=1))
    numbers, ids, places = (columns.values[name][at].tolist() for name in ("number", "id", "seats"))
    rows = league.store.faults([match_id.decode() for match_id in ids])
    for number, bots, (match_id, of_seats) in zip(numbers, places, rows, strict=True):
        for seat, of_seat in enumerate(of_seats):
            for fault in of_seat:
                yield FaultLine(names[bots[seat]], number, match_id, seat, fault)


@attrs.define
class TimeLine:
    """The time a bot used, in milliseconds: totals over asked decisions, and the longest decision and its match.

    A decision that it did not make in time is none of these: `timeouts` counts them.
    """

    bot: str
    matches: int = 0
    decisions: int = 0
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    longest_ms: float = 0.0
    longest_match: str = ""
    timeouts: int = 0

    def mean(self, total_ms: float) -> float | None:
        """A total divided by the decisions."""
        return total_ms / self.decisions if self.decisions else None


def times(league: League) -> list[TimeLine]:
    """The time each bot used, in the order of the season's bots."""
    return times_and_busy(league, 1.0)[0]


def times_and_busy(league: League, share: float) -> tuple[list[TimeLine], Array]:
    """The same; and of each match that counts, whether a bot waited for a processor for over a `share` of its time."""
    lines = [TimeLine(name) for name in league.season.names]
    of_name = {line.bot: place for place, line in enumerate(lines)}
    wall, wait = TIMES.index("wall_ms"), TIMES.index("wait_ms")
    waited: list[Array] = [np.zeros(0, bool)]
    for columns in league.in_parts("matches", "times"):
        _add_times(lines, columns)
        for late in faults(league, columns):
            lines[of_name[late.bot]].timeouts += late.fault.kind == "timeout"
        waited.append(np.any(columns.times[:, :, wait] > share * columns.times[:, :, wall], axis=1))
    return lines, np.concatenate(waited)


def _add_times(lines: list[TimeLine], columns: Columns) -> None:
    owner, used = columns.seats.ravel(), columns.times.reshape(-1, len(TIMES))
    sums = [np.bincount(owner, used[:, at], len(lines)).tolist() for at in range(4)]
    matches = np.bincount(owner, minlength=len(lines)).tolist()
    longest = np.zeros(len(lines))
    np.maximum.at(longest, owner, used[:, 4])
    # Of several equally long decisions the first one counts.
    first = np.full(len(lines), len(owner))
    at = np.flatnonzero((used[:, 4] == longest[owner]) & (used[:, 4] > 0))
    np.minimum.at(first, owner[at], at)
    for bot, line in enumerate(lines):
        decisions, wall, cpu, wait = (of_bot[bot] for of_bot in sums)
        line.matches += matches[bot]
        line.decisions += int(decisions)
        line.wall_ms += wall
        line.cpu_ms += cpu
        line.wait_ms += wait
        if longest[bot] > line.longest_ms:
            line.longest_ms = float(longest[bot])
            line.longest_match = columns.id[first[bot] // columns.players].decode()
