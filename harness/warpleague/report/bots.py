"""How findings about a bot, and lists of bots, look in a terminal.

Leaves making the findings to `warpleague.runner.checkup`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from warpleague.runner.checkup import Finding

_STYLES: Final = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def print_finding(finding: Finding, console: Console | None = None) -> None:
    """Print one finding as a line (a failure with its evidence below)."""
    console = console or Console(highlight=False)
    text = Text(f"{finding.verdict:8}", style=_STYLES[finding.verdict])
    text.append(f"{finding.what}: ", "bold")
    text.append(finding.text)
    console.print(text, soft_wrap=True)


def print_bots(found: list[dict[str, Any]]) -> None:
    """Print one line a bot."""
    table = Table()
    for column in ("bot", "version", "games", "folder"):
        table.add_column(column, overflow="fold")
    for bot in found:
        table.add_row(bot["name"], bot["version"], ", ".join(bot["games"]), bot["folder"])
    Console(highlight=False).print(table)
