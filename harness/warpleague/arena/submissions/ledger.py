"""The ledger of submissions: one SQLite file beside the leagues, in which every step of a submission is a row.

Each step is one transaction together with its entry in the audit journal, and it is synced to the disk. So when a
process is killed, a step is either done or not done. The archive of a submission is in its row: no file of it can be
missing or left over.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from warpleague.errors import StoreError
from warpleague.league.season.fixture import utc_now
from warpleague.league.store.database import FileKind, Format, clear_errors, create, harden, transaction
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE: Final = "arena.db"
DAY_S: Final = 24 * 3600.0
"""The time within which submissions and matches on demand count towards their limits, in seconds."""

_TABLES: Final = (
    "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # `token` is the SHA-256 of the author's token, NULL once it is revoked.
    """CREATE TABLE author (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, organiser INTEGER NOT NULL, token BLOB,
    added TEXT NOT NULL, revoked TEXT
)""",
    # `member` is NULL if the session began with the author's own token.
    """CREATE TABLE session (
    id BLOB PRIMARY KEY, author INTEGER NOT NULL, form TEXT NOT NULL, ends_s REAL NOT NULL, member INTEGER
)""",
    # `archive` is NULL once a submission was refused. `claims` counts how often its check was begun.
    """CREATE TABLE submission (
    id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author (id), league TEXT NOT NULL, state TEXT NOT NULL,
    sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, archive BLOB, received TEXT NOT NULL, received_s REAL NOT NULL,
    claims INTEGER NOT NULL DEFAULT 0, found TEXT NOT NULL DEFAULT '[]', settled TEXT, bot TEXT, version TEXT,
    digest TEXT, active INTEGER NOT NULL DEFAULT 0
)""",
    "CREATE UNIQUE INDEX one_active ON submission (league, bot COLLATE NOCASE) WHERE active = 1",
    "CREATE INDEX by_state ON submission (state)",
    "CREATE INDEX by_author ON submission (author, received_s)",
    """CREATE TABLE decision (
    id INTEGER PRIMARY KEY, league TEXT NOT NULL, what TEXT NOT NULL, said TEXT NOT NULL, who TEXT NOT NULL,
    asked TEXT NOT NULL, done TEXT, answer TEXT
)""",
    """CREATE TABLE journal (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, said TEXT NOT NULL
)""",
)

_CHALLENGE: Final = (
    # `seats` are the bots as JSON, the author's own first; `result`, `record` and `log` are there once it was played.
    """CREATE TABLE challenge (
    id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author (id), league TEXT NOT NULL, seats TEXT NOT NULL,
    state TEXT NOT NULL, asked TEXT NOT NULL, asked_s REAL NOT NULL, claims INTEGER NOT NULL DEFAULT 0, ended TEXT,
    why TEXT, result TEXT, record BLOB, log TEXT
)""",
    "CREATE INDEX challenge_state ON challenge (state)",
    "CREATE INDEX challenge_author ON challenge (author, asked_s)",
)
"""New in format 2: matches on demand."""


_TEAMS: Final = (
    # `token` and `secret` are the SHA-256 of what members and invited people have.
    """CREATE TABLE member (
    id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author (id), name TEXT NOT NULL COLLATE NOCASE,
    token BLOB NOT NULL, added TEXT NOT NULL
)""",
    "CREATE UNIQUE INDEX one_member ON member (author, name COLLATE NOCASE)",
    """CREATE TABLE invitation (
    id INTEGER PRIMARY KEY, secret BLOB NOT NULL, note TEXT NOT NULL, uses INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0, made TEXT NOT NULL, ends TEXT NOT NULL, ends_s REAL NOT NULL, revoked TEXT
)""",
)
"""New in format 3: tokens of a team's members, and invitations."""


_TRIALS: Final = (
    # `new` and `old` are submissions; `field` are the other bots at the table, `played` the matches, as JSON.
    """CREATE TABLE trial (
    id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author (id), league TEXT NOT NULL, new INTEGER NOT NULL,
    old INTEGER, field TEXT NOT NULL DEFAULT '[]', deals INTEGER NOT NULL, seed TEXT NOT NULL, state TEXT NOT NULL,
    asked TEXT NOT NULL, asked_s REAL NOT NULL, claims INTEGER NOT NULL DEFAULT 0, ended TEXT, why TEXT,
    played TEXT NOT NULL DEFAULT '[]', result TEXT
)""",
    "CREATE INDEX trial_state ON trial (state)",
    "CREATE INDEX trial_author ON trial (author, asked_s)",
    "CREATE INDEX trial_new ON trial (new)",
)
"""New in format 4: trials of new versions."""


def _from_1(db: sqlite3.Connection, schema: str) -> None:
    for statement in _CHALLENGE:
        create(db, statement, schema)


