"""Small helpers for SQLite files: transactions, what an error means to a user, and how to trust a file little."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from warpleague.errors import BadInput, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Step: TypeAlias = Callable[[sqlite3.Connection, str], None]


SPARE: Final = (
    "bring back a copy of it, or play the league again, under another name or in another --results folder"
)
"""The remedy for a store that is damaged."""


_REMEDIES: Final = {
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
    # No view or trigger of the file may call a function; damaged pages are found when they are read; and a file that
    # is cut off while it is read gives an error, where a mapped one would give a signal (SIGBUS).
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
    # The right to write is taken at once. Who begins as a reader and writes later may find that somebody has written
    # meanwhile; SQLite refuses that, and waiting would not help.
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
        # SQLite tells refused locks as those that another program has, or as a disk that fails.
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_IOERR) and (refused := _lock_refusal(path.parent)):
            raise _no_locks(path, refused) from error
        raise StoreError(f"{path}: cannot be used: {error}; {_REMEDIES.get(code, SPARE)}") from error


# -- lock ------------------------------------------------------------------------------------------------
# The lock of a league's folder: only one process at a time may run the league.


@attrs.frozen
class StoreFiles:
    """Files that a process keeps open, and how to notice that another file has taken the place of one of them.

    While a file is open, no other gets its number, though it be removed.
    """

    files: tuple[tuple[Path, tuple[int, int] | None], ...] = ()

    @classmethod
    def of(cls, *paths: Path) -> StoreFiles:
        """The files that are at `paths` now."""
        return cls(tuple((path, _identity(path)) for path in paths))

    def check(self) -> None:
        """Raise `StoreError` for a file that was removed or replaced: what is written to it is lost."""
        for path, was in self.files:
            if _identity(path) != was:
                raise StoreError(
                    f"{path}: was removed or replaced while the league was running; what this run played after that "
                    "is lost. Restore the file if you can, make sure that only one run is active, and run it again"
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _lock_refusal(folder: Path) -> OSError | None:
    """How the file system refuses to lock a file in `folder`, if it does."""
    with suppress(OSError), tempfile.TemporaryFile(dir=folder) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error
    return None


def _no_locks(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path}: cannot be locked: {error.strerror}; the file system of this folder refuses locks of files: keep "
        "results on another one, such as a disk of this machine (--results FOLDER)"
    )


def take_lock(path: Path) -> int:
    """Lock the file `path` for this process; `StoreError` names the process that has it, or says that nobody can.

    The lock is an flock on the returned descriptor: it ends when that is closed, or with the process, however
    that ends. Child processes do not inherit it. Raises `OSError` if the file cannot be written.
    """
    # Not SQLite's own lock, which is held only while something is written: between two results another run could
    # begin. Not a file whose presence is the lock either: after a crash it would stay.
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 200, 0).decode(errors="replace").strip() or "another process"
        os.close(lock)
        raise StoreError(
            f"{path.parent}: this league is being run already, by {holder}; wait for it, or stop it first"
        ) from None
    except OSError as error:
        os.close(lock)
        raise _no_locks(path, error) from None
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    except BaseException:
        os.close(lock)
        raise
    return lock


# -- backup ----------------------------------------------------------------------------------------------
# Copies a store while the league may be running: the copy is the store as it was at one moment.


def back_up(source: Path, target: Path) -> None:
    """Copy the SQLite file `source` to `target`, which appears as a whole or not at all, and is on the disk then.

    Nobody who writes to `source` has to wait. Raises `StoreError` for a source that cannot be read, `BadInput` where
    the copy cannot be written.
    """
    draft = target.with_name(f".{target.name}.draft")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        with (
            clear_errors(source),
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as db,
        ):
            harden(db)
            with closing(sqlite3.connect(draft)) as copy:
                # All pages in one step: one snapshot, however much is written meanwhile.
                db.backup(copy, pages=-1)
                copy.execute("PRAGMA journal_mode = DELETE")
        file = os.open(draft, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
        draft.replace(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


# -- file formats ----------------------------------------------------------------------------------------
# Formats of SQLite files: checks which one a file has, and converts a file of an earlier one, step by step.
#
# A format lists the statements that make its tables, and how to make these tables from those of the format
# before it. A file that is opened to write is converted once, after a copy of it was made beside it, in one
# transaction. For a reader the same steps make temporary tables, which stand before those of the file, and
# the file stays as it is.
#
# Only the columns that a program needs are compared, so a file may have more. A column that may be NULL, or
# has a default, needs no new format: where a file does not have it, a writer adds it, and a reader sees the
# default.


_CREATE: Final = re.compile(r"CREATE (UNIQUE )?(TABLE|INDEX) (\w+)", re.ASCII)


@attrs.frozen
class Format:
    """One format: its number, the statements that make its tables and indexes, and the step that leads to it.

    `convert` is called with a connection and the schema, "main" or "temp", in which it makes the tables that are new
    or other than in the format before. It reads the old ones by their plain names, and ends with `replace`.
    """

    number: int
    tables: tuple[str, ...]
    convert: Step | None = None


@attrs.frozen
class _Column:
    """The compared parts of a column: its place in the primary key, and what stands for it where it is missing.

    `default` is SQL text; None if the column must exist. `plain`: it is not a generated column.
    """

    key: int
    default: str | None
    declared: str = attrs.field(eq=False)
    plain: bool = True


@attrs.frozen
class _Made:
    """The compared parts of a table (its columns) or of an index (its table, columns, and whether it is unique)."""

    kind: str
    columns: Mapping[str, _Column]
    index: tuple[object, ...] = ()


@attrs.frozen
class FileKind:
    """A kind of SQLite file: its name in messages, the table of keys and values that has its format, all formats.

    `remedy` says what to do about a file of a format that is not among them.
    """

    name: str
    settings: str
    formats: tuple[Format, ...]
    remedy: str

    @property
    def latest(self) -> Format:
        """Today's format."""
        return self.formats[-1]

    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table of today's format, by its name: first those of the primary key."""
        tables = {name: one for name, one in _wanted(self.latest.tables).items() if one.kind == "table"}
        return {
            name: tuple(
                sorted(one.columns, key=lambda column: one.columns[column].key or len(one.columns) + 1)
            )
            for name, one in tables.items()
        }

    def check(self, db: sqlite3.Connection, path: Path, remedy: str = SPARE) -> int:
        """The number of the file's format, which `formats` has.

        `StoreError` if it is of another format, lacks a table or a column, or has a table, view, trigger or index that
        no program of ours makes. `remedy` says what can be done.
        """
        with clear_errors(path):
            made = _described(db)
            number = self._number(db, path, made)
            wanted = _wanted(next(one for one in self.formats if one.number == number).tables)
            for name, one in made.items():
                if one.kind not in ("table", "index") or name not in wanted:
                    raise self._altered(
                        path, f"its {one.kind} {name!r} is none that this program makes", remedy
                    )
            for name, one in wanted.items():
                if name not in made:
                    raise self._altered(path, f"it has no {one.kind} {name}", remedy)
                problem = _misfit(made[name], one)
                if problem:
                    raise self._altered(path, f"its {one.kind} {name!r} {problem}", remedy)
        return number

    def _altered(self, path: Path, what: str, remedy: str) -> StoreError:
        return StoreError(f"{path}: was altered, or is no {self.name}: {what}; {remedy}")

    def _number(self, db: sqlite3.Connection, path: Path, made: Mapping[str, _Made]) -> int:
        known = [one.number for one in self.formats]
        settings = made.get(self.settings)
        if settings is None or settings.kind != "table" or not {"key", "value"} <= settings.columns.keys():
            return known[-1]  # which the file is then found not to have
        row = db.execute(f"SELECT value FROM {self.settings} WHERE key = 'format'").fetchone()
        for number in known:
            if row is not None and row[0] == str(number):
                return number
        text = "none" if row is None else str(row[0])[:20]
        raise StoreError(
            f"{path}: is of {self.name} format {text}; this warpleague reads {' and '.join(map(str, known))}. "
            f"{self.remedy}"
        )

    def open_to_write(self, db: sqlite3.Connection, path: Path) -> None:
        """Make the tables if the file is empty, or convert those of an earlier format, after a copy of the file."""
        with clear_errors(path), transaction(db):
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in self.latest.tables:
                    db.execute(statement)
                self._note_format(db)
                return
            number = self.check(db, path)
            # All in the transaction that holds the right to write: of two processes that open an old file, the second
            # one finds it converted.
            if number != self.latest.number:
                back_up(path, path.with_name(f"{path.stem}.format-{number}{path.suffix}"))
                self._convert(db, number, "main")
                self._note_format(db)
                self.check(db, path)
            for table, name, column in self._missing(db):
                db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {column.declared}")

    def open_to_read(self, db: sqlite3.Connection, path: Path) -> None:
        """Let a reader see the tables of today's format, whatever format the file has."""
        with clear_errors(path):
            db.execute("BEGIN")  # the league may be running: read the state of one moment
            try:
                number = self.check(db, path)
                if number != self.latest.number:
                    self._convert(db, number, "temp")
                missing: dict[str, list[str]] = {}
                for table, name, column in self._missing(db):
                    if db.execute("SELECT 1 FROM temp.sqlite_master WHERE name = ?", (table,)).fetchone():
                        db.execute(f"ALTER TABLE temp.{table} ADD COLUMN {name} {column.declared}")
                    else:
                        missing.setdefault(table, []).append(f"{column.default} AS {name}")
                for table, defaults in missing.items():
                    db.execute(
                        f"CREATE TEMP VIEW {table} AS SELECT *, {', '.join(defaults)} FROM main.{table}"
                    )
            finally:
                db.execute("COMMIT")

    def _convert(self, db: sqlite3.Connection, number: int, schema: str) -> None:
        for one in self.formats:
            if one.number > number and one.convert is not None:
                one.convert(db, schema)

    def _note_format(self, db: sqlite3.Connection) -> None:
        db.execute(
            f"REPLACE INTO {self.settings} (key, value) VALUES ('format', ?)", (str(self.latest.number),)
        )

    def _missing(self, db: sqlite3.Connection) -> list[tuple[str, str, _Column]]:
        """Columns of the latest format that a table does not have: the table, the column's name, the column."""
        return [
            (table, name, column)
            for table, one in _wanted(self.latest.tables).items()
            if one.kind == "table"
            for there in (_columns(db, table),)
            for name, column in one.columns.items()
            if name not in there
        ]


