"""The journal of a store: a hash chain over everything ever stored, which shows what was deleted or replaced.

Entry n holds the id of the n-th match or event that was stored, the SHA-256 of its row (including the record of a
match) and its link: the SHA-256 of the link before it (nothing for the first), the id and the row's hash. An event is
what was decided or fixed about the league, such as its entrants or a disqualification: it is in the table `fact`, and
its id begins with `fact-`, which no match's does. The entry is written in the same transaction as the match or event.

The number and link of the last entry are the *head* of the journal. Anyone who has an old head can check whether
the store still goes back to it. Without an old head the chain shows accidents and simple changes, but not a chain
that somebody computed again from the start. `verifying` compares rows with their records.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from warpleague.errors import BadInput
from warpleague.league.season.fixture import compact_json
from warpleague.league.store import match_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from warpleague.league.season.fixture import StoredMatch

EVENT: Final = "fact-"
"""How the id of an event begins."""

REMOVED: Final = "removed"
"""The kind of the event that a match, named in it, was removed from the store because it did not hold."""

VOIDED: Final = "void"
"""The kind of the event that a match was begun in vain: which, its bots, why, and whose service failed, if one did."""

CUT: Final = "cut"
"""The kind of the event that the journal's end was not its last known entry."""

_EVENT_COLUMNS: Final = ("id", "kind", "said", "stored")
_EVENT: Final = ", ".join(f"f.{column}" for column in _EVENT_COLUMNS)
_ENTRIES: Final = (
    f"SELECT j.seq, j.id, j.row, j.link, {_EVENT}, m.key, c.text, r.size, r.zstd "
    "FROM journal j LEFT JOIN match m ON m.id = j.id LEFT JOIN confinement c ON c.id = m.confinement "
    "LEFT JOIN record r ON r.id = j.id LEFT JOIN fact f ON f.id = j.id ORDER BY j.seq"
)
_KEY: Final = 4 + len(_EVENT_COLUMNS)  # where such a row has the key of its match
_TWICE: Final = (
    "SELECT id, seq FROM journal WHERE id IN "
    "(SELECT id FROM journal GROUP BY id HAVING count(*) > 1) ORDER BY seq"
)
_REMOVALS: Final = (
    "SELECT f.said, j.seq FROM journal j JOIN fact f ON f.id = j.id WHERE f.kind = ? ORDER BY j.seq"
)
_STRANGERS: Final = "SELECT id FROM match WHERE id NOT IN (SELECT id FROM journal) ORDER BY id"
_STRANGE_EVENTS: Final = (
    "SELECT id, kind FROM fact WHERE id NOT IN (SELECT id FROM journal) ORDER BY stored, id"
)
_STRANGE_RECORDS: Final = (
    "SELECT id FROM record WHERE id NOT IN (SELECT id FROM match) "
    "AND id NOT IN (SELECT id FROM journal) ORDER BY id"
)
_HEAD: Final = re.compile(r"(0|[1-9][0-9]{0,15})-([0-9a-f]{64}|)")


@attrs.frozen
class Head:
    """The end of a journal at some moment: how many entries it had, and the link of the last one."""

    count: int
    link: bytes

    def __str__(self) -> str:
        return f"{self.count}-{self.link.hex()}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The head that is written in `text`; `BadInput` if it is not a head."""
        match = _HEAD.fullmatch(text.strip())
        if match is None or bool(int(match[1])) != bool(match[2]):
            raise BadInput(
                f"{text!r} is not the head of a journal: that is a number, a dash and 64 hexadecimal digits, as a run "
                "prints them behind Receipt"
            )
        return cls(int(match[1]), bytes.fromhex(match[2]))


def append(
    db: sqlite3.Connection, match: StoredMatch, confined: str | None, size: int, packed: bytes
) -> None:
    """Note that a match was stored.

    The hash covers its values as `StoredMatch.journal_texts` gives them, then how the bots were `confined`, and `size`
    and SHA-256 of the packed record.
    """
    append_entry(db, match.id, row_hash((*match.journal_texts(), confined, size, sha256(packed).hexdigest())))


