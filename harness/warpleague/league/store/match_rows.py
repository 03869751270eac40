"""Writes matches as rows of the tables `match`, `seat` and `fault`, and reads them from there."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import StoreError
from warpleague.league.season.fixture import SEAT_TIMES, LatestMatch, StoredMatch, StoredVersion, damaged
from warpleague.match.spec import SeatFault, SeatTimes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    Row = tuple[Any, ...]

CHUNK: Final = 400
"""Matches that one query looks up; SQLite takes 999 values at least."""

_MATCH: Final = "key, id, rival, why, digest, lines, elapsed_s, confinement, deal, stored, number, cluster"
_INSERT_MATCH: Final = (
    "INSERT INTO match (id, number, cluster, deal, rival, why, digest, lines, elapsed_s, stored, confinement) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SEAT: Final = ("match", "seat", "bot", "rank", "score", "faults", *SEAT_TIMES)
_INSERT_SEAT: Final = f"INSERT INTO seat ({', '.join(_SEAT)}) VALUES ({','.join('?' * len(_SEAT))})"
_INSERT_FAULT: Final = (
    "INSERT INTO fault (match, seat, place, kind, n, retired, message) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SEATS_OF: Final = (
    "SELECT s.match, s.seat, b.name, b.identity, s.rank, s.score, s.faults{times} "
    "FROM seat s LEFT JOIN bot b ON b.id = s.bot WHERE s.match IN ({marks}) ORDER BY s.match, s.seat"
)
_FAULTS_OF: Final = (
    "SELECT match, seat, kind, n, retired, message FROM fault WHERE match IN ({marks}) "
    "ORDER BY match, seat, place"
)


def insert(
    db: sqlite3.Connection, match: StoredMatch, number: int | None = None, group: int | None = None
) -> None:
    """Store a match with its seats and faults; `number` and `group` are its places in the schedule, if it has them."""
    key = db.execute(
        _INSERT_MATCH,
        (
            match.id,
            number,
            group,
            match.deal,
            match.rival,
            match.why,
            match.digest,
            match.lines,
            match.elapsed_s,
            match.stored,
            match.confinement,
        ),
    ).lastrowid
    # A match that was deleted by hand may have left its seats.
    delete_seats(db, key)
    for seat, (bot, used, faults) in enumerate(zip(match.bots, match.times, match.faults, strict=True)):
        result = (key, seat, _bot_id(db, bot), match.ranks[seat], match.scores[seat], len(faults))
        db.execute(_INSERT_SEAT, result + attrs.astuple(used))
        db.executemany(
            _INSERT_FAULT,
            (
                (key, seat, place, fault.kind, fault.n, int(fault.retired), fault.message)
                for place, fault in enumerate(faults)
            ),
        )


def delete_seats(db: sqlite3.Connection, key: int | None) -> None:
    """Delete the seats and faults of the match with this key."""
    db.execute("DELETE FROM seat WHERE match = ?", (key,))
    db.execute("DELETE FROM fault WHERE match = ?", (key,))


def _bot_id(db: sqlite3.Connection, bot: tuple[str, str]) -> int:
    query = "SELECT id FROM bot WHERE name = ? AND identity = ?"
    row = db.execute(query, bot).fetchone()
    if row is None:
        return int(db.execute("INSERT INTO bot (name, identity) VALUES (?, ?)", bot).lastrowid or 0)
    return int(row[0])


def by_id(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, StoredMatch]:
    """Those of these matches that are stored, `CHUNK` at most; `StoreError` for one that is damaged."""
    rows = db.execute(f"SELECT {_MATCH} FROM match WHERE id IN ({_marks(ids)})", tuple(ids)).fetchall()
    return {match.id: match for _, match in _read(db, rows)}


def as_given(db: sqlite3.Connection, keys: Sequence[int]) -> dict[int, StoredMatch]:
    """The matches with these keys, `CHUNK` at most, by key; damaged ones are left out.

    Their scores are whole numbers where the game gave such: the journal hashes them.
    """
    rows = db.execute(f"SELECT {_MATCH} FROM match WHERE key IN ({_marks(keys)})", tuple(keys)).fetchall()
    try:
        return {row[0]: match for row, match in _read(db, rows, as_floats=False)}
    except StoreError:
        if len(keys) == 1:
            return {}
    return {key: match for one in keys for key, match in as_given(db, (one,)).items()}


def numbered(db: sqlite3.Connection, *, times: bool = True) -> Iterator[tuple[int, int, StoredMatch]]:
    """Number and group of each match that has a number in the schedule, with the match, in this order.

    Without `times`, those of the match are left empty: they are a third of the work.
    """
    last = 0
    query = f"SELECT {_MATCH} FROM match WHERE number > ? ORDER BY number LIMIT {CHUNK}"
    while rows := db.execute(query, (last,)).fetchall():
        for row, match in _read(db, rows, times=times):
            yield row[-2], row[-1], match
        last = rows[-1][-2]


def _read(
    db: sqlite3.Connection, rows: Sequence[Row], *, as_floats: bool = True, times: bool = True
) -> Iterator[tuple[Row, StoredMatch]]:
    """Each of these rows of `match`, `CHUNK` at most, with the match it is of; `StoreError` for a damaged one."""
    keys = [row[0] for row in rows]
    seats: dict[int, list[Row]] = {}
    columns = "".join(f", {name}" for name in SEAT_TIMES) if times else ""
    for row in db.execute(_SEATS_OF.format(marks=_marks(keys), times=columns), keys):
        seats.setdefault(row[0], []).append(row)
    faulted = [key for key, of_match in seats.items() if any(row[6] for row in of_match)]
    faults: dict[int, list[Row]] = {}
    if faulted:
        for row in db.execute(_FAULTS_OF.format(marks=_marks(faulted)), faulted):
            faults.setdefault(row[0], []).append(row)
    for row in rows:
        match = _match(row, seats.get(row[0], ()), faults.get(row[0], ()))
        match.check()
        if as_floats and int in map(type, match.scores):
            match = attrs.evolve(match, scores=tuple(map(float, match.scores)))
        yield row, match


def _match(row: Row, seats: Sequence[Row], faults: Sequence[Row]) -> StoredMatch:
    _, match_id, rival, why, digest, lines, elapsed_s, confinement, deal, stored, *_ = row
    _, numbers, names, identities, ranks, scores, many, *_ = zip(*seats, strict=True) if seats else ((),) * 7
    if numbers != tuple(range(len(seats))):
        raise damaged(match_id, "its seats must be numbered from 0")
    of_seats: list[list[SeatFault]] = [[] for _ in seats]
    for _, seat, kind, n, retired, message in faults:
        if type(seat) is not int or not 0 <= seat < len(seats) or type(n) is not int:
            raise damaged(match_id, "faults: must be those of each seat")
        if type(kind) is not str or type(message) is not str or retired not in (0, 1):
            raise damaged(match_id, "faults: must have a kind and a message")
        of_seats[seat].append(SeatFault(kind, n, bool(retired), message))  # type: ignore[arg-type]
    if many != tuple(map(len, of_seats)):
        raise damaged(match_id, "faults: must be as many as their seat says")
    return StoredMatch(
        id=match_id,
        ranks=ranks,
        scores=scores,
        rival=rival,
        why=why,
        digest=digest,
        lines=lines,
        elapsed_s=elapsed_s,
        faults=tuple(map(tuple, of_seats)),
        times=tuple([SeatTimes(*seat[7:]) for seat in seats if len(seat) > 7]),
        confinement=confinement,
        deal=deal,
        bots=tuple(zip(names, identities, strict=True)),
        stored=stored,
    )


def latest(db: sqlite3.Connection, most: int) -> list[LatestMatch]:
    """The matches stored last, the newest first; damaged ones, which `verify` reports, are left out."""
    rows = db.execute(
        "SELECT m.key, m.id, m.why, m.stored, m.elapsed_s, m.lines, b.name, s.rank, s.score FROM "
        "(SELECT key, id, why, stored, elapsed_s, lines FROM match ORDER BY key DESC LIMIT ?) AS m "
        "JOIN seat s ON s.match = m.key JOIN bot b ON b.id = s.bot ORDER BY m.key DESC, s.seat",
        (most,),
    ).fetchall()
    latest_rows = []
    for _, of_match in groupby(rows, itemgetter(0)):
        seats = list(of_match)
        with suppress(ValueError, TypeError):
            _, match_id, why, stored, elapsed_s, lines, *_ = seats[0]
            names, ranks, scores = zip(*(seat[6:] for seat in seats), strict=True)
            latest_rows.append(
                LatestMatch(
                    id=str(match_id),
                    bots=list(map(str, names)),
                    ranks=list(map(int, ranks)),
                    scores=list(map(float, scores)),
                    why=str(why),
                    stored_s=datetime.fromisoformat(stored).timestamp(),
                    elapsed_s=float(elapsed_s),
                    lines=int(lines),
                )
            )
    return latest_rows


def versions(db: sqlite3.Connection) -> dict[str, list[StoredVersion]]:
    """The versions of each bot that have played, in the order of their first stored matches.

    Where a version had several seats in a match, its best rank counts.
    """
    rows = db.execute(
        # By match first, in whose order seats are stored; CROSS JOIN keeps the order of the tables.
        "SELECT name, identity, many, first, faults, since, until FROM ("
        "SELECT of, count(*) AS many, sum(best = 1) AS first, sum(faults) AS faults, min(stored) AS since, "
        "max(stored) AS until, min(key) AS begun FROM ("
        "SELECT s.bot AS of, m.key, m.stored, min(s.rank) AS best, sum(s.faults) AS faults "
        "FROM match m CROSS JOIN seat s ON s.match = m.key GROUP BY m.key, s.bot) GROUP BY of"
        ") JOIN bot b ON b.id = of ORDER BY begun"
    )
    versions: dict[str, list[StoredVersion]] = {}
    for name, identity, matches, first, faults, since, until in rows:
        version = StoredVersion(str(identity), int(matches), int(first), int(faults), str(since), str(until))
        versions.setdefault(str(name), []).append(version)
    return versions


def matches_of(db: sqlite3.Connection, bot: str, most: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """The ids of the last `most` matches of a bot, the newest first, each with names and identities by seat."""
    rows = db.execute(
        "SELECT m.id, b.name, b.identity FROM match m JOIN seat s ON s.match = m.key JOIN bot b ON b.id = s.bot "
        "WHERE m.key IN (SELECT DISTINCT match FROM seat WHERE bot IN (SELECT id FROM bot WHERE name = ?) "
        "ORDER BY match DESC LIMIT ?) ORDER BY m.key DESC, s.seat",
        (bot, most),
    ).fetchall()
    return [
        (str(match_id), [(str(name), str(identity)) for _, name, identity in seats])
        for match_id, seats in groupby(rows, itemgetter(0))
    ]


def results_before(
    db: sqlite3.Connection, entry: int | None = None
) -> Iterator[tuple[str, int, tuple[tuple[str, str], ...], tuple[int, ...]]]:
    """Id, deal, bots (names, identities) and ranks by seat of each match; with `entry`, of those before this entry."""
    bots = {
        number: (name, identity)
        for number, name, identity in db.execute("SELECT id, name, identity FROM bot")
    }
    where = "" if entry is None else f"WHERE m.id IN (SELECT id FROM journal WHERE seq < {entry:d}) "
    rows = db.execute(
        "SELECT m.key, m.id, m.deal, s.bot, s.rank FROM match m JOIN seat s ON s.match = m.key "
        f"{where}ORDER BY m.key, s.seat"
    )
    for _, of_match in groupby(rows, itemgetter(0)):
        seats = list(of_match)
        _, match_id, deal, *_ = seats[0]
        # What is damaged is left out, and `verify` reports it.
        if all(bot in bots and type(rank) is int for *_, bot, rank in seats):
            yield (
                match_id,
                deal,
                tuple([bots[bot] for *_, bot, _ in seats]),
                tuple([rank for *_, rank in seats]),
            )


def chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    """The values, `CHUNK` at a time."""
    source = iter(values)
    while chunk := list(islice(source, CHUNK)):
        yield chunk


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
