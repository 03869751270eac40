"""How findings about a bot, and lists of bots, look in a terminal.

Leaves making the findings to `warpleague.runner.checkup`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.text import Text

from warpleague.report.terminal import make_console, make_table
from warpleague.runner.shipped import short_name
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from warpleague.league.entry import Problem
    from warpleague.runner.checkup import Finding

_STYLES: Final = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def print_finding(finding: Finding, console: Console | None = None) -> None:
    """Print one finding as a line (a failure with its evidence below)."""
    console = console or make_console()
    text = Text(f"{finding.verdict:8}", style=_STYLES[finding.verdict])
    text.append(f"{finding.what}: ", "bold")
    text.append(safe(finding.text))
    console.print(text, soft_wrap=True)


def print_bots(found: list[dict[str, Any]]) -> None:
    """Print one line a bot; those that cannot be read, with the reason, below."""
    table = make_table()
    for column in ("bot", "version", "games", "folder"):
        table.add_column(column, overflow="fold")
    for bot in found:
        if "error" not in bot:
            row = (bot["name"], bot["version"], ", ".join(bot["games"]), str(short_name(Path(bot["folder"]))))
            table.add_row(*(Text(safe(cell)) for cell in row))
    console = make_console()
    console.print(table)
    for bot in found:
        if "error" in bot:
            console.print(Text(safe(bot["error"]), style="red"), soft_wrap=True)


def problems_table(problems: Sequence[Problem], bots: int) -> RenderableType:
    """The bots of a league that cannot take part, each with what is wrong and what to do."""
    table = make_table()
    for column, ratio in (("bot", 1), ("what is wrong", 3), ("what to do", 3)):
        table.add_column(column, overflow="fold", ratio=ratio)
    for problem in problems:
        table.add_row(Text(problem.bot, style="bold"), Text(problem.what), Text(problem.todo))
    title = f"{len(problems)} of {bots} bots cannot take part"
    return Group(Text(title, style="bold red"), table)