def _from_2(db: sqlite3.Connection, schema: str) -> None:
    for statement in _TEAMS:
        create(db, statement, schema)


def _from_3(db: sqlite3.Connection, schema: str) -> None:
    for statement in _TRIALS:
        create(db, statement, schema)


_LEDGER: Final = FileKind(
    "ledger",
    "setting",
    (
        Format(1, _TABLES),
        Format(2, (*_TABLES, *_CHALLENGE), _from_1),
        Format(3, (*_TABLES, *_CHALLENGE, *_TEAMS), _from_2),
        Format(4, (*_TABLES, *_CHALLENGE, *_TEAMS, *_TRIALS), _from_3),
    ),
    "Serve these leagues with the version that wrote it",
)


@attrs.frozen
class Entry:
    """An entry of the audit journal: when (ISO time), who did what, and the particulars."""

    at: str
    who: str
    what: str
    said: dict[str, Any]


class Ledger:
    """The open ledger of a folder of results; threads of a process may share it."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._mutex = threading.RLock()
        self._boot_s: float | None = None  # what `now_s` adds to the time since the machine was started

    @classmethod
    def open(cls, results: Path) -> Ledger:
        """Open the ledger in the folder `results`, or create it. Raises `StoreError` if it cannot be used."""
        path = results / FILE
        try:
            results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{results}: cannot write there: {error.strerror}") from None
        with clear_errors(path):
            db = sqlite3.connect(path, isolation_level=None, timeout=30.0, check_same_thread=False)
            try:
                path.chmod(0o600)
                harden(db)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                _LEDGER.open_to_write(db, path)
            except BaseException:
                db.close()
                raise
        return cls(path, db)

    @property
    def results(self) -> Path:
        """The folder of results that it is in."""
        return self.path.parent

    def close(self) -> None:
        """Close the file."""
        with self._mutex:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is committed, or nothing; durable when the block has ended."""
        with self._mutex, clear_errors(self.path), transaction(self._db):
            yield self._db

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a query finds."""
        with self._mutex, clear_errors(self.path):
            return self._db.execute(query, values).fetchall()

    def now_s(self) -> float:
        """The time by which submissions and matches on demand count towards their limits, in seconds since 1970.

        It goes on evenly, whatever is done to the clock of the machine: that is read once, and is never before the
        last submission. So a clock that jumps gives nobody more submissions, and makes nobody wait for years.
        """
        with self._mutex:
            if self._boot_s is None:
                query = (
                    "SELECT max(received_s) FROM submission UNION ALL SELECT max(asked_s) FROM challenge "
                    "UNION ALL SELECT max(asked_s) FROM trial"
                )
                known_s = [last_s for (last_s,) in self.rows(query) if last_s is not None]
                self._boot_s = max([time.time(), *known_s]) - _since_boot_s()
            return self._boot_s + _since_boot_s()

    def note(self, who: str, what: str, **said: Any) -> None:
        """Enter into the audit journal; within `writing`."""
        self._db.execute(
            "INSERT INTO journal (at, who, what, said) VALUES (?, ?, ?, ?)",
            (utc_now(), safe(who), what, json.dumps(said)),
        )

    def journal(self, most: int = 100) -> list[Entry]:
        """The last entries of the audit journal, the newest first."""
        rows = self.rows("SELECT at, who, what, said FROM journal ORDER BY id DESC LIMIT ?", most)
        return [Entry(at, who, what, json.loads(said)) for at, who, what, said in rows]

    # Settings

    def setting(self, key: str) -> str | None:
        """A setting, or None."""
        rows = self.rows("SELECT value FROM setting WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def set(self, key: str, value: str | None, who: str) -> None:
        """Change a setting, or remove it."""
        with self.writing() as db:
            if value is None:
                db.execute("DELETE FROM setting WHERE key = ?", (key,))
            else:
                db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))
            self.note(who, "set", key=key, value=value)


def _since_boot_s() -> float:
    """Seconds since the machine was started, also those in which it was suspended, where the system counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def next_waiting(
    db: sqlite3.Connection, table: str, state: str, since: str, now_s: float
) -> tuple[int] | None:
    """The id of the row of `table` in this `state` to take next, or None; `since` is the column of when it came.

    The author with the fewest today comes first, so that nobody can fill the queue for others.
    """
    row: tuple[int] | None = db.execute(
        f"SELECT id FROM {table} this WHERE state = ?1 ORDER BY (SELECT count(*) FROM {table} other "
        f"WHERE other.author = this.author AND other.{since} > ?2 AND other.id < this.id), id LIMIT 1",
        (state, now_s - DAY_S),
    ).fetchone()
    return row
