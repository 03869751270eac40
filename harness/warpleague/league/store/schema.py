"""The tables of the result store in SQLite, and how a store is opened.

A file with anything else than these tables, or of another format, is refused.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import StoreError
from warpleague.league.season.text import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warpleague.match.confinement import Confinement

FORMAT: Final = 6
"""6: columns of results. 5: the journal has the hash of each row, and covers records and all facts. 4: facts. 3: how
bots were confined, and the journal. 2: the score of a solo game's own opponent."""

TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # How bots were confined (`found`) is the same text for nearly all matches, so it is kept once.
    "CREATE TABLE held (id INTEGER PRIMARY KEY, found TEXT NOT NULL UNIQUE)",
    """CREATE TABLE match (
    id TEXT PRIMARY KEY, deal INTEGER NOT NULL, bots TEXT NOT NULL, ranks TEXT NOT NULL, scores TEXT NOT NULL,
    why TEXT NOT NULL, digest TEXT NOT NULL, faults TEXT NOT NULL, times TEXT NOT NULL, lines INTEGER NOT NULL,
    elapsed_s REAL NOT NULL, stored TEXT NOT NULL, rival REAL, held INTEGER REFERENCES held (id)
) WITHOUT ROWID""",
    # Records have their own table: reading results never touches their pages.
    "CREATE TABLE record (id TEXT PRIMARY KEY REFERENCES match (id), size INTEGER NOT NULL, zstd BLOB NOT NULL)",
    "CREATE TABLE fact (id TEXT PRIMARY KEY, kind TEXT NOT NULL, said TEXT NOT NULL, stored TEXT NOT NULL)",
    # What tables are made of, in packed columns; `recent` has the places of matches that are not in them yet.
    "CREATE TABLE columns (chunk INTEGER, part TEXT, data BLOB NOT NULL, PRIMARY KEY (chunk, part))",
    "CREATE TABLE recent (number INTEGER PRIMARY KEY, cluster INTEGER, id TEXT NOT NULL, seats TEXT NOT NULL)",
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, row TEXT NOT NULL, link BLOB NOT NULL)",
)
"""The statements that make the tables. SQLite keeps them in the file, where `check_tables` compares them."""

SPARE: Final = (
    "bring back a copy of it, or play the league again, under another name or in another --results folder"
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
    """A connection to the store at `path`, made if need be."""
    with clear_errors(path):
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        try:
            harden(db)
            with transaction(db):
                if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    for statement in TABLES:
                        db.execute(statement)
                    set_meta(db, "created", utc_now())
                    set_meta(db, "format", str(FORMAT))
                check_tables(db, path)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        except BaseException:
            db.close()
            raise
        return db


class Reading(sqlite3.Connection):
    """A connection that never writes, with what was read of the facts, and in which version of the file."""

    facts_read: tuple[int, list[tuple[Any, ...]]] | None = None


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection to the store at `path`."""
    with clear_errors(path):
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            timeout=30.0,
            factory=Reading,
        )
        try:
            harden(db)
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise unplayed(path)
            check_tables(db, path)
        except BaseException:
            db.close()
            raise
        return db


def harden(db: sqlite3.Connection) -> None:
    """Make SQLite trust a file as little as possible, before anything of it is read."""
    # Text may not be UTF-8: the error must name the match, and must not end all reading.
    db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        db.execute(f"PRAGMA {pragma}")


def check_tables(db: sqlite3.Connection, path: Path, way_on: str = SPARE) -> None:
    """Raise `StoreError` unless the file has the tables of a store, and nothing else, in today's format.

    `way_on` says what can be done.
    """
    with clear_errors(path):
        found = db.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL) LIMIT 99"
        ).fetchall()
        wanted = {statement.split()[2]: statement for statement in TABLES}
        if ("table", "meta", wanted["meta"]) in found:  # else not even the format can be looked up
            row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            if row is None or row[0] != str(FORMAT):
                text = "none" if row is None else str(row[0])[:20]
                raise StoreError(
                    f"{path}: is of store format {text}; this warpleague reads and writes {FORMAT}. "
                    "Give the league another name, or another --results folder, to play it again"
                )
    for kind, name, sql in found:
        if kind != "table" or wanted.pop(str(name), None) != sql:
            raise StoreError(
                f"{path}: was altered, or is no store: its {kind} {name!r} is none that this program makes; "
                f"{way_on}"
            )
    if wanted:
        raise StoreError(
            f"{path}: was altered, or is no store: it has no table {' and no table '.join(wanted)}; {way_on}"
        )


@lru_cache(maxsize=16)
def confinement_text(confinement: Confinement | None) -> str | None:
    """How the store spells a confinement: one text for one meaning."""
    if confinement is None:
        return None
    return json.dumps(confinement.to_json(), sort_keys=True, separators=(",", ":"))


def confinement_id(db: sqlite3.Connection, text: str | None) -> int | None:
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
        f"{path}: {before}nothing has been played yet; start with: warpleague league run LEAGUE"
    )
