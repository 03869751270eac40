"""A store as plain files, which need no SQLite: each table as lines of JSON, each record packed as it is stored.

`store/TABLE.jsonl` has the names of the columns in its first line, then each row as a list; bytes are
`{"hex": "..."}`. The records, of which the journal has hashes, are in `records/ID.jsonl.zst`.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import StoreError
from warpleague.league.season.season import ID
from warpleague.league.store.database import transaction
from warpleague.league.store.schema import STORE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_RECORD: Final = ("record", "zstd")
"""The table and the column whose values are files."""


def plain_files(db: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """The files of a store, each with its path and content; always the same for the same rows."""
    for table, columns in _tables().items():
        names = ", ".join(columns)
        rows = [list(columns), *db.execute(f"SELECT {names} FROM {table} ORDER BY {names}")]
        text = "".join(f"{json.dumps(row, default=_hex, separators=(',', ':'))}\n" for row in rows)
        yield f"store/{table}.jsonl", text.encode()
    table, column = _RECORD
    for match_id, packed in db.execute(f"SELECT id, {column} FROM {table} ORDER BY id"):
        yield f"records/{match_id}.jsonl.zst", packed


def restore(folder: Path, path: Path) -> None:
    """Make the store `path` of the files in `folder`, which a stranger may have written.

    The tables are those of this program; whether what is in them holds is for others to say. `StoreError` names the
    file and the line that does not fit.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in STORE.latest.tables:
            db.execute(statement)
        with transaction(db):
            for table, columns in _tables().items():
                _fill(db, table, columns, folder)
        known = {str(match_id) for (match_id,) in db.execute("SELECT id FROM record")}
    records = folder / "records"
    for file in sorted(records.iterdir()) if records.is_dir() else ():
        if file.name.removesuffix(".jsonl.zst") not in known:
            raise StoreError(f"{file}: is the record of no match")


def _tables() -> dict[str, tuple[str, ...]]:
    """The columns of each table that are in its file."""
    return {
        table: tuple(column for column in columns if (table, column) != _RECORD)
        for table, columns in STORE.columns().items()
    }


def _hex(value: Any) -> dict[str, str]:
    return {"hex": value.hex()}  # of all that SQLite gives, JSON lacks only bytes


def _fill(db: sqlite3.Connection, table: str, columns: tuple[str, ...], folder: Path) -> None:
    file = folder / "store" / f"{table}.jsonl"
    names = (*columns, _RECORD[1]) if table == _RECORD[0] else columns
    insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    number = 0
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                if number == 1:
                    if row != list(columns):
                        raise ValueError(f"its columns must be {', '.join(columns)}")
                    continue
                values = [bytes.fromhex(one["hex"]) if isinstance(one, dict) else one for one in row]
                if table == _RECORD[0]:
                    values.append(_packed(folder, values[0]))
                db.execute(insert, values)
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError, sqlite3.Error) as error:
        raise StoreError(f"{file}: line {number}: {error}") from None


def _packed(folder: Path, match_id: object) -> bytes:
    """The packed record of a match; empty, which does not hold, if there is none."""
    if not isinstance(match_id, str) or not ID.fullmatch(match_id):
        raise ValueError("the id of a match is 20 hexadecimal digits")
    file = folder / "records" / f"{match_id}.jsonl.zst"
    return file.read_bytes() if file.is_file() else b""
