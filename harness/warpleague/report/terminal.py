"""What all that is printed has in common: how wide the console is, and how a table is drawn.

Leaves what is printed to the other modules of this folder.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table

PLAIN_WIDTH: Final = 160
"""The columns of a pipe or a file: wide enough that nothing is cut."""


def make_console(*, stderr: bool = False) -> Console:
    """The console on standard output (or error); where that is no terminal, lines are never cut at 80."""
    stream = sys.stderr if stderr else sys.stdout
    terminal = stream is not None and stream.isatty()  # none: the output was closed
    columns = os.environ.get("COLUMNS", "")
    width = None if terminal or columns.isdecimal() else PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def make_table() -> Table:
    """A table without a frame: columns are set apart by blanks, the head by a line."""
    return Table(box=box.SIMPLE_HEAD, header_style="bold cyan", pad_edge=False, padding=(0, 1, 0, 0))
