"""Facts: what was decided about a league, kept in its store and entered into its journal.

Leaves what a fact of some kind means to those who store it, and opening the store to `store`.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import StoreError
from warpleague.league import journal
from warpleague.league.schema import SPARE, clear_errors, json_object, transaction, utc_now

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_FACTS: Final = "SELECT f.kind, f.said, f.stored FROM journal j JOIN fact f ON f.id = j.id ORDER BY j.seq"


@attrs.frozen
class Fact:
    """What was decided: of which kind, what it says as JSON, and when it was stored (ISO time)."""

    kind: str
    said: dict[str, Any]
    stored: str


def add_fact(db: sqlite3.Connection, path: Path, kind: str, said: dict[str, Any]) -> None:
    """Store a fact in the store at `path`, with its entry in the journal; durable when this returns."""
    text = json.dumps(said, separators=(",", ":"), ensure_ascii=False)
    row = (journal.FACT + secrets.token_hex(8), kind, text, utc_now())
    with clear_errors(path), transaction(db):
        db.execute("INSERT INTO fact VALUES (?, ?, ?, ?)", row)
        journal.append_fact(db, row)


def facts_in(db: sqlite3.Connection, path: Path) -> list[Fact]:
    """All facts of the store at `path` that its journal names, in that order; `StoreError` if they cannot be read."""
    with clear_errors(path):
        rows = db.execute(_FACTS).fetchall()
    try:
        return [Fact(kind, json_object(said), str(stored)) for kind, said, stored in rows]
    except (TypeError, ValueError) as error:
        raise StoreError(f"{path}: is damaged: its facts: {error}; {SPARE}") from None
