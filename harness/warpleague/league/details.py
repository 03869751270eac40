"""Computes the tables of a league besides its standings: seats, faults, times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from warpleague.league.columns import TIMES
from warpleague.league.statistics import Mean, rounded
from warpleague.league.tallies import WinLossRecord, means, records, shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.columns import Columns
    from warpleague.league.league import League
    from warpleague.match.spec import SeatFault


@attrs.define
class SeatLine:
    """What a seat is worth: the matches seen from it, and the mean share of points with its standard error.

    Where on each deal every bot of the table takes the seat once, differences in strength cancel out within a deal,
    and the errors, which are clustered by deal, are small. `even` is whether every bot sat in all seats equally often.
    """

    seat: int
    record: WinLossRecord = attrs.Factory(WinLossRecord)
    share: Mean = attrs.Factory(Mean)
    even: bool = True

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object."""
        record = self.record
        return {
            "seat": self.seat,
            "played": record.played,
            "won": record.won,
            "drawn": record.drawn,
            "lost": record.lost,
            "share": rounded(self.share.mean if self.share.count else None, 6),
            "share_error": rounded(self.share.error, 6),
            "score": rounded(record.scores.mean if record.played else None, 6),
            "faults": record.faults,
            "even": self.even,
        }


def seats(league: League, columns: Columns | None = None) -> list[SeatLine]:
    """The results by seat; where every bot sat in all seats equally often, all shares are alike if seats are.

    `columns` are the matches that count, if they have been read already.
    """
    columns = league.columns() if columns is None else columns
    players = columns.players
    owners = np.broadcast_to(np.arange(players), columns.seats.shape)
    bots = len(league.season.bots)
    sat = [np.bincount(columns.seats[:, seat], minlength=bots) for seat in range(players)]
    even = all((counts == sat[0]).all() for counts in sat)
    return [
        SeatLine(*line, even=even)
        for line in zip(
            range(players),
            records(columns, owners, players),
            means(shares(columns), owners, columns.group, players),
            strict=True,
        )
    ]


@attrs.frozen
class FaultLine:
    """A fault: whose, in which match (its number and id), in which seat, and what it was."""

    bot: str
    number: int
    match: str
    seat: int
    fault: SeatFault

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object; `n` is the number of the record's line."""
        data = {"bot": self.bot, "number": self.number, "match": self.match, "seat": self.seat}
        return data | attrs.asdict(self.fault)


def faults(league: League, columns: Columns | None = None) -> Iterator[FaultLine]:
    """Every fault, in schedule order; `columns` are "results" and "matches" of all that count, if already read."""
    columns = league.columns("matches") if columns is None else columns
    names = league.season.names
    at = np.flatnonzero(columns.faults.any(axis=1))
    numbers, ids, places = (columns.values[name][at].tolist() for name in ("number", "id", "seats"))
    found = league.store.faults([match_id.decode() for match_id in ids])
    for number, bots, (match_id, of_seats) in zip(numbers, places, found, strict=True):
        for seat, of_seat in enumerate(of_seats):
            for fault in of_seat:
                yield FaultLine(names[bots[seat]], number, match_id, seat, fault)


@attrs.define
class TimeLine:
    """The time a bot used, in milliseconds: totals over asked decisions, and the longest decision and its match."""

    bot: str
    matches: int = 0
    decisions: int = 0
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    longest_ms: float = 0.0
    longest_match: str = ""

    def mean(self, total_ms: float) -> float | None:
        """A total divided by the decisions."""
        return total_ms / self.decisions if self.decisions else None

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object; means are for one decision."""
        return {
            "bot": self.bot,
            "matches": self.matches,
            "decisions": self.decisions,
            "wall_ms": rounded(self.mean(self.wall_ms), 4),
            "cpu_ms": rounded(self.mean(self.cpu_ms), 4),
            "wait_ms": rounded(self.mean(self.wait_ms), 4),
            "longest_ms": rounded(self.longest_ms, 3),
            "longest_match": self.longest_match,
        }


def times(league: League, columns: Columns | None = None) -> list[TimeLine]:
    """The time each bot used, in the order of the season's bots.

    `columns` are all parts of the matches that count, if they have been read already.
    """
    columns = league.columns("matches", "times") if columns is None else columns
    names = league.season.names
    owner, used = columns.seats.ravel(), columns.times.reshape(-1, len(TIMES))
    sums = [np.bincount(owner, used[:, at], len(names)).tolist() for at in range(4)]
    matches = np.bincount(owner, minlength=len(names)).tolist()
    longest = np.zeros(len(names))
    np.maximum.at(longest, owner, used[:, 4])
    # Of several equally long decisions the first one counts.
    first = np.full(len(names), len(owner))
    at = np.flatnonzero((used[:, 4] == longest[owner]) & (used[:, 4] > 0))
    np.minimum.at(first, owner[at], at)
    lines = []
    for bot, name in enumerate(names):
        where = first[bot] // columns.players
        match = columns.id[where].decode() if longest[bot] else ""
        decisions, wall, cpu, wait = (of_bot[bot] for of_bot in sums)
        lines.append(
            TimeLine(name, matches[bot], int(decisions), wall, cpu, wait, float(longest[bot]), match)
        )
    return lines
