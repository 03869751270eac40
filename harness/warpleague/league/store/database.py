"""Small helpers for SQLite files: transactions, what an error means to a user, and how to trust a file little."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPARE: Final = (
    "bring back a copy of it, or play the league again, under another name or in another --results folder"
)
"""The remedy for a store that is damaged."""


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
"""The remedies, by SQLite's primary result code; SQLITE_ERROR here is a table or column that is not there."""


def harden(db: sqlite3.Connection) -> None:
    """Make SQLite trust a file as little as possible, before anything of it is read."""
    # Text may not be UTF-8: the error must name the match, and must not end all reading.
    db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        db.execute(f"PRAGMA {pragma}")


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; `ValueError` or `TypeError` if there is none."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("is not a JSON object")
    return data


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
    """An error of SQLite becomes a `StoreError` that names the store at `path`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError):
            raise  # a match stored twice is a bug of ours
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # absent where the module, not SQLite, objects
        raise StoreError(f"{path}: cannot be used: {error}; {_WAYS_ON.get(code, SPARE)}") from error
