"""Opens a store that comes from a stranger: checks that its tables are ours, and limits all reading.

SQLite files can hold views, triggers and pages that lead in circles. So nothing is read before the list of tables
was checked, matches must come in the order of their ids, and neither a value nor the time between two of them may
be large.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from warpleague.errors import StoreError
from warpleague.league.season.season import ID
from warpleague.league.season.text import is_text
from warpleague.league.store.database import harden
from warpleague.league.store.store_formats import STORE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAX_DEAL: Final = 1 << 53
_MAX_BYTES: Final = 1 << 26  # a packed record; the largest games have some hundred KiB
_MAX_FACT: Final = 1 << 20
_MAX_HEAD: Final = 99
_PATIENCE_S: Final = 20.0  # for one row
_STEPS: Final = 20_000  # of SQLite's machine, between two looks at the clock


class UntrustedStore:
    """A store that is opened to read and not trusted; a context manager.

    Reading one row may take `patience_s` seconds; the clock is read after every `steps` steps of SQLite's machine.
    """

    def __init__(self, path: Path, patience_s: float = _PATIENCE_S, steps: int = _STEPS) -> None:
        self.path = path
        self._patience_s = patience_s
        self._until_s = time.monotonic() + patience_s
        with self._bounded():
            self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            try:
                harden(self._db)
                self._db.execute("PRAGMA query_only = ON")
                self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
                self._db.set_progress_handler(lambda: time.monotonic() > self._until_s, steps)
                self._db.execute("BEGIN")  # the league may be running: read the state of one moment
                STORE.check(self._db, path, "nothing was taken over")
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        """Errors inside this context name this store; errors outside it are about our own store."""
        self._until_s = time.monotonic() + self._patience_s
        try:
            yield
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.OperationalError) and "interrupt" in str(error):
                raise self.damaged("reading it takes too long") from None
            raise self.damaged(f"cannot be read: {error}") from None

    def damaged(self, what: str) -> StoreError:
        """The error about this store; nothing of it is taken over then."""
        return StoreError(f"{self.path}: {what}; nothing was taken over")

    def fact(self, key: str) -> str | None:
        """A text about the season, or None."""
        with self._bounded():
            rows = self._db.execute("SELECT value FROM meta WHERE key = ? LIMIT 1", (key,)).fetchall()
        if not rows:
            return None
        (value,) = rows[0]
        if not isinstance(value, str) or len(value) > _MAX_FACT or not is_text(value):
            raise self.damaged(f"its {key} is no text of reasonable length")
        return value

    def conditions(self) -> dict[str, Any]:
        """The conditions of its season, as it says."""
        try:
            stored = msgspec.json.decode(self.fact("conditions") or "{}")
        except (msgspec.DecodeError, RecursionError) as error:
            raise self.damaged(f"its conditions are no JSON: {error}") from None
        if not isinstance(stored, dict):
            raise self.damaged("its conditions are no JSON object")
        return stored

    def matches(self) -> Iterator[tuple[str, int]]:
        """Id and deal of each match, in the order of ids."""
        last = ""
        with self._bounded():
            rows = self._db.execute("SELECT id, deal FROM match ORDER BY id")
        while True:
            with self._bounded():
                row = rows.fetchone()
            if row is None:
                return
            match_id, deal = row
            if not isinstance(match_id, str) or not ID.fullmatch(match_id):
                raise self.damaged("it has a match whose id is not 20 hexadecimal digits")
            if match_id <= last:
                raise self.damaged(f"its pages lead in circles, at match {match_id}")
            if type(deal) is not int or not 0 <= deal < _MAX_DEAL:
                raise self.damaged(f"match {match_id}: its deal is no number of a deal")
            last = match_id
            yield match_id, deal

    def head(self) -> str:
        """The head of its journal, as it says: a text to keep, no more."""
        with self._bounded():
            row = self._db.execute("SELECT seq, link FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
        if row is None or type(row[0]) is not int or not isinstance(row[1], bytes):
            return ""
        return f"{row[0]}-{row[1].hex()}"[:_MAX_HEAD]

    def record(self, match_id: str) -> bytes:
        """The packed record of a match."""
        with self._bounded():
            rows = self._db.execute("SELECT zstd FROM record WHERE id = ? LIMIT 1", (match_id,)).fetchall()
        if not rows or not isinstance(rows[0][0], bytes):
            raise self.damaged(f"match {match_id}: it has no record")
        packed: bytes = rows[0][0]
        return packed
