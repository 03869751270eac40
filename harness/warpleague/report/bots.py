"""How findings about a bot, and lists of bots, look in a terminal.

Leaves making the findings to `warpleague.runner.checkup`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpleague.match.evidence import safe

if TYPE_CHECKING:
    from warpleague.runner.checkup import Finding

_STYLES: Final = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def print_finding(finding: Finding, console: Console | None = None) -> None:
    """Print one finding as a line (a failure with its evidence below)."""
    console = console or Console(highlight=False)
    text = Text(f"{finding.verdict:8}", style=_STYLES[finding.verdict])
    text.append(f"{finding.what}: ", "bold")
    text.append(safe(finding.text))
    console.print(text, soft_wrap=True)


def print_bots(found: list[dict[str, Any]]) -> None:
    """Print one line a bot; those that cannot be read, with the reason, below."""
    table = Table()
    for column in ("bot", "version", "games", "folder"):
        table.add_column(column, overflow="fold")
    for bot in found:
        if "error" not in bot:
            row = (bot["name"], bot["version"], ", ".join(bot["games"]), bot["folder"])
            table.add_row(*(Text(safe(cell)) for cell in row))
    console = Console(highlight=False)
    console.print(table)
    for bot in found:
        if "error" in bot:
            console.print(Text(safe(bot["error"]), style="red"), soft_wrap=True)
