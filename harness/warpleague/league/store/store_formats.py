"""The formats of the result store: the tables of today, those of earlier formats, and the step from each to the next.

Up to format 6 a match was one row of JSON texts. The journal hashes these texts, so all their content is in the typed
columns, and `match_rows` makes the same texts from them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from warpleague.league.season.played_match import SEAT_TIMES
from warpleague.league.season.text import is_text
from warpleague.league.store.file_formats import FileKind, Format, create, replace

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    Row = tuple[Any, ...]

TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE bot (id INTEGER PRIMARY KEY, name TEXT NOT NULL, identity TEXT NOT NULL)",
    "CREATE UNIQUE INDEX bot_of ON bot (name, identity)",
    # How bots were confined is the same JSON text for nearly all matches.
    "CREATE TABLE confinement (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE UNIQUE INDEX confinement_of ON confinement (text)",
    # `number` and `cluster` are the match's number and group in the schedule that `numbering` is about, else NULL.
    """CREATE TABLE match (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, number INTEGER, cluster INTEGER, deal INTEGER NOT NULL, rival REAL,
    why TEXT NOT NULL, digest TEXT NOT NULL, lines INTEGER NOT NULL, elapsed_s REAL NOT NULL, stored TEXT NOT NULL,
    confinement INTEGER REFERENCES confinement (id)
)""",
    "CREATE UNIQUE INDEX match_id ON match (id)",
    "CREATE UNIQUE INDEX match_number ON match (number)",
    "CREATE INDEX match_confinement ON match (confinement, number)",
    # `score` has no type, so that it stays whole or not, as the game gave it. `faults` is how many there are.
    """CREATE TABLE seat (
    match INTEGER NOT NULL REFERENCES match (key), seat INTEGER NOT NULL, bot INTEGER NOT NULL REFERENCES bot (id),
    rank INTEGER NOT NULL, score NOT NULL, faults INTEGER NOT NULL, decisions INTEGER NOT NULL, wall_ms REAL NOT NULL,
    cpu_ms REAL NOT NULL, wait_ms REAL NOT NULL, longest_ms REAL NOT NULL, failures INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL, PRIMARY KEY (match, seat)
) WITHOUT ROWID""",
    "CREATE INDEX seat_bot ON seat (bot)",
    "CREATE INDEX seat_faulty ON seat (match, seat, bot) WHERE faults > 0",
    """CREATE TABLE fault (
    match INTEGER NOT NULL REFERENCES match (key), seat INTEGER NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL,
    n INTEGER NOT NULL, retired INTEGER NOT NULL, message TEXT NOT NULL, PRIMARY KEY (match, seat, place)
) WITHOUT ROWID""",
    # Records have their own table: reading results never touches their pages.
    "CREATE TABLE record (id TEXT PRIMARY KEY REFERENCES match (id), size INTEGER NOT NULL, zstd BLOB NOT NULL)",
    "CREATE TABLE fact (id TEXT PRIMARY KEY, kind TEXT NOT NULL, said TEXT NOT NULL, stored TEXT NOT NULL)",
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, row TEXT NOT NULL, link BLOB NOT NULL)",
)
"""The statements that make the tables and indexes of format 7, today's."""

_TABLES_6: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE held (id INTEGER PRIMARY KEY, found TEXT NOT NULL UNIQUE)",
    """CREATE TABLE match (
    id TEXT PRIMARY KEY, deal INTEGER NOT NULL, bots TEXT NOT NULL, ranks TEXT NOT NULL, scores TEXT NOT NULL,
    why TEXT NOT NULL, digest TEXT NOT NULL, faults TEXT NOT NULL, times TEXT NOT NULL, lines INTEGER NOT NULL,
    elapsed_s REAL NOT NULL, stored TEXT NOT NULL, rival REAL, held INTEGER REFERENCES held (id)
) WITHOUT ROWID""",
    "CREATE TABLE record (id TEXT PRIMARY KEY REFERENCES match (id), size INTEGER NOT NULL, zstd BLOB NOT NULL)",
    "CREATE TABLE fact (id TEXT PRIMARY KEY, kind TEXT NOT NULL, said TEXT NOT NULL, stored TEXT NOT NULL)",
    "CREATE TABLE columns (chunk INTEGER, part TEXT, data BLOB NOT NULL, PRIMARY KEY (chunk, part))",
    "CREATE TABLE recent (number INTEGER PRIMARY KEY, cluster INTEGER, id TEXT NOT NULL, seats TEXT NOT NULL)",
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, row TEXT NOT NULL, link BLOB NOT NULL)",
)

