"""The tables of a league in a terminal: their columns, how numbers are written, and what fits the width.

Every function returns something that rich can print; nothing here prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpleague.counts import counted
from warpleague.report.terminal.console import make_table
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    confinement_lines,
    disqualified_lines,
    fault_lines,
    has_cycles,
    percent,
    seats_remark,
    slowest_first,
    time_words,
)
from warpleague.report.wording.standings_columns import Layout, help_lines, shown_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod

    from warpleague.league.results.confinements import ConfinedMatches
    from warpleague.league.results.details import SeatLine, TimeLine
    from warpleague.league.results.faulted import BotFaults
    from warpleague.league.results.services import ServiceLine
    from warpleague.league.results.standings import Standing, Standings
    from warpleague.report.wording.league_words import FaultTally
    from warpleague.report.wording.standings_columns import Column

_GRID_BOTS = 26  # more bots than this make no readable grid


def _titled(title: str, table: Table, *captions: str) -> Group:
    """A table with its title above and remarks below, both free to be wider than it is."""
    return Group(Text(title, style="bold"), table, *(Text(caption, style="dim") for caption in captions))


def _numbers(table: Table, *headers: str) -> None:
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)


def _bot_column(table: Table) -> None:
    table.add_column("bot", overflow="fold", min_width=8)


def standings_table(
    standings: Standings,
    name: str,
    width: int = 100,
    top: int | None = None,
    faulted: Sequence[BotFaults] = (),
) -> RenderableType:
    """The standings; `top` limits the lines, `width` (columns) decides which columns there are.

    Below them it is said which bots `faulted`.
    """
    layout = Layout(standings, width)
    columns = shown_columns(layout)
    table = make_table()
    for column in columns:
        if column.kind == "bot":
            _bot_column(table)
        else:
            justify: JustifyMethod = "left" if column.kind == "text" else "right"
            table.add_column(column.heading, justify=justify, no_wrap=not column.wraps)
    for line in standings.lines[:top]:
        table.add_row(*(_standings_cell(column, line) for column in columns))
    captions = help_lines(layout) + disqualified_lines(standings)
    title = f"Standings of {name}, {_matches(standings)}"
    return Group(_titled(title, table, *captions), *faulted_lines(faulted))


def _standings_cell(column: Column, line: Standing) -> str | Text:
    if column.kind == "bot":
        return Text(column.text(line))
    return _faults(line.record.faults) if column.kind == "faults" else column.text(line)


def _matches(standings: Standings) -> str:
    kind = "solo match" if standings.solo else "match"
    return counted(standings.matches, kind)


def _faults(count: int) -> Text:
    return Text(f"{count:,}", style="red" if count else "dim")


def faulted_lines(bots: Sequence[BotFaults]) -> list[Text]:
    """Which bots faulted, as lines below a table that counts their matches."""
    return [Text(line, style="red") for line in fault_lines(bots, MAX_FAULTED)]


def crosstable(standings: Standings, width: int = 100) -> RenderableType:
    """Each bot's share of points against each other one, bots numbered by rank; the rows' own share at the end."""
    order = standings.order
    if len(order) > _GRID_BOTS:
        return Text(f"The crosstable of {len(order)} bots is too wide to read; --json has it.", style="dim")
    table = make_table()
    _numbers(table, "#")
    _bot_column(table)
    names = max(8, *(len(name) for name in standings.names))
    columns = order[: max((width - names - 7) // 5, 1)]
    for place, _ in enumerate(columns, 1):
        table.add_column(str(place), justify="right", no_wrap=True, min_width=3)
    for place, bot in enumerate(order, 1):
        cells: list[str | Text] = [str(place), Text(standings.names[bot])]
        for other in columns:
            meetings = standings.totals.games[bot][other]
            if bot == other:
                cells.append(Text("·", style="dim"))
            elif meetings:
                share = standings.totals.points[bot][other] / meetings
                cells.append(Text(f"{100 * share:.0f}", style=_shade(share)))
            else:
                cells.append("")
        table.add_row(*cells)
    missing = len(order) - len(columns)
    captions = [f"{missing} more columns need a wider terminal."] if missing else []
    if has_cycles(standings):
        captions.append(
            "More cycles (A beats B beats C beats A) than chance makes: the ratings hide something."
        )
    return _titled("Crosstable: share of points against each other bot, in percent", table, *captions)


def _shade(share: float) -> str:
    return "green" if share > 0.55 else "red" if share < 0.45 else ""


def seats_table(lines: Sequence[SeatLine]) -> RenderableType:
    """The worth of each seat."""
    table = make_table()
    _numbers(table, "seat", "played", "won", "drawn", "lost", "share", "± 95 %", "mean score", "faults")
    for line in lines:
        record, half = line.record, line.share.half
        table.add_row(
            str(line.seat),
            *(f"{count:,}" for count in (record.played, record.won, record.drawn, record.lost)),
            percent(line.share.mean) if record.played and len(lines) > 1 else "-",
            f"{100 * half:.1f}" if half is not None and len(lines) > 1 else "",
            f"{record.scores.mean:.2f}" if record.played else "-",
            _faults(record.faults),
        )
    return _titled("Seats", table, *filter(None, [seats_remark(lines)]))


def faults_table(kinds: Sequence[FaultTally]) -> RenderableType:
    """Faults by bot and kind, with how many cost the match, and the first match to look at."""
    if not kinds:
        return Text("No faults.", style="green")
    table = make_table()
    _bot_column(table)
    table.add_column("kind")
    _numbers(table, "faults", "forfeits")
    table.add_column("first in match", overflow="fold")
    table.add_column("what", overflow="fold", ratio=1)
    for kind in kinds:
        line = kind.first[0]
        where = f"{line.number} ({line.match[:10]}), line {line.fault.n}"
        counts = f"{kind.count:,}", f"{kind.retired:,}"
        table.add_row(Text(kind.bot), kind.kind, *counts, where, Text(kind.what(120)))
    return _titled("Faults", table)


def times_table(lines: Sequence[TimeLine]) -> RenderableType:
    """The time each bot used for a decision, slowest first."""
    table = make_table()
    _bot_column(table)
    _numbers(table, "decisions", "mean", "cpu", "wait", "longest")
    table.add_column("in match", no_wrap=True)
    for line in slowest_first(lines):
        table.add_row(
            Text(line.bot),
            f"{line.decisions:,}",
            *time_words(line),
            line.longest_match[:10],
        )
    return _titled(
        "Time for a decision, in milliseconds", table, "wait: ready to run, but without a processor."
    )


def services_table(lines: Sequence[ServiceLine]) -> RenderableType:
    """The work and the cost of the bots' services."""
    if not lines:
        return Text("No bot told of a service.")
    table = make_table()
    _bot_column(table)
    _numbers(table, "failures", "most", "void", "tokens in", "tokens out", "cost")
    for line in lines:
        counts = (line.failures, line.most_failures, line.void, line.input_tokens, line.output_tokens)
        table.add_row(Text(line.bot), *(f"{count:,}" for count in counts), f"{line.cost:,.4f}")
    captions = [
        "failures: of the bot's service, in all matches; most: in one match; void: matches void for that."
    ]
    return _titled("Services that bots use", table, *captions)


def confinement_remark(level: str, ways: Sequence[ConfinedMatches], dice: str = "") -> RenderableType:
    """How the bots were confined, and what that means for the `dice`; the league's status says what was tried."""
    lines = [*confinement_lines(level, ways, promises=False), *([dice] if dice else [])]
    return Text("\n".join(lines), style="dim")


def pairs_table(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Names and values, one pair a line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    return grid


def stacked(*parts: RenderableType) -> Group:
    """One below the other, with an empty line between."""
    spaced: list[RenderableType] = []
    for part in parts:
        spaced += [part, Text("")]
    return Group(*spaced[:-1])
