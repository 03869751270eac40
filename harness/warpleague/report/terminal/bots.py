"""Prints the findings about a bot, and lists of bots."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.text import Text

from warpleague.report.terminal.console import BAD, GOOD, WARNING, make_console, make_table
from warpleague.runner.bundle.manifest import games_named
from warpleague.runner.bundle.shipped import short_name
from warpleague.text import counted, safe, size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from warpleague.league.season.entry import Problem
    from warpleague.runner.bundle.cache import Cached
    from warpleague.runner.findings import Finding

_STYLES: Final = {"ok": GOOD, "warning": WARNING, "failed": f"bold {BAD}"}


def print_finding(finding: Finding) -> None:
    """Print one finding as a line (a failure with its evidence below)."""
    text = Text(f"{finding.verdict:8}", style=_STYLES[finding.verdict])
    text.append(f"{finding.what}: ", "bold")
    text.append(safe(finding.text))
    make_console().print(text, soft_wrap=True)


def print_bots(bots: list[dict[str, Any]]) -> None:
    """Print one line a bot; those that cannot be read, with the reason, below."""
    table = make_table()
    for column in ("bot", "version", "games", "folder"):
        table.add_column(column, overflow="fold")
    for bot in bots:
        if "error" not in bot:
            folder = str(short_name(Path(bot["folder"])))
            row = (bot["name"], bot["version"], games_named(bot["games"]), folder)
            table.add_row(*(Text(safe(cell)) for cell in row))
    console = make_console()
    console.print(table)
    for bot in bots:
        if "error" in bot:
            console.print(Text(safe(bot["error"]), style=BAD), soft_wrap=True)


def print_cache(folder: str, entries: Sequence[Cached]) -> None:
    """Print one line for each built bot in the cache, and their total size."""
    console = make_console()
    if entries:
        table = make_table()
        for column in ("bot", "version", "digest", "built at"):
            table.add_column(column, overflow="fold")
        table.add_column("size", justify="right")
        for column in ("last used", ""):
            table.add_column(column)
        for entry in entries:
            used = datetime.fromtimestamp(entry.used, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
            size, level = size_text(entry.size), entry.level or ""
            row = (entry.name, entry.version, entry.digest[:12], level, size, used)
            table.add_row(*(Text(safe(cell)) for cell in row), "in use" if entry.in_use else "")
        console.print(table)
    many = counted(len(entries), "bot")
    text = f"{folder}: {many}, {size_text(sum(entry.size for entry in entries))}"
    console.print(Text(safe(text)), soft_wrap=True)


def problems_table(problems: Sequence[Problem], bots: int) -> RenderableType:
    """The bots of a league that cannot take part, each with the problem and its solution."""
    table = make_table()
    for column, ratio in (("bot", 1), ("what is wrong", 3), ("what to do", 3)):
        table.add_column(column, overflow="fold", ratio=ratio)
    for problem in problems:
        table.add_row(Text(problem.bot, style="bold"), Text(problem.what), Text(problem.todo))
    title = f"{len(problems)} of {counted(bots, 'bot')} cannot take part"
    return Group(Text(title, style=f"bold {BAD}"), table)