def create(db: sqlite3.Connection, statement: str, schema: str, prefix: str = "") -> None:
    """Run a statement that makes a table or an index in `schema`, with `prefix` before its name."""
    match = _CREATE.match(statement)
    if match is None:
        raise ValueError(f"makes neither a table nor an index: {statement}")
    unique, kind, name = match.groups()
    db.execute(f"CREATE {unique or ''}{kind} {schema}.{prefix}{name}{statement[match.end() :]}")


def replace(db: sqlite3.Connection, table: str, schema: str, prefix: str) -> None:
    """Let the new table, which `create` made with `prefix` before its name, take the place of the old one."""
    db.execute(f"DROP TABLE IF EXISTS {schema}.{table}")
    db.execute(f"ALTER TABLE {schema}.{prefix}{table} RENAME TO {table}")


def _described(db: sqlite3.Connection) -> dict[str, _Made]:
    """Everything that a file's list of tables has, by name, but for indexes that SQLite made by itself."""
    rows = db.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL) LIMIT 99"
    ).fetchall()
    tables: dict[str, _Made] = {}
    for kind, name, table, sql in rows:
        if kind == "table" and re.match(r"CREATE TABLE\b", str(sql)):
            tables[str(name)] = _Made(kind, _columns(db, str(name)))
        elif kind == "index":
            tables[str(name)] = _Made(kind, {}, _index(db, str(name), str(table)))
        else:
            tables[str(name)] = _Made(kind, {})  # a virtual table has no columns that serve
    return tables


