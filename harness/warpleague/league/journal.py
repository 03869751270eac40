"""What was ever stored, in order: a hash chain over the rows of a store, by which deleted and replaced ones are found.

Leaves when a match is stored to `store`, and comparing rows with their records to `records`.

Nothing is ever deleted from a store, so what the journal names and the store has not, somebody took out. Entry n holds
the id of the n-th match that was stored and its link: the SHA-256 of the link before it (nothing for the first) and
the values of its row as JSON. The last number and link are kept besides, and all of it is written in the transaction
that stores the match. Like any checksum without a key it tells accidents and quick hands, not someone who makes the
whole chain anew.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

COLUMNS: Final = (
    *("id", "deal", "bots", "ranks", "scores", "why", "digest", "faults", "times"),
    *("lines", "elapsed_s", "stored", "rival"),
)
"""The columns of a match that its link covers, in this order; what held of the level follows, as text or null."""

_ROW: Final = ", ".join(f"m.{column}" for column in COLUMNS) + ", h.found"
_HELD: Final = "LEFT JOIN held h ON h.id = m.held"
_ENTRIES: Final = (
    f"SELECT j.seq, j.id, j.link, {_ROW} "
    f"FROM journal j LEFT JOIN match m ON m.id = j.id {_HELD} ORDER BY j.seq"
)
_TWICE: Final = "SELECT id FROM journal GROUP BY id HAVING count(*) > 1 ORDER BY id"
_STRANGERS: Final = "SELECT id FROM match WHERE id NOT IN (SELECT id FROM journal) ORDER BY id"


def append(db: sqlite3.Connection, row: Sequence[Any], found: str | None) -> None:
    """Note that a match was stored: `row` has the values of `COLUMNS`, just as SQLite gives them back."""
    seq, last = _head(db)
    link = _link(last, (*row, found))
    db.execute("INSERT INTO journal VALUES (?, ?, ?)", (seq + 1, row[0], link))
    db.execute(
        "INSERT INTO meta VALUES ('journal', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (f"{seq + 1} {link.hex()}",),
    )


def begin(db: sqlite3.Connection) -> None:
    """Note all matches of a store that had no journal, in the order of storing as far as that is known."""
    for *row, found in db.execute(f"SELECT {_ROW} FROM match m {_HELD} ORDER BY m.stored, m.id"):
        append(db, row, found)


def alterations(db: sqlite3.Connection) -> Iterator[tuple[str | None, str]]:
    """What became of the store since its matches were stored: the id of each match concerned, if known, and what.

    Empty where nothing was altered.
    """
    db.execute("BEGIN")  # a run may go on meanwhile: all of this must be of one moment
    try:
        count, head = _head(db)
        link: bytes | None = b""
        before = 0
        twice = {match_id for (match_id,) in db.execute(_TWICE)}
        for seq, match_id, told, *row in db.execute(_ENTRIES):
            if seq != before + 1:
                many = seq - before - 1
                yield (
                    None,
                    f"{many} {'entry' if many == 1 else 'entries'} missing in the journal, before {seq}",
                )
                link = None
            if row[0] is None:
                yield match_id, "was stored, but has been deleted from the store"
            elif link is not None and match_id not in twice and told != _link(link, row):
                yield match_id, "its row in the store is not the one that was stored"
            before, link = seq, told
        if (count, head) != (before, link):
            yield (
                None,
                f"the journal ends with entry {before}, but {count} had been written, or its end is altered",
            )
        for match_id in sorted(twice):
            yield match_id, "was stored more than once, so it had been deleted in between"
        for (match_id,) in db.execute(_STRANGERS):
            yield match_id, "is in the store, but no run or merge put it there"
    finally:
        db.execute("COMMIT")


def _head(db: sqlite3.Connection) -> tuple[int, bytes]:
    """How many entries there are, and the link of the last one."""
    row = db.execute("SELECT value FROM meta WHERE key = 'journal'").fetchone()
    if row is None:
        return 0, b""
    try:
        count, link = row[0].split()
        return int(count), bytes.fromhex(link)
    except (ValueError, AttributeError):
        return 0, b""  # fits no journal that has entries


def _link(previous: bytes, row: Sequence[Any]) -> bytes:
    # A row that was tampered with may hold bytes where text belongs.
    text = json.dumps(list(row), separators=(",", ":"), ensure_ascii=False, default=repr)
    return sha256(previous + text.encode("utf-8", "surrogatepass")).digest()
