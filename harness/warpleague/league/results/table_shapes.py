"""The tables that data tools get: their names, columns and kinds of values."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import attrs

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
    deal="whole",
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