def append_entry(db: sqlite3.Connection, entry_id: str, row: str) -> None:
    """Note that a match or an event was stored, whose row has the hash `row`."""
    last = head(db)
    new = Head(last.count + 1, _link(last.link, entry_id, row))
    db.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", (new.count, entry_id, row, new.link))
    # The head stands there a second time. If somebody removes the last entries with their matches, what is left is a
    # chain without a fault; only this shows that it was longer.
    db.execute(
        "INSERT INTO meta VALUES ('journal', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (str(new),),
    )


def head(db: sqlite3.Connection) -> Head:
    """The head of the journal as it is now."""
    row = db.execute("SELECT seq, link FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(0, b"") if row is None else Head(row[0], row[1] if isinstance(row[1], bytes) else b"")


def goes_back_to(db: sqlite3.Connection, head: Head) -> bool:
    """Whether the journal had this head once."""
    row = db.execute("SELECT link FROM journal WHERE seq = ?", (head.count,)).fetchone()
    return head.count == 0 or (row is not None and row[0] == head.link)


def cut(db: sqlite3.Connection) -> tuple[Head, str] | None:
    """Where the journal ends, and where it ended when it was last written, if that is elsewhere.

    Whoever opens a store to write enters this as an event, before the next entry makes both the same again.
    """
    row = db.execute("SELECT value FROM meta WHERE key = 'journal'").fetchone()
    stored, now = Head(0, b"") if row is None else row[0], head(db)
    return None if str(stored) == str(now) else (now, str(stored))


def alterations(
    db: sqlite3.Connection, heads: Sequence[Head] = (), seen: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[str | None, str]]:
    """The alterations of the store since its matches were stored: the id of each match concerned, if known, and what.

    Empty where nothing was altered, and the journal goes back to all of `heads`, which it had once. `seen` is told now
    and then up to which entry it was compared.
    """
    db.execute("BEGIN")  # a run may go on meanwhile: all of this must be of one moment
    try:
        yield from _alterations(db, {head for head in heads if head.count}, seen)
    finally:
        db.execute("COMMIT")


def _alterations(
    db: sqlite3.Connection, wanted: set[Head], seen: Callable[[int], None]
) -> Iterator[tuple[str | None, str]]:
    # What is checked for each entry: its number follows, its link follows from the one before, its row is as it was.
    # After a wrong entry the chain goes on from the link that is stored, so that one error is told once. In one pass,
    # with what is entered joined to each entry. Few matches have two entries or were removed: these are read
    # beforehand, so that no entry needs a query of its own.
    entries = _Entries(db)
    link, before = b"", 0
    for (seq, entry_id, stored_row_hash, stored, *values), match in _with_matches(db, seen):
        event, row = values[: len(_EVENT_COLUMNS)], values[len(_EVENT_COLUMNS) :]
        if seq != before + 1:
            many = seq - before - 1
            yield None, f"{many} {'entry' if many == 1 else 'entries'} missing in the journal, before {seq}"
        elif stored != _link(link, entry_id, stored_row_hash):
            yield None, f"entry {seq} of the journal is not the one that was written"
        wanted.discard(Head(seq, stored if isinstance(stored, bytes) else b""))
        before, link = seq, stored if isinstance(stored, bytes) else b""
        if str(entry_id).startswith(EVENT):
            if event[0] is None:
                yield None, f"entry {seq} of the journal is an event that has been deleted from the store"
            elif stored_row_hash != row_hash(event):
                yield (
                    None,
                    f"entry {seq} of the journal, an event ({event[1]}), is not the one that was stored",
                )
            elif event[1] == CUT:
                yield None, f"before entry {seq} the journal had been cut, or its end altered: {event[2]}"
            continue
        yield from _of_match(entries, seq, entry_id, stored_row_hash, row, match)
    if (problem := cut(db)) is not None:
        ends, ended = str(problem[0]) if problem[0].count else "nothing", problem[1]
        yield (
            None,
            f"the journal ends with {ends}, but when it was written last it ended with {ended}: it was cut, or its "
            "end is altered",
        )
    for lost in sorted(wanted, key=lambda head: head.count):
        what = f"its journal does not go back to the head {lost}: what was stored then has been deleted or replaced"
        yield None, what
    for (match_id,) in db.execute(_STRANGERS):
        yield match_id, "is in the store, but no run or merge put it there"
    for (match_id,) in db.execute(_STRANGE_RECORDS):
        yield match_id, "has a record in the store, but no result"
    for _, kind in db.execute(_STRANGE_EVENTS):
        yield None, f"an event ({kind}) is in the store, but no command of ours put it there"


def _with_matches(
    db: sqlite3.Connection, seen: Callable[[int], None]
) -> Iterator[tuple[tuple[Any, ...], StoredMatch | None]]:
    """Each row of `_ENTRIES` with the match it is of, if that can be read; some hundred are read at once."""
    for rows in match_rows.chunks(db.execute(_ENTRIES)):
        keys = [row[_KEY] for row in rows if row[_KEY] is not None]
        matches = match_rows.as_given(db, keys) if keys else {}
        for row in rows:
            yield row, matches.get(row[_KEY])
        seen(rows[-1][0])


def _of_match(
    entries: _Entries,
    seq: int,
    match_id: str,
    stored_row_hash: str,
    row: Sequence[Any],
    match: StoredMatch | None,
) -> Iterator[tuple[str | None, str]]:
    # A match may be stored again after `mend` removed it. So its row must be the one of its last entry, and between
    # two of its entries one must say that it was removed.
    later, taken = entries.later(match_id, seq), entries.removed_after(match_id, seq)
    if later is not None:
        if taken is None or taken > later:
            yield match_id, "was stored more than once, so it had been deleted in between"
    elif taken is not None:
        if row[0] is not None:
            yield match_id, "was removed from the store, but is in it"
    elif row[0] is None:
        yield match_id, "was stored, but has been deleted from the store"
    else:
        _, confined, size, packed = row
        # One that cannot be read is not what was stored.
        texts = () if match is None else match.journal_texts()
        packed_hash = sha256(packed).hexdigest() if isinstance(packed, bytes) else ""
        if stored_row_hash != row_hash((*texts, confined, size, packed_hash)):
            yield match_id, "its row or its record in the store is not the one that was stored"


class _Entries:
    """Which matches were stored more than once or removed, and where the journal says so."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._again: dict[str, list[int]] = {}
        self._removed: dict[str, list[int]] = {}
        for match_id, seq in db.execute(_TWICE):
            self._again.setdefault(match_id, []).append(seq)
        for content, seq in db.execute(_REMOVALS, (REMOVED,)):
            try:
                match_id = json.loads(content)["match"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue  # not as it was stored: the hash differs
            self._removed.setdefault(str(match_id), []).append(seq)

    def later(self, match_id: str, seq: int) -> int | None:
        """The next entry of the match after entry `seq`, or None."""
        return next((other for other in self._again.get(match_id, ()) if other > seq), None)

    def removed_after(self, match_id: str, seq: int) -> int | None:
        """The first entry after entry `seq` that removes the match, or None."""
        return next((other for other in self._removed.get(match_id, ()) if other > seq), None)


def row_hash(row: Sequence[Any]) -> str:
    """The SHA-256 of the values of a row as JSON."""
    # JSON keeps apart what SQL and Python take for equal: 1 and 1.0, a number and its text, nothing and an empty text.
    # A row that was tampered with may hold bytes where text belongs.
    return sha256(compact_json(list(row)).encode("utf-8", "surrogatepass")).hexdigest()


def _link(previous: bytes, entry_id: object, row: object) -> bytes:
    return sha256(previous + f"{entry_id} {row}".encode("utf-8", "surrogatepass")).digest()
