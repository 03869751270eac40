"""What was ever stored, in order: a hash chain over the rows of a store, by which deleted and replaced ones are found.

Leaves when a match is stored to `store`, what facts mean to those who note them, and comparing rows with their records
to `records`.

Nothing is ever deleted from a store, so what the journal names and the store has not, somebody took out. Entry n holds
the id of the n-th match or fact that was stored and its link: the SHA-256 of the link before it (nothing for the
first) and the values of its row as JSON. A fact is what was decided about the league, such as a disqualification: its
id begins with `fact-`, which no match's does. The last number and link are kept besides, and all of it is written in
the transaction that stores the match or fact. Like any checksum without a key it tells accidents and quick hands, not
someone who makes the whole chain anew.
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

FACT: Final = "fact-"
"""How the id of a fact begins."""

FACT_COLUMNS: Final = ("id", "kind", "said", "stored")
"""The columns of a fact that its link covers, in this order."""

_FACT: Final = ", ".join(f"f.{column}" for column in FACT_COLUMNS)
_ROW: Final = ", ".join(f"m.{column}" for column in COLUMNS) + ", h.found"
_HELD: Final = "LEFT JOIN held h ON h.id = m.held"
_ENTRIES: Final = (
    f"SELECT j.seq, j.id, j.link, {_FACT}, {_ROW} "
    f"FROM journal j LEFT JOIN match m ON m.id = j.id {_HELD} LEFT JOIN fact f ON f.id = j.id ORDER BY j.seq"
)
_TWICE: Final = "SELECT id FROM journal GROUP BY id HAVING count(*) > 1 ORDER BY id"
_STRANGERS: Final = "SELECT id FROM match WHERE id NOT IN (SELECT id FROM journal) ORDER BY id"
_STRANGE_FACTS: Final = (
    "SELECT id, kind FROM fact WHERE id NOT IN (SELECT id FROM journal) ORDER BY stored, id"
)


def append(db: sqlite3.Connection, row: Sequence[Any], found: str | None) -> None:
    """Note that a match was stored: `row` has the values of `COLUMNS`, just as SQLite gives them back."""
    _append(db, (*row, found))


def append_fact(db: sqlite3.Connection, row: Sequence[str]) -> None:
    """Note that a fact was stored: `row` has the values of `FACT_COLUMNS`."""
    _append(db, row)


def _append(db: sqlite3.Connection, row: Sequence[Any]) -> None:
    seq, last = _head(db)
    link = _link(last, row)
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
        for seq, entry_id, told, *values in db.execute(_ENTRIES):
            fact, row = values[: len(FACT_COLUMNS)], values[len(FACT_COLUMNS) :]
            if seq != before + 1:
                many = seq - before - 1
                yield (
                    None,
                    f"{many} {'entry' if many == 1 else 'entries'} missing in the journal, before {seq}",
                )
                link = None
            altered = link is not None and entry_id not in twice
            if str(entry_id).startswith(FACT):
                if fact[0] is None:
                    yield None, f"entry {seq} of the journal is a fact that has been deleted from the store"
                elif altered and told != _link(link or b"", fact):
                    yield (
                        None,
                        f"entry {seq} of the journal, a fact ({fact[1]}), is not the one that was stored",
                    )
            elif row[0] is None:
                yield entry_id, "was stored, but has been deleted from the store"
            elif altered and told != _link(link or b"", row):
                yield entry_id, "its row in the store is not the one that was stored"
            before, link = seq, told
        if (count, head) != (before, link):
            yield (
                None,
                f"the journal ends with entry {before}, but {count} had been written, or its end is altered",
            )
        for entry_id in sorted(twice):
            yield entry_id, "was stored more than once, so it had been deleted in between"
        for (match_id,) in db.execute(_STRANGERS):
            yield match_id, "is in the store, but no run or merge put it there"
        for _, kind in db.execute(_STRANGE_FACTS):
            yield None, f"a fact ({kind}) is in the store, but no command of ours put it there"
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
