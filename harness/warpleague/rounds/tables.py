"""The results of rounds as plain tables for data tools; docs/rounds.md describes them.

The matches of each round are tables of its league: `warpleague league export` writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from warpleague.league.results.table_files import need, table_file
from warpleague.league.results.table_shapes import Column, Table
from warpleague.rounds.curves import AuthorLine, RoundLine, VersionLine

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.league.results.table_files import TableFormat
    from warpleague.league.results.table_shapes import Kind, Row
    from warpleague.rounds.curves import Results

_KINDS: Final[dict[str, Kind]] = {
    "str": "text",
    "str | None": "text",
    "int": "whole",
    "int | None": "whole",
    "float": "number",
    "float | None": "number",
    "bool": "truth",
    "bool | None": "truth",
    "tuple[str, ...]": "json",
    "Share | None": "json",
    "dict[str, Any] | None": "json",
}
"""The kind of a column, by the type of its field."""


def _table(name: str, cls: type) -> Table:
    return Table(name, tuple(Column(field.name, _KINDS[str(field.type)]) for field in attrs.fields(cls)))


VERSIONS: Final = _table("versions", VersionLine)
CURVES: Final = _table("curves", AuthorLine)
ROUNDS: Final = _table("rounds", RoundLine)


def write_tables(results: Results, folder: Path, kind: TableFormat) -> list[Path]:
    """Write the tables to files in `folder`, and return their paths. Raises `BadInput` if that is not possible."""
    need(kind)
    written = []
    for table, lines in ((VERSIONS, results.versions), (CURVES, results.curves), (ROUNDS, results.per_round)):
        path = folder / f"{table.name}.{kind}"
        with table_file(path, table, kind) as writer:
            writer.write(_row(table, line) for line in lines)
        written.append(path)
    return written


def _row(table: Table, line: Any) -> Row:
    data = attrs.asdict(line)
    return tuple(
        msgspec.json.encode(data[column.name])
        if column.kind == "json" and data[column.name] is not None
        else data[column.name]
        for column in table.columns
    )
