"""A league as plain tables for data tools: its matches, the seats of each, and every decision with what the bot saw.

docs/data.md describes the columns; a test compares it with this module. This module also writes them to files.
"""

from __future__ import annotations

import codecs
import os
import re
from abc import ABC, abstractmethod
from collections import deque
from contextlib import contextmanager, suppress
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeAlias

import attrs
import msgspec

from warpleague.errors import BadInput
from warpleague.league.referees.pool import RefereePool
from warpleague.match.record import attempt_of
from warpleague.match.replay import Replay
from warpleague.match.scribe import action_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path
    from types import ModuleType

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture, StoredMatch


# -- the tables ------------------------------------------------------------------------------------------


TableFormat: TypeAlias = Literal["csv", "excel", "parquet"]
"""What a file is for; "excel" is CSV for spreadsheets, which change some values when they read it."""
Kind: TypeAlias = Literal["text", "whole", "number", "truth", "json"]
Row: TypeAlias = tuple[Any, ...]
"""The values of one row in the order of the table's columns, JSON in its bytes; None where there is no value."""
Columns: TypeAlias = tuple[list[Any], ...]
"""The same values of many rows, a list for each column."""


@attrs.frozen
class Column:
    """A column: its name, and what its values are (`json`: text that holds JSON)."""

    name: str
    kind: Kind


@attrs.frozen
class Table:
    """A table: its name, which is its file's, and its columns."""

    name: str
    columns: tuple[Column, ...]


def _table(name: str, **kinds: Kind) -> Table:
    return Table(name, tuple(Column(column, kind) for column, kind in kinds.items()))


MATCHES: Final = _table(
    "matches",
    number="whole",
    match="text",
    game="text",
    deal="text",
    players="whole",
    why="text",
    rival="number",
    counts="truth",
    lines="whole",
    elapsed_s="number",
    digest="text",
)
SEATS: Final = _table(
    "seats",
    match="text",
    seat="whole",
    bot="text",
    version="text",
    bot_digest="text",
    rank="whole",
    score="number",
    faults="json",
    retired="truth",
    decisions="whole",
    wall_ms="number",
    cpu_ms="number",
    wait_ms="number",
    longest_ms="number",
    failures="whole",
    input_tokens="whole",
    output_tokens="whole",
    cost="number",
    retries="whole",
)
DECISIONS: Final = _table(
    "decisions",
    match="text",
    n="whole",
    seat="whole",
    bot="text",
    ask="text",
    state="json",
    legal="json",
    action="json",
    choice="whole",
    how="text",
    ms="number",
    value="number",
    rank="whole",
    score="number",
)
TABLES: Final = (MATCHES, SEATS, DECISIONS)


# -- their rows ------------------------------------------------------------------------------------------


Recorded: TypeAlias = tuple[bytes, bytes, str, list[str]]
"""A match: its record and its key, its id, and the names of its bots by seat."""
_PORTION_BYTES: Final = 1 << 17
"""Records of about this size go to another process at once, which leaves their rows in a file.

Rows are much larger than records. Sent back through a pipe they would be pickled, read and written once more, by the
one process that all others wait for.
"""


def match_row(league: League, fixture: Fixture, played: StoredMatch) -> Row:
    """The row of a match in `MATCHES`."""
    return (
        fixture.number,
        fixture.id,
        league.season.game,
        str(fixture.deal),
        len(played.ranks),
        played.why,
        played.rival,
        league.counts(fixture),
        played.lines,
        played.elapsed_s,
        played.digest,
    )


def seat_rows(league: League, fixture: Fixture, played: StoredMatch) -> Iterator[Row]:
    """The rows of a match in `SEATS`, in the order of the seats."""
    for seat, bot in enumerate(fixture.seats):
        entrant = league.season.bots[bot]
        faults = [
            {"kind": fault.kind, "n": fault.n, "message": fault.message} for fault in played.faults[seat]
        ]
        yield (
            fixture.id,
            seat,
            entrant.bot,
            entrant.version,
            entrant.digest,
            played.ranks[seat],
            played.scores[seat],
            msgspec.json.encode(faults),
            any(fault.retired for fault in played.faults[seat]),
            *attrs.astuple(played.times[seat]),
        )


