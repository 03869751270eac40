"""What all printed tables share: the width of the console, and how a table is drawn."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.segment import Segment
from rich.table import Table

from warpleague.safe_text import SafeStream, safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

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
    """The console on standard output (or error); where that is no terminal, lines are never cut at 80."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, SafeStream):
        stream = stream.inner  # it would escape the colours too
    terminal = stream is not None and stream.isatty()  # none: the output was closed
    columns = os.environ.get("COLUMNS", "")
    width = None if terminal or columns.isdecimal() else PLAIN_WIDTH
    return SafeConsole(file=stream, width=width, highlight=False, soft_wrap=False)


def make_table() -> Table:
    """A table without a frame: columns are set apart by blanks, the head by a line."""
    return Table(box=box.SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, padding=(0, 1, 0, 0))