_NEW: Final = "new_"


def _from_6(db: sqlite3.Connection, schema: str) -> None:
    """Make the typed tables of format 7 of the JSON texts of format 6.

    Of a match whose texts cannot be read no seats are made: it stays damaged, so `verify` finds it, and `mend`
    removes it. The schedule's numbers are noted when the league is run next.
    """
    tables = {statement.split()[2]: statement for statement in TABLES if " TABLE " in statement}
    for name in ("bot", "confinement", "match", "seat", "fault"):
        create(db, tables[name], schema, _NEW if name == "match" else "")
    db.execute(f"INSERT INTO {schema}.confinement SELECT id, found FROM held")
    db.execute(
        f"INSERT INTO {schema}.{_NEW}match SELECT NULL, m.id, NULL, NULL, m.deal, m.rival, m.why, m.digest, m.lines, "
        "m.elapsed_s, m.stored, m.held FROM match m "
        "LEFT JOIN (SELECT id, max(seq) AS seq FROM journal GROUP BY id) j ON j.id = m.id "
        "ORDER BY j.seq IS NULL, j.seq, m.id"
    )
    bots: dict[tuple[str, str], int] = {}
    fault_rows: list[Row] = []
    marks = ",".join("?" * (6 + len(SEAT_TIMES)))
    db.executemany(
        f"INSERT INTO {schema}.seat VALUES ({marks})",
        _seats_of_6(db, f"{schema}.{_NEW}match", bots, fault_rows),
    )
    db.executemany(f"INSERT INTO {schema}.fault VALUES (?, ?, ?, ?, ?, ?, ?)", fault_rows)
    db.executemany(
        f"INSERT INTO {schema}.bot VALUES (?, ?, ?)", [(number, *bot) for bot, number in bots.items()]
    )
    replace(db, "match", schema, _NEW)
    for statement in TABLES:
        if " INDEX " in statement:
            create(db, statement, schema)
    if schema == "main":
        for name in ("held", "columns", "recent"):
            db.execute(f"DROP TABLE {name}")


def _seats_of_6(
    db: sqlite3.Connection, table: str, bots: dict[tuple[str, str], int], fault_rows: list[Row]
) -> Iterator[Row]:
    """The rows of `seat` for all matches in `table`; notes the bots, and the rows of `fault`, in the other two."""
    rows = db.execute(
        f"SELECT n.key, m.bots, m.ranks, m.scores, m.faults, m.times FROM {table} n JOIN match m ON m.id = n.id "
        "ORDER BY n.key"
    )
    for key, *texts in rows:
        # A text that is damaged may be of any type, and say anything.
        with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):
            seats, faults = _match_of_6(key, texts)
            for seat, bot, *values in seats:
                yield key, seat, bots.setdefault(bot, len(bots) + 1), *values
            fault_rows += faults


def _match_of_6(key: int, texts: list[str]) -> tuple[list[Row], list[Row]]:
    """A match's rows of `seat`, with name and identity of the bot and without the match, and of `fault`."""
    bots, ranks, scores, faulted, times = (
        msgspec.json.decode(text or "[]", type=list[Any]) for text in texts
    )
    faulted = faulted or [[] for _ in ranks]
    if not len(bots) == len(ranks) == len(scores) == len(faulted) == len(times):
        raise ValueError("lists of different lengths")
    seats = [
        (
            *(
                seat,
                (_text(bot[0]), _text(bot[1])),
                _number(ranks[seat]),
                _number(scores[seat]),
                len(faulted[seat]),
            ),
            *(_number(times[seat].get(name, 0)) for name in SEAT_TIMES),
        )
        for seat, bot in enumerate(bots)
    ]
    faults = [
        (
            key,
            seat,
            place,
            _text(one["kind"]),
            _number(one["n"]),
            int(one["retired"] is True),
            _text(one["message"]),
        )
        for seat, of_seat in enumerate(faulted)
        for place, one in enumerate(of_seat)
    ]
    return seats, faults


def _number(value: Any) -> Any:
    if type(value) not in (int, float) or not abs(value) < 1 << 62:
        raise ValueError("is no number that a table can have")
    return value


def _text(value: Any) -> str:
    if not is_text(value):
        raise ValueError("is no text")
    return str(value)


STORE: Final = FileKind(
    "store",
    "meta",
    (Format(6, _TABLES_6), Format(7, TABLES, _from_6)),
    "Give the league another name, or another --results folder, to play it again",
)
"""The result store. Formats before the sixth cannot be read any more."""
