"""Writes tables row by row to CSV or Parquet files, which appear under their names only when they are whole."""

from __future__ import annotations

import csv
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from warpleague.league.data_tables import Row, Table

TableFormat: TypeAlias = Literal["csv", "parquet"]
_BATCH_BYTES: Final = 32 << 20
"""Rows of about this many bytes are written to a Parquet file as one group, which readers take at once."""


class Writer(Protocol):
    """Takes the rows of one table."""

    def write(self, rows: Iterable[Row]) -> int:
        """Write rows, in the order of the table's columns; how many they were."""


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


class _CsvWriter:
    def __init__(self, file: Any) -> None:
        self._csv = csv.writer(file, lineterminator="\n")

    def write(self, rows: Iterable[Row]) -> int:
        count = 0
        for count, row in enumerate(rows, start=1):  # noqa: B007 - the last one is the number of rows
            self._csv.writerow(
                [_TRUTH.get(value, value) if value is True or value is False else value for value in row]
            )
        return count


_TRUTH: Final = {True: "true", False: "false"}


@contextmanager
def _csv(path: Path, table: Table) -> Iterator[Writer]:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([column.name for column in table.columns])
        yield _CsvWriter(file)


class _ParquetWriter:
    def __init__(self, pa: ModuleType, writer: Any, schema: Any) -> None:
        self._pa, self._writer, self._schema = pa, writer, schema
        self._rows: list[Row] = []
        self._bytes = 0

    def write(self, rows: Iterable[Row]) -> int:
        before = len(self._rows)
        self._rows += rows
        added = self._rows[before:]
        self._bytes += sum(len(value) for row in added for value in row if isinstance(value, str))
        if self._bytes > _BATCH_BYTES or len(self._rows) > 100_000:
            self.flush()
        return len(added)

    def flush(self) -> None:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = [
                self._pa.array(column, type=field.type)
                for column, field in zip(columns, self._schema, strict=True)
            ]
            self._writer.write_table(self._pa.Table.from_arrays(arrays, schema=self._schema))
            self._rows, self._bytes = [], 0


@contextmanager
def _parquet(path: Path, table: Table) -> Iterator[Writer]:
    pa = _pyarrow()
    import pyarrow.parquet as pq

    types = {
        "text": pa.string(),
        "json": pa.string(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
    }
    schema = pa.schema([(column.name, types[column.kind]) for column in table.columns])
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        writer = _ParquetWriter(pa, file, schema)
        yield writer
        writer.flush()


def _pyarrow() -> ModuleType:
    try:
        import pyarrow as pa
    except ImportError:
        raise BadInput(
            "Parquet files need the package pyarrow: pip install 'warpleague[parquet]'; or use --format csv"
        ) from None
    return pa  # type: ignore[no-any-return]
