"""How the result store is laid out in SQLite: its tables, and what becomes of a store of an earlier format.

Leaves what goes in and comes out to `store`, and what the journal is good for to `journal`. A store of an
earlier format is brought up to date when it is opened to write; opened to read it is left as it is, and looks like one
of today's that does not tell what it cannot know.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import zstandard

from warpleague.errors import StoreError
from warpleague.league import journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT: Final = 4
"""4: facts, what was decided about the league. 3: what held of the level, and the journal. 2: the score of a solo
game's own opponent."""

JOURNAL_SINCE: Final = 3
"""The first format with a journal, and what held of the level."""

READABLE: Final = (2, JOURNAL_SINCE, FORMAT)
"""The formats that can be read, and brought up to date."""

_TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE match (
    id TEXT PRIMARY KEY, deal INTEGER NOT NULL, bots TEXT NOT NULL, ranks TEXT NOT NULL, scores TEXT NOT NULL,
    why TEXT NOT NULL, digest TEXT NOT NULL, faults TEXT NOT NULL, times TEXT NOT NULL, lines INTEGER NOT NULL,
    elapsed_s REAL NOT NULL, stored TEXT NOT NULL, rival REAL
) WITHOUT ROWID;
CREATE TABLE record (id TEXT PRIMARY KEY REFERENCES match (id), size INTEGER NOT NULL, zstd BLOB NOT NULL);
"""
# Records have their own table: reading results never touches their pages.

# What held of the level is the same text for nearly all matches, so it is kept once.
_SINCE_3: Final = """
CREATE TABLE held (id INTEGER PRIMARY KEY, found TEXT NOT NULL UNIQUE);
ALTER TABLE match ADD COLUMN held INTEGER REFERENCES held (id);
CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, link BLOB NOT NULL);
"""
_SINCE_4: Final = """
CREATE TABLE fact (id TEXT PRIMARY KEY, kind TEXT NOT NULL, said TEXT NOT NULL, stored TEXT NOT NULL);
"""
# The word temp, since these must not be written into the file; they come before its tables of the same name.
_LIKE_3: Final = """
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW held AS SELECT 0 AS id, '' AS found WHERE 0;
CREATE TEMP VIEW match AS SELECT *, NULL AS held FROM main.match;
CREATE TEMP VIEW journal AS SELECT 0 AS seq, '' AS id, x'' AS link WHERE 0;
"""
_LIKE_4: Final = """
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW fact AS SELECT '' AS id, '' AS kind, '' AS said, '' AS stored WHERE 0;
"""
_CHUNK: Final = 400
_HEADER_BYTES: Final = 1 << 18  # more than any header has, options of the largest game included


SPARE: Final = (
    "bring back a copy of it, or play the league anew, under another name or in another --results folder"
)
"""What can be done about a store that is damaged."""

_WAYS_ON: Final = {
    **dict.fromkeys((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR), SPARE),
    **dict.fromkeys(
        (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR),
        "what was stored is safe: see that the disk works and has space, then run it again",
    ),
    **dict.fromkeys(
        (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
        "another program has it open for writing: wait for that, or end it",
    ),
    **dict.fromkeys(
        (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM),
        "see that this user may read and write it, and the folder it is in; or copy the folder elsewhere",
    ),
}
"""What can be done, by SQLite's primary result code; SQLITE_ERROR here is a table or column that is not there."""


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made if need be, or brought up to date."""
    with clear_errors(path):
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            _open_tables(db, path)
        except BaseException:
            db.close()
            raise
        return db


def _open_tables(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new store, or bring those of an earlier format up to date, in one transaction."""
    with transaction(db):
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            _run(db, _TABLES + _SINCE_3 + _SINCE_4)
            set_meta(db, "created", utc_now())
        else:
            found = _format_of(db, path)
            if found < JOURNAL_SINCE:
                _run(db, _SINCE_3)
                _recall_held(db)
                journal.begin(db)
            if found < FORMAT:
                _run(db, _SINCE_4)
        set_meta(db, "format", str(FORMAT))


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, int]:
    """A read-only connection to the store at `path`, and its format; an earlier one looks like today's."""
    with clear_errors(path):
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=30.0
        )
        try:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                raise unplayed(path)
            found = _format_of(db, path)
            if found < JOURNAL_SINCE:
                _run(db, _LIKE_3)
            if found < FORMAT:
                _run(db, _LIKE_4)
        except BaseException:
            db.close()
            raise
        return db, found


def _format_of(db: sqlite3.Connection, path: Path) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    for known in READABLE:
        if row is not None and row[0] == str(known):
            return known
    found = "none" if row is None else row[0]
    raise StoreError(
        f"{path}: is of store format {found}; this warpleague reads formats "
        f"{READABLE[0]} to {READABLE[-1]}, and writes {FORMAT}. "
        "Give the league another name, or another --results folder, to play it anew"
    )


def _run(db: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";"):  # `executescript` would commit
        db.execute(statement)


def _recall_held(db: sqlite3.Connection) -> None:
    """Note for matches stored by an earlier format what their records say held of the level."""
    last = ""
    while chunk := db.execute(
        "SELECT id, zstd FROM record WHERE id > ? ORDER BY id LIMIT ?", (last, _CHUNK)
    ).fetchall():
        last = chunk[-1][0]
        for match_id, packed in chunk:
            held = held_id(db, held_in(packed))
            if held is not None:
                db.execute("UPDATE match SET held = ? WHERE id = ?", (held, match_id))


def held_in(packed: bytes) -> str | None:
    """What a compressed record says held of the level, as `held_text`; None if it says nothing, or is damaged."""
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            header = reader.read(_HEADER_BYTES).split(b"\n", 1)[0]
        return held_text(json.loads(header).get("detail"))
    except (zstandard.ZstdError, ValueError, TypeError, AttributeError):
        return None


def held_text(held: dict[str, Any] | None) -> str | None:
    """How the store spells what held of a level: one text for one meaning."""
    return None if held is None else json.dumps(held, sort_keys=True, separators=(",", ":"))


def held_id(db: sqlite3.Connection, text: str | None) -> int | None:
    """The number under which the store keeps `text`, given to it if it is new."""
    if text is None:
        return None
    db.execute("INSERT INTO held (found) VALUES (?) ON CONFLICT (found) DO NOTHING", (text,))
    found: int = db.execute("SELECT id FROM held WHERE found = ?", (text,)).fetchone()[0]
    return found


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; `ValueError` or `TypeError` if there is none."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("is no JSON object")
    return data


def utc_now() -> str:
    """The time as the store writes it: ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Write down a fact about the league."""
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of the block is committed, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back by itself after some errors, a full disk among them, in the commit too.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """What SQLite objects to becomes a `StoreError` that names the store at `path`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError):
            raise  # a match stored twice is a bug of ours
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # absent where the module, not SQLite, objects
        raise StoreError(f"{path}: cannot be used: {error}; {_WAYS_ON.get(code, SPARE)}") from error


def store_at(path: Path) -> Path:
    """The store at `path`, a file or the folder it is in; `StoreError` if there is none."""
    found = path / "league.sqlite" if path.is_dir() else path
    if not found.is_file():
        raise StoreError(f"{found}: there is no such store; name a league.sqlite, or the folder it is in")
    return found


def unplayed(path: Path, before: str = "") -> StoreError:
    """What to raise where results are asked for and there are none; `before` is what there is instead."""
    return StoreError(
        f"{path}: {before}nothing has been played yet; start with: warpleague league run CONFIG"
    )
