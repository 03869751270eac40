"""The console that all commands print to, and the style of all printed tables."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, cast

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from warpleague.text import IsolatingStream, SafeStream, counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from rich.console import ConsoleOptions, RenderableType, RenderResult
    from rich.style import Style
    from rich.table import Column

    _PlainColumn = list[tuple[str, str | Style]]  # the head and the cells, each with its style


# Colours that can be read on white and on black.
QUIET: Final = "color(243)"
GOOD: Final = "color(28)"
WARNING: Final = "color(130)"
BAD: Final = "color(196)"
CODE: Final = "color(30)"
HEAD: Final = "bold color(30)"

PLAIN_WIDTH: Final = 160
"""The columns of a pipe or a file: wide enough that nothing is cut."""


class SafeConsole(Console):
    """A console that escapes everything in texts that could control the terminal; only its own styles remain."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of `renderable`, their text made safe; rich's own control codes stay."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(safe(segment.text), segment.style)


def make_console(*, stderr: bool = False) -> Console:
    """The console on standard output (or error); if it is not a terminal, lines are never cut at 80.

    A dumb terminal is like a file: nothing can be drawn there again. FORCE_COLOR gives either colours, no more.
    """
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, SafeStream):
        stream = stream.inner  # it would escape the colours too
    screen = stream is not None and stream.isatty()  # none: the output was closed
    terminal = screen and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    forced = not terminal and bool(os.environ.get("FORCE_COLOR"))
    return SafeConsole(
        file=cast("TextIO", IsolatingStream(stream)) if stream and terminal else stream,
        width=None if screen or os.environ.get("COLUMNS", "").isdecimal() else PLAIN_WIDTH,
        highlight=False,
        soft_wrap=False,
        force_terminal=terminal,  # else rich would take what is forced to have colours for a terminal of 80 columns
        color_system="256" if forced else "auto",
    )


_FOLDED: Final = 14  # the room that a text gets at least, with its blanks, before columns of numbers go


class QuickTable(Table):
    """A table of `make_table` that writes its lines itself where all cells fit their columns as they are.

    rich measures and renders each cell several times, which takes seconds for a table of some hundred bots.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The text that rich would make of it."""
        columns = [plain for column in self.columns if (plain := _plain_column(column))]
        widths = [
            max(column.min_width or 0, *(cell_len(text) for text, _ in plain))
            for column, plain in zip(self.columns, columns, strict=False)
        ]
        if len(columns) == len(self.columns) and sum(widths) + 2 * len(widths) <= options.max_width:
            yield from self._lines(console, columns, widths)
            return
        left = self._that_fit(console, options)
        yield from (super().__rich_console__(console, options) if left is None else self._with(left))

    def _that_fit(self, console: Console, options: ConsoleOptions) -> list[Column] | None:
        """The columns without those for which there is no room; None if there is for all.

        Texts may be folded; numbers may not, so those furthest to the right go first. The first text, which says what
        a line is about, and what stands before it stay.
        """
        texts = [place for place, column in enumerate(self.columns) if column.justify != "right"]
        first = texts[0] if texts else 0
        need = [self._measure_column(console, options, column).maximum for column in self.columns]
        for place in texts:
            need[place] = min(need[place], max(self.columns[place].min_width or 0, _FOLDED))
        left = list(range(len(self.columns)))
        while sum(need[place] + 1 for place in left) > options.max_width:
            numbers = [place for place in left if place > first and self.columns[place].justify == "right"]
            if not numbers:
                break
            left.remove(numbers[-1])
        return None if len(left) == len(self.columns) else [self.columns[place] for place in left]

    def _with(self, left: list[Column]) -> RenderResult:
        """The table with these columns only, and how many it lacks."""
        table = make_table()
        for column in left:
            table.add_column(
                column.header,
                justify=column.justify,
                style=column.style,
                no_wrap=column.no_wrap,
                overflow=column.overflow,
                min_width=column.min_width,
            )
        for row in zip(*(column.cells for column in left), strict=True):
            table.add_row(*row)
        yield table
        yield Text(
            f"({counted(len(self.columns) - len(left), 'column')} more in a wider terminal)", style=QUIET
        )

    def _lines(self, console: Console, columns: list[_PlainColumn], widths: list[int]) -> RenderResult:
        total, end = sum(widths) + 2 * len(widths), Segment.line()
        blank, rule = Segment(" " * total), Segment(f" {'─' * (total - 2)} ")
        yield from (blank, end)
        for number, row in enumerate(zip(*columns, strict=True)):
            for place, ((text, style), width) in enumerate(zip(row, widths, strict=True)):
                spare = " " * (width - cell_len(text))
                padded = spare + text if self.columns[place].justify == "right" else text + spare
                yield Segment("  " if place else " ")
                yield Segment(padded, console.get_style(style if number else self.header_style))
            yield from (Segment(" "), end)
            if not number:
                yield from (rule, end)
        yield from (blank, end)


def _plain_column(column: Column) -> _PlainColumn | None:
    """The head and the cells of a column with their styles, None if any is more than a line of one style."""
    if column.justify not in ("left", "right") or column.width or column.max_width or column.ratio:
        return None
    if column.style or column.header_style:
        return None
    cells: _PlainColumn = []
    for cell in (column.header, *column.cells):
        if isinstance(cell, Text) and not cell.spans:
            text, style = cell.plain, cell.style
        elif isinstance(cell, str) and "[" not in cell and cell.count(":") < 2 and "\\" not in cell:
            text, style = cell, ""
        else:
            return None
        if not text.isprintable() or text != text.strip():
            return None
        cells.append((text, style))
    return cells


def make_table() -> Table:
    """A table without a frame: columns are set apart by blanks, the head by a line."""
    return QuickTable(box=box.SIMPLE_HEAD, header_style=HEAD, pad_edge=False, padding=(0, 1, 0, 0))
