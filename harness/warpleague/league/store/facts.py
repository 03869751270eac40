"""Facts: decisions about a league, stored in its store and entered into its journal.

The modules that store a fact know what it means.
"""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import StoreError
from warpleague.league.season.text import utc_now
from warpleague.league.store import journal
from warpleague.league.store.database import SPARE, clear_errors, json_object
from warpleague.league.store.schema import NUMBERING, Reading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

META: Final = "settled"
"""The kind of the fact that has the SHA-256 of everything the store keeps about the league as a whole."""

_FACTS: Final = (
    "SELECT f.kind, f.said, f.stored, j.seq FROM journal j JOIN fact f ON f.id = j.id ORDER BY j.seq"
)


@attrs.frozen
class Fact:
    """A decision: its kind, what it says as JSON, when it was stored (ISO time), its entry in the journal."""

    kind: str
    said: dict[str, Any]
    stored: str
    seq: int


def add_fact(db: sqlite3.Connection, kind: str, content: dict[str, Any]) -> None:
    """Store a fact, with its entry in the journal; in a transaction."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    row = (journal.FACT + secrets.token_hex(8), kind, text, utc_now())
    db.execute("INSERT INTO fact VALUES (?, ?, ?, ?)", row)
    journal.append_fact(db, row)


def facts_in(db: sqlite3.Connection, path: Path, kinds: Sequence[str] = ()) -> list[Fact]:
    """All facts of the store at `path` that its journal names, in that order, or those of some kinds.

    `StoreError` if they cannot be read.
    """
    with clear_errors(path):
        rows = _rows(db)
    try:
        return [
            Fact(kind, json_object(content), str(stored), seq)
            for kind, content, stored, seq in rows
            if not kinds or kind in kinds
        ]
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{path}: is damaged: its facts: {error}; {SPARE}") from None


def _rows(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """The rows of all facts; finding them reads the whole journal, so a reader does it only once."""
    if not isinstance(db, Reading):
        return db.execute(_FACTS).fetchall()
    version = int(db.execute("PRAGMA data_version").fetchone()[0])
    if db.facts_read is None or db.facts_read[0] != version:
        db.facts_read = version, db.execute(_FACTS).fetchall()
    return db.facts_read[1]


def settle_meta(db: sqlite3.Connection, path: Path) -> None:
    """Enter what the store keeps about the league as a whole, if that has changed; in a transaction."""
    now, before = _meta_hashes(db), facts_in(db, path, [META])
    if not before or before[-1].said != now:
        add_fact(db, META, now)


def meta_alterations(db: sqlite3.Connection, path: Path) -> list[str]:
    """Which of the facts about the league as a whole are not those that were stored."""
    before = facts_in(db, path, [META])
    now, was = _meta_hashes(db), before[-1].said if before else {}
    changed = sorted(key for key in now.keys() | was.keys() if now.get(key) != was.get(key))
    return [
        f"its {key} is not the one that was stored"
        for key in changed
        if key not in _NOT_SETTLED
        and (before or key != "created")  # which is there before anything is settled
    ]


_NOT_SETTLED: Final = ("format", "journal", NUMBERING)
"""The facts that change without a decision: the format of the file, the head of the journal, the numbering."""


def _meta_hashes(db: sqlite3.Connection) -> dict[str, str]:
    rows = db.execute("SELECT key, value FROM meta").fetchall()
    return {
        str(key): sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
        for key, value in rows
        if key not in _NOT_SETTLED
    }