def _columns(db: sqlite3.Connection, table: str) -> dict[str, _Column]:
    columns = {}
    for _, name, kind, must, default, key, hidden in db.execute(
        "SELECT * FROM pragma_table_xinfo(?)", (table,)
    ):
        missing = default if default is not None else None if must or key else "NULL"
        declared = f"{kind}{' NOT NULL' if must else ''}{'' if default is None else f' DEFAULT {default}'}"
        columns[name] = _Column(key, missing, declared, not hidden)
    return columns


def _index(db: sqlite3.Connection, name: str, table: str) -> tuple[object, ...]:
    listed = db.execute(
        'SELECT "unique", partial FROM pragma_index_list(?) WHERE name = ?', (table, name)
    ).fetchone()
    columns = db.execute("SELECT name, coll, desc FROM pragma_index_xinfo(?) WHERE key", (name,)).fetchall()
    return table, listed, tuple(columns)


@lru_cache(maxsize=16)
def _wanted(statements: tuple[str, ...]) -> Mapping[str, _Made]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
        return _described(db)


def _misfit(made: _Made, wanted: _Made) -> str:
    """How a table or an index differs from the one wanted; nothing if it serves."""
    if made.kind != wanted.kind or made.index != wanted.index:
        return "is not the one that this program makes"
    for name, column in wanted.columns.items():
        there = made.columns.get(name)
        if there is None:
            if column.default is None:
                return f"has no column {name!r}"
        elif there != attrs.evolve(column, default=there.default):
            return f"has another column {name!r} than this program makes"
    for name, column in made.columns.items():
        if name not in wanted.columns and (column.default is None or not column.plain):
            return f"has a column {name!r} that this program cannot fill"
    return ""
