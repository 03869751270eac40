"""Writes tables to CSV or Parquet files, which appear under their names only when they are whole."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeAlias

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from warpleague.league.results.table_shapes import Columns, Kind, Row, Table

TableFormat: TypeAlias = Literal["csv", "parquet"]
_BATCH_BYTES: Final = 32 << 20
_BATCH_ROWS: Final = 100_000
"""Of about this size are the groups of rows in a Parquet file, which readers take at once."""


class Writer(ABC):
    """Takes the rows of one table."""

    @abstractmethod
    def write(self, rows: Iterable[Row]) -> int:
        """Write rows, in the order of the table's columns; how many they were."""

    @abstractmethod
    def take(self, portion: Path) -> None:
        """Write the rows that `save_portion` has put into a file, perhaps in another process."""


def need(kind: TableFormat) -> None:
    """Raise `BadInput` if files of this kind cannot be written here."""
    if kind == "parquet":
        _pyarrow()


@contextmanager
def table_file(path: Path, table: Table, kind: TableFormat) -> Iterator[Writer]:
    """A new file at `path` for the rows of `table`; it replaces an older one when all is written.

    `BadInput` if it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (_csv if kind == "csv" else _parquet)(part, table) as writer:
            yield writer
        part.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


_QUOTED: Final = re.compile(r'[",\r\n]')


def _text(value: str) -> bytes:
    if _QUOTED.search(value):
        value = '"' + value.replace('"', '""') + '"'
    return value.encode()


_FIELDS: Final[dict[Kind, Callable[[Any], bytes]]] = {
    "text": _text,
    "json": lambda value: b'"%b"' % value.replace(b'"', b'""'),
    "whole": lambda value: b"%d" % value,
    "number": lambda value: repr(value).encode(),
    "truth": lambda value: b"true" if value else b"false",
}
"""The form of a value in a CSV file. The module `csv`, which looks at each letter, takes far longer."""


def _csv_lines(table: Table, columns: Columns) -> bytes:
    texts = [
        [b"" if value is None else field(value) for value in values]
        for field, values in zip([_FIELDS[column.kind] for column in table.columns], columns, strict=True)
    ]
    return b"".join([b",".join(row) + b"\n" for row in zip(*texts, strict=True)])


class _CsvWriter(Writer):
    def __init__(self, file: BinaryIO, table: Table) -> None:
        self._file, self._table = file, table

    def write(self, rows: Iterable[Row]) -> int:
        columns = _columns(rows)
        self._file.write(_csv_lines(self._table, columns) if columns else b"")
        return len(columns[0]) if columns else 0

    def take(self, portion: Path) -> None:
        with portion.open("rb") as file:
            copyfileobj(file, self._file, 1 << 20)


def _columns(rows: Iterable[Row]) -> Columns:
    return tuple(map(list, zip(*rows, strict=True)))


@contextmanager
def _csv(path: Path, table: Table) -> Iterator[Writer]:
    with path.open("wb") as file:
        file.write(b",".join([column.name.encode() for column in table.columns]) + b"\n")
        yield _CsvWriter(file, table)


class _ParquetWriter(Writer):
    def __init__(self, file: Any, table: Table) -> None:
        self._file, self._table = file, table
        self._rows: list[Row] = []
        self._waiting: list[Any] = []
        self._bytes = 0

    def write(self, rows: Iterable[Row]) -> int:
        before = len(self._rows)
        self._rows += rows
        added = len(self._rows) - before
        if len(self._rows) > _BATCH_ROWS:
            self.flush()
        return added

    def take(self, portion: Path) -> None:
        pa = _pyarrow()
        rows = pa.ipc.open_file(pa.memory_map(str(portion))).read_all()
        self._waiting.append(rows)
        self._bytes += rows.nbytes
        if self._bytes > _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what there is as one group, which readers take at once."""
        if self._rows:
            self._waiting.append(_arrow(self._table, _columns(self._rows)))
        if self._waiting:
            self._file.write_table(_pyarrow().concat_tables(self._waiting))
        self._rows, self._waiting, self._bytes = [], [], 0


@contextmanager
def _parquet(path: Path, table: Table) -> Iterator[Writer]:
    import pyarrow.parquet as pq

    # Compression already removes repeats in a column of JSON; numbering its values would only take longer.
    numbered = [column.name for column in table.columns if column.kind != "json"]
    with pq.ParquetWriter(path, _schema(table), compression="zstd", use_dictionary=numbered) as file:
        writer = _ParquetWriter(file, table)
        yield writer
        writer.flush()


def _schema(table: Table) -> Any:
    pa = _pyarrow()
    types = {
        "text": pa.string(),
        "json": pa.string(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
    }
    return pa.schema([(column.name, types[column.kind]) for column in table.columns])


def _arrow(table: Table, columns: Columns) -> Any:
    pa, schema = _pyarrow(), _schema(table)
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def save_portion(path: Path, table: Table, kind: TableFormat, columns: Columns) -> None:
    """Put rows of `table`, given by their columns, into a file that `Writer.take` reads."""
    if kind == "csv":
        path.write_bytes(_csv_lines(table, columns))
        return
    pa, rows = _pyarrow(), _arrow(table, columns)
    with pa.ipc.new_file(str(path), rows.schema) as file:
        file.write_table(rows)


def _pyarrow() -> ModuleType:
    try:
        import pyarrow as pa
    except ImportError:
        raise BadInput(
            "Parquet files need the package pyarrow: pip install 'warpleague[parquet]'; or use --format csv"
        ) from None
    return pa  # type: ignore[no-any-return]
