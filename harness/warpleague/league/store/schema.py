"""Opens the file of a result store, to write or to read, and writes what is not about single matches."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from warpleague.errors import StoreError
from warpleague.league.season import utc_now
from warpleague.league.season.fixture import is_text
from warpleague.league.season.season import ID
from warpleague.league.store.database import FileKind, Format, clear_errors, harden, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warpleague.match.spec import Confinement


# -- tables ----------------------------------------------------------------------------------------------
# The journal hashes a match as JSON texts. All their content is in the typed columns, and `match_rows` makes
# the same texts from them: so no result stands in the store twice, and SQL can read each value.


TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE bot (id INTEGER PRIMARY KEY, name TEXT NOT NULL, identity TEXT NOT NULL)",
    "CREATE UNIQUE INDEX bot_of ON bot (name, identity)",
    # How bots were confined is the same JSON text for nearly all matches.
    "CREATE TABLE confinement (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE UNIQUE INDEX confinement_of ON confinement (text)",
    # `number` and `cluster` are the match's number and group in the schedule that `numbering` is about, else NULL.
    """CREATE TABLE match (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, number INTEGER, cluster INTEGER, deal INTEGER NOT NULL, rival REAL,
    why TEXT NOT NULL, digest TEXT NOT NULL, lines INTEGER NOT NULL, elapsed_s REAL NOT NULL, stored TEXT NOT NULL,
    confinement INTEGER REFERENCES confinement (id)
)""",
    "CREATE UNIQUE INDEX match_id ON match (id)",
    "CREATE UNIQUE INDEX match_number ON match (number)",
    "CREATE INDEX match_confinement ON match (confinement, number)",
    # `score` has no type, so that it stays whole or not, as the game gave it. `faults` is how many there are.
    """CREATE TABLE seat (
    match INTEGER NOT NULL REFERENCES match (key), seat INTEGER NOT NULL, bot INTEGER NOT NULL REFERENCES bot (id),
    rank INTEGER NOT NULL, score NOT NULL, faults INTEGER NOT NULL, decisions INTEGER NOT NULL, wall_ms REAL NOT NULL,
    cpu_ms REAL NOT NULL, wait_ms REAL NOT NULL, longest_ms REAL NOT NULL, failures INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL, retries INTEGER NOT NULL,
    PRIMARY KEY (match, seat)
) WITHOUT ROWID""",
    "CREATE INDEX seat_bot ON seat (bot)",
    "CREATE INDEX seat_faulty ON seat (match, seat, bot) WHERE faults > 0",
    """CREATE TABLE fault (
    match INTEGER NOT NULL REFERENCES match (key), seat INTEGER NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL,
    n INTEGER NOT NULL, retired INTEGER NOT NULL, message TEXT NOT NULL, PRIMARY KEY (match, seat, place)
) WITHOUT ROWID""",
    # Records have their own table: reading results never touches their pages.
    "CREATE TABLE record (id TEXT PRIMARY KEY REFERENCES match (id), size INTEGER NOT NULL, zstd BLOB NOT NULL)",
    # What a ladder has chosen: `bots` are those of a deal, `after` is how many entries the journal had.
    """CREATE TABLE choice (
    place INTEGER PRIMARY KEY, batch INTEGER NOT NULL, after INTEGER NOT NULL, bots TEXT NOT NULL
)""",
    # Matches that bots may have begun: what is left here after the death of a run has other dice the next time.
    "CREATE TABLE in_play (id TEXT PRIMARY KEY, bots TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE fact (id TEXT PRIMARY KEY, kind TEXT NOT NULL, said TEXT NOT NULL, stored TEXT NOT NULL)",
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, row TEXT NOT NULL, link BLOB NOT NULL)",
)
"""The statements that make the tables and indexes of the first format that a release writes."""

STORE: Final = FileKind(
    "store",
    "meta",
    (Format(10, TABLES),),
    "Give the league another name, or another --results folder, to play it again",
)
"""The result store. The next format gets a step that leads to it."""


# -- opening ---------------------------------------------------------------------------------------------


NUMBERING: Final = "numbering"
"""The key in `meta` of what the numbers of matches are of."""
CHOICES: Final = "choices"
"""The key in `meta` of the seat orders and dice of the deals that a ladder has chosen."""
CHOSE_ALL: Final = "chose all"
"""The key in `meta` of the entrants of a ladder that has chosen its last deal, and of the last decision about them."""


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made if need be.

    A store of an earlier format is converted, after a copy of it was made beside it.
    """
    with clear_errors(path):
        # Without an isolation level the module begins no transactions of its own: ours are all there are.
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        try:
            harden(db)
            STORE.open_to_write(db, path)
            with transaction(db):
                db.execute("INSERT INTO meta VALUES ('created', ?) ON CONFLICT DO NOTHING", (utc_now(),))
            # Outside of transactions, where alone they can change. In WAL mode NORMAL would not sync at a commit:
            # what was acknowledged could be lost with the machine.
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        except BaseException:
            db.close()
            raise
        return db


class Reading(sqlite3.Connection):
    """A connection that never writes, with the events that were read, and from which version of the file."""

    events_read: tuple[int, list[tuple[Any, ...]]] | None = None


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
    """Write a value of `meta`, which is about the league as a whole."""
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


# -- a stranger's store ----------------------------------------------------------------------------------
# SQLite files can hold views, triggers and pages that lead in circles. So nothing is read before the list of
# tables was checked, matches must come in the order of their ids, and neither a value nor the time between
# two of them may be large.


_MAX_DEAL: Final = 1 << 53
_MAX_BYTES: Final = 1 << 26  # a packed record; the largest games have some hundred KiB
_MAX_META: Final = 1 << 20
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

    def meta(self, key: str) -> str | None:
        """A text about the season, or None."""
        with self._bounded():
            rows = self._db.execute("SELECT value FROM meta WHERE key = ? LIMIT 1", (key,)).fetchall()
        if not rows:
            return None
        (value,) = rows[0]
        if not isinstance(value, str) or len(value) > _MAX_META or not is_text(value):
            raise self.damaged(f"its {key} is no text of reasonable length")
        return value

    def conditions(self) -> dict[str, Any]:
        """The conditions of its season, as it says."""
        try:
            stored = msgspec.json.decode(self.meta("conditions") or "{}")
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
            # In a file with pages in a circle SQLite would read the same rows for good.
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
