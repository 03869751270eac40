"""Describes a column of a table, which is declared once for the terminal, the page of a league and `--json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class View(Protocol):
    """Where a table is shown: on a `page`, or in a terminal."""

    @property
    def page(self) -> bool:
        """Whether it is a page."""


LineT = TypeVar("LineT")
ViewT = TypeVar("ViewT", bound=View)


@attrs.frozen
class TableView(Generic[LineT]):
    """The `lines` of a table, shown on a `page` or in a terminal."""

    lines: Sequence[LineT]
    page: bool = False


def always(_: Any) -> bool:
    """For columns that are shown everywhere."""
    return True


def never(_: Any) -> bool:
    """For columns that only `--json` has."""
    return False


def no_text(_: Any) -> str:
    """For columns that have no text of their own."""
    return ""


def no_json(_: Any) -> dict[str, Any]:
    """For columns that `--json` does not have, or has with another column."""
    return {}


@attrs.frozen
class Column(Generic[LineT, ViewT]):
    """One column of a table.

    `text` writes the value of a line, and `json` gives its keys for `--json`. `shown` says in which views the column
    stands, and `explained` in which its `help` stands below the table: where it is shown, unless given. A help that
    `joins` continues the line of the help before it. `kind` decides the alignment. Text that `wraps` may take several
    lines in a terminal. `soft` columns are grey on pages. The cells of a `drawn` column are made by the page itself:
    charts, links or marks. On a page the column stands behind that with the name `page_after`, if given.
    """

    name: str
    heading: str
    text: Callable[[LineT], str] = no_text
    json: Callable[[LineT], Mapping[str, Any]] = no_json
    shown: Callable[[ViewT], bool] = always
    help: str | Callable[[ViewT], list[str]] = ""
    explained: Callable[[ViewT], bool] | None = None
    joins: bool = False
    kind: Literal["bot", "text", "number", "faults"] = "number"
    wraps: bool = False
    soft: bool = False
    drawn: bool = False
    page_after: str = ""


def count_column(
    name: str, count: Callable[[LineT], int], heading: str = "", **more: Any
) -> Column[LineT, ViewT]:
    """A column of whole numbers; its name is also the key for `--json`, and its heading, unless one is given."""
    return Column(
        name, heading or name, lambda line: f"{count(line):,}", lambda line: {name: count(line)}, **more
    )


def key_column(key: str, value: Callable[[LineT], Any]) -> Column[LineT, ViewT]:
    """A column that only `--json` has, under this key."""
    return Column(key, key, json=lambda line: {key: value(line)}, shown=never)


def shown_columns(columns: Iterable[Column[LineT, ViewT]], view: ViewT) -> list[Column[LineT, ViewT]]:
    """The columns that a view has, from left to right."""
    shown = [column for column in columns if column.shown(view)]
    if view.page:
        for column in [column for column in shown if column.page_after]:
            shown.remove(column)
            names = [other.name for other in shown]
            shown.insert(names.index(column.page_after) + 1, column)
    return shown


def help_lines(columns: Iterable[Column[LineT, ViewT]], view: ViewT) -> list[str]:
    """The meaning of the columns, as lines to stand below the table."""
    lines: list[str] = []
    for column in columns:
        if column.help and (column.explained or column.shown)(view):
            texts = [column.help] if isinstance(column.help, str) else column.help(view)
            if column.joins:
                lines[-1] = " ".join([lines[-1], *texts])
            else:
                lines += texts
    return lines


def line_json(columns: Iterable[Column[LineT, ViewT]], line: LineT) -> dict[str, Any]:
    """A line as a JSON object: the keys of all columns, whether they are shown or not."""
    return {key: value for column in columns for key, value in column.json(line).items()}