def write_decisions(
    writer: Writer,
    kind: TableFormat,
    league: League,
    fixtures: Iterable[Fixture],
    folder: Path,
    jobs: int = 0,
    new_pool: NewPool = RefereePool,
) -> int:
    """Write the rows of `DECISIONS` in the given order; how many they were.

    Every record is executed again for it, on `jobs` processes (0: all cores), which leave the rows in files in
    `folder`. `RecordError` at the first record that does not hold.
    """
    rows = 0
    waiting: deque[tuple[Path, Future[int]]] = deque()

    def take() -> int:
        path, future = waiting.popleft()
        count = future.result()
        writer.take(path)
        path.unlink()
        return count

    with new_pool(jobs, "none") as pool:
        for number, some in enumerate(_portions(league, fixtures)):
            path = folder / str(number)
            waiting.append((path, pool.submit(save_decisions, some, path, kind)))
            if len(waiting) > 2 * pool.jobs:  # bounded: records wait in memory, and rows in files
                rows += take()
        while waiting:
            rows += take()
    return rows


def save_decisions(matches: Iterable[Recorded], path: Path, kind: TableFormat) -> int:
    """Leave the rows of `DECISIONS` of some matches in a file for `Writer.take`; how many they are."""
    columns = decisions_of(matches)
    save_portion(path, DECISIONS, kind, columns)
    return len(columns[0])


def _portions(league: League, fixtures: Iterable[Fixture]) -> Iterator[list[Recorded]]:
    """The records of some matches at a time, so that it is worth the way to another process and back."""
    some: list[Recorded] = []
    size = 0
    season = league.season
    for fixture in fixtures:
        record = league.store.record(fixture.id)
        names = [season.names[bot] for bot in fixture.seats]
        some.append((record, season.key_of(fixture.deal, attempt_of(record)), fixture.id, names))
        size += len(record)
        if size > _PORTION_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def decisions_of(matches: Iterable[Recorded]) -> Columns:
    """The columns of `DECISIONS` of some matches. `RecordError` if a record does not hold."""
    columns: Columns = tuple([[] for _ in DECISIONS.columns])
    for recorded in matches:
        _add_decisions(columns, *recorded)
    return columns


def _add_decisions(columns: Columns, record: bytes, key: bytes, match_id: str, names: list[str]) -> None:
    replay = Replay(record, key=key, where=f"match {match_id}")
    game, before = replay.game, replay.first
    actions = action_cache(game)
    seats: list[int] = []
    match_ids, numbers, sat, bots, asks, states, legals, acts, choices, hows, ms, values, ranks, scores = (
        columns
    )
    for step in replay:
        act, legal = step.act, step.legal
        if act is not None:
            seat, action = act.seat, act.action
            asks.append(act.ask)
            acts.append(actions.canonical(action))
            hows.append("only" if act.auto else "asked" if act.ms else "then")
            ms.append(float(act.ms[1 : act.ms.index(b",")]) if act.ms else None)
            values.append(float(act.value) if act.value else None)
        elif step.is_act:
            data = step.data
            seat = data["seat"]
            legal, action = game.legal(before, seat), game.parse(before, seat, data["action"])
            asks.append(data["ask"])
            acts.append(actions.canonical(action))
            hows.append(_how(data))
            ms.append(data.get("ms", (None,))[0])
            values.append(data.get("value"))
        else:
            before = step.state
            continue
        seats.append(seat)
        numbers.append(step.n)
        states.append(game.view_json(before, seat))
        legals.append(game.legal_json(before, seat, legal) or actions.listed(legal))
        choices.append(_place(legal, action))
        before = step.state
    summary = replay.summary
    if summary is None:
        raise AssertionError("a replay that ends has a summary")
    match_ids += [match_id] * len(seats)
    sat += seats
    bots += [names[seat] for seat in seats]
    ranks += [summary.ranks[seat] for seat in seats]
    scores += [float(summary.scores[seat]) for seat in seats]


