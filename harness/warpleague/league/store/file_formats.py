"""Formats of SQLite files: checks which one a file has, and converts a file of an earlier one, step by step.

A format lists the statements that make its tables, and how to make these tables from those of the format before it.
A file that is opened to write is converted once, after a copy of it was made beside it, in one transaction. For a
reader the same steps make temporary tables, which stand before those of the file, and the file stays as it is.

Only the columns that a program needs are compared, so a file may have more. A column that may be NULL, or has a
default, needs no new format: where a file does not have it, a writer adds it, and a reader sees the default.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from warpleague.errors import StoreError
from warpleague.league.store.backup import back_up
from warpleague.league.store.database import SPARE, clear_errors, transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Step: TypeAlias = Callable[[sqlite3.Connection, str], None]

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

    `way_on` says what to do about a file of a format that is not among them.
    """

    name: str
    settings: str
    formats: tuple[Format, ...]
    way_on: str

    @property
    def latest(self) -> Format:
        """Today's format."""
        return self.formats[-1]

    def check(self, db: sqlite3.Connection, path: Path, way_on: str = SPARE) -> int:
        """The number of the file's format, which `formats` has.

        `StoreError` if it is of another format, lacks a table or a column, or has a table, view, trigger or index that
        no program of ours makes. `way_on` says what can be done.
        """
        with clear_errors(path):
            made = _described(db)
            number = self._number(db, path, made)
            wanted = _wanted(next(one for one in self.formats if one.number == number).tables)
            for name, one in made.items():
                if one.kind not in ("table", "index") or name not in wanted:
                    raise self._altered(
                        path, f"its {one.kind} {name!r} is none that this program makes", way_on
                    )
            for name, one in wanted.items():
                if name not in made:
                    raise self._altered(path, f"it has no {one.kind} {name}", way_on)
                problem = _misfit(made[name], one)
                if problem:
                    raise self._altered(path, f"its {one.kind} {name!r} {problem}", way_on)
        return number

    def _altered(self, path: Path, what: str, way_on: str) -> StoreError:
        return StoreError(f"{path}: was altered, or is no {self.name}: {what}; {way_on}")

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
            f"{self.way_on}"
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
