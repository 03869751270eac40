"""Opens the file of a result store, to write or to read, and writes what is not about single matches."""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import StoreError
from warpleague.league.season.text import utc_now
from warpleague.league.store.database import clear_errors, harden, transaction
from warpleague.league.store.store_formats import STORE

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.match.confinement import Confinement

NUMBERING: Final = "numbering"
"""The key in `meta` of the commitment to the entrants whose schedule the numbers of matches are of."""


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made if need be.

    A store of an earlier format is converted, after a copy of it was made beside it.
    """
    with clear_errors(path):
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        try:
            harden(db)
            STORE.open_to_write(db, path)
            with transaction(db):
                db.execute("INSERT INTO meta VALUES ('created', ?) ON CONFLICT DO NOTHING", (utc_now(),))
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
    """A read-only connection to the store at `path`; one of an earlier format is converted in memory."""
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
            STORE.open_to_read(db, path)
        except BaseException:
            db.close()
            raise
        return db


@lru_cache(maxsize=16)
def confinement_text(confinement: Confinement | None) -> str | None:
    """How the store spells a confinement: one text for one meaning."""
    if confinement is None:
        return None
    return json.dumps(confinement.to_json(), sort_keys=True, separators=(",", ":"))


def confinement_id(db: sqlite3.Connection, text: str | None) -> int | None:
    """The number of a confinement's text in the store, which gets one if it is new."""
    if text is None:
        return None
    db.execute("INSERT INTO confinement (text) VALUES (?) ON CONFLICT DO NOTHING", (text,))
    number: int = db.execute("SELECT id FROM confinement WHERE text = ?", (text,)).fetchone()[0]
    return number


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Write down a fact about the league."""
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )


def store_at(path: Path) -> Path:
    """The store at `path`, a file or the folder it is in; `StoreError` if there is none."""
    file = path / "league.sqlite" if path.is_dir() else path
    if not file.is_file():
        raise StoreError(f"{file}: there is no such store; name a league.sqlite, or the folder it is in")
    return file


def unplayed(path: Path, before: str = "") -> StoreError:
    """The error if a command needs results and there are none; `before` names the state instead."""
    return StoreError(
        f"{path}: {before}nothing has been played yet; start with: warpleague league run LEAGUE"
    )