def _how(data: dict[str, Any]) -> str:
    """How it came to an action: the bot was asked, had given it before, it was the only one, or the referee's."""
    if data.get("substituted"):
        return "substituted"
    if data.get("auto"):
        return "only"
    return "asked" if "ms" in data else "then"


def _place(legal: Sequence[Any], action: Any) -> int | None:
    """Where an action is in the list of the legal ones; None for a message, which no list has."""
    try:
        return legal.index(action)
    except ValueError:
        return None


# -- files -----------------------------------------------------------------------------------------------
# CSV or Parquet files, which appear under their names only when they are whole.


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


def file_name(table: Table, kind: TableFormat) -> str:
    """The name of the file of a table."""
    return f"{table.name}.{'csv' if kind == 'excel' else kind}"


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
        with _parquet(part, table) if kind == "parquet" else _csv(part, table, kind) as writer:
            yield writer
        part.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


_QUOTED: Final = re.compile(r'[",\r\n]')
# A spreadsheet takes a text that begins so for a formula, and bots' authors choose texts.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_MOST_CELL: Final = 32_767  # characters that a spreadsheet takes
_MOST_DIGITS: Final = 15  # of a number that it keeps


def _text(value: str) -> bytes:
    if value.startswith(_FORMULA):
        value = f"'{value}"
    if _QUOTED.search(value):
        value = '"' + value.replace('"', '""') + '"'
    return value.encode()


def _cell(value: str) -> bytes:
    """A text for a spreadsheet, which would take digits for a number and round it."""
    if value.isdecimal() and len(value) > _MOST_DIGITS:
        value = f"'{value}"
    if len(value) >= _MOST_CELL:
        value = f"(too long for a spreadsheet: {len(value):,} characters)"
    return _text(value)


_FIELDS: Final[dict[Kind, Callable[[Any], bytes]]] = {
    "text": _text,
    "json": lambda value: b'"%b"' % value.replace(b'"', b'""'),
    "whole": lambda value: b"%d" % value,
    "number": lambda value: repr(value).encode(),
    "truth": lambda value: b"true" if value else b"false",
}
"""The form of a value in a CSV file. The module `csv`, which looks at each letter, takes far longer."""
_CELLS: Final[dict[Kind, Callable[[Any], bytes]]] = {
    **_FIELDS,
    "text": _cell,
    "json": lambda value: _cell(value.decode()),
}
"""The same for spreadsheets."""


def _csv_lines(table: Table, columns: Columns, kind: TableFormat) -> bytes:
    fields = _CELLS if kind == "excel" else _FIELDS
    texts = [
        [b"" if value is None else field(value) for value in values]
        for field, values in zip([fields[column.kind] for column in table.columns], columns, strict=True)
    ]
    return b"".join([b",".join(row) + b"\n" for row in zip(*texts, strict=True)])


class _CsvWriter(Writer):
    def __init__(self, file: BinaryIO, table: Table, kind: TableFormat) -> None:
        self._file, self._table, self._kind = file, table, kind

    def write(self, rows: Iterable[Row]) -> int:
        columns = _columns(rows)
        self._file.write(_csv_lines(self._table, columns, self._kind) if columns else b"")
        return len(columns[0]) if columns else 0

    def take(self, portion: Path) -> None:
        with portion.open("rb") as file:
            copyfileobj(file, self._file, 1 << 20)


def _columns(rows: Iterable[Row]) -> Columns:
    return tuple(map(list, zip(*rows, strict=True)))


@contextmanager
def _csv(path: Path, table: Table, kind: TableFormat) -> Iterator[Writer]:
    with path.open("wb") as file:
        if kind == "excel":
            file.write(codecs.BOM_UTF8)  # or it is read in the machine's own encoding
        file.write(b",".join([column.name.encode() for column in table.columns]) + b"\n")
        yield _CsvWriter(file, table, kind)


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
    if kind != "parquet":
        path.write_bytes(_csv_lines(table, columns, kind))
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
