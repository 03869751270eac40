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
    fit_words,
    lead_remarks,
    mean_words,
    percent,
    placing_headers,
    placing_words,
    rank_words,
    remarks,
    seats_remark,
    share_span,
    slowest_first,
    solo_remarks,
    time_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.confined import ConfinedMatches
    from warpleague.league.details import SeatLine, TimeLine
    from warpleague.league.faulted import BotFaults
    from warpleague.league.services import ServiceLine
    from warpleague.league.standings import Standings
    from warpleague.report.wording.league_words import FaultTally

_WIDEST, _WIDE, _NARROW = 116, 96, 76  # below so many columns the standings leave out what other tables tell
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
    if standings.solo:
        return _solo_table(standings, name, width, top, faulted)
    fitted, wide = standings.fit is not None and width >= _NARROW, width >= _WIDE
    likelihoods = (
        fitted and wide and not standings.by_score
    )  # the next one in the table is not the next in strength
    table = make_table()
    _numbers(table, "#")
    _bot_column(table)
    placed = placing_headers(standings)
    for header in placed:
        table.add_column(header, justify="left" if header == "reached" else "right")
    if standings.by_score:
        _numbers(table, "score", "± 95 %")
    _numbers(table, *(("fit", "± 95 %") if fitted else ()), *(("LOS",) if likelihoods else ()))
    elo = not (placed or standings.by_score) or width >= _WIDEST
    _numbers(table, *(("Elo",) if elo else ()))
    leads = width >= _WIDEST and bool(lead_remarks(standings))
    _numbers(table, *(("lead", "± 95 %") if leads else ()))
    _numbers(table, "played", "won", "drawn", "lost", *(("share",) if wide else ()), "faults")
    for line in standings.lines[:top]:
        record = line.record
        cells: list[str | Text] = [rank_words(line), Text(line.bot), *placing_words(line)]
        if standings.by_score:
            cells += mean_words(record.scores)
        if fitted:
            cells += fit_words(line)
        if likelihoods:
            cells.append("" if line.likelihood is None else f"{100 * line.likelihood:.0f} %")
        if elo:
            cells.append("-" if line.elo is None else f"{line.elo:.0f}")
        if leads:
            cells += ("", "") if line.lead is None else mean_words(line.lead, signed=True)
        cells += [f"{count:,}" for count in (record.played, record.won, record.drawn, record.lost)]
        if wide:
            cells.append(percent(record.points / record.played) if record.played else "-")
        table.add_row(*cells, _faults(record.faults))
    captions = remarks(standings, wide=wide) if fitted or standings.by_score else []
    if leads:
        captions += lead_remarks(standings)
    captions += disqualified_lines(standings)
    title = f"Standings of {name}, {_matches(standings)}"
    return Group(_titled(title, table, *captions), *faulted_lines(faulted))


def _matches(standings: Standings) -> str:
    kind = "solo match" if standings.solo else "match"
    return counted(standings.matches, kind)


def _faults(count: int) -> Text:
    return Text(f"{count:,}", style="red" if count else "dim")


def faulted_lines(bots: Sequence[BotFaults]) -> list[Text]:
    """Which bots faulted, as lines below a table that counts their matches."""
    return [Text(line, style="red") for line in fault_lines(bots, MAX_FAULTED)]


def _solo_table(
    standings: Standings, name: str, width: int, top: int | None, faulted: Sequence[BotFaults]
) -> RenderableType:
    rival, wide = standings.rival, width >= _WIDE
    compared = width >= _NARROW and any(line.ahead and line.ahead.count for line in standings.lines)
    table = make_table()
    _numbers(table, "#")
    _bot_column(table)
    if rival:
        _numbers(table, "wins", *(("95 %",) if wide else ()), "margin", "± 95 %")
    if not rival or wide:
        _numbers(table, "score", *(() if rival else ("± 95 %",)))
    if compared:
        _numbers(table, "ahead", "± 95 %")
    _numbers(
        table, *(("played",) if wide or not rival else ()), *(("won", "lost") if rival else ()), "faults"
    )
    for line in standings.lines[:top]:
        record = line.record
        cells: list[str | Text] = [rank_words(line), Text(line.bot)]
        if rival:
            cells.append(percent(record.won / record.played) if record.played else "-")
            if wide:
                cells.append(share_span(record.won, record.played))
            cells += mean_words(record.margins, signed=True)
        if not rival or wide:
            cells += mean_words(record.scores)[: 1 if rival else 2]
        if compared:
            cells += ("", "") if line.ahead is None else mean_words(line.ahead, signed=True)
        counts = ([record.played] if wide or not rival else []) + ([record.won, record.lost] if rival else [])
        table.add_row(*cells, *(f"{count:,}" for count in counts), _faults(record.faults))
    captions = solo_remarks(rival=rival, compared=compared) + disqualified_lines(standings)
    title = f"Standings of {name}, {_matches(standings)}"
    return Group(_titled(title, table, *captions), *faulted_lines(faulted))


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
    return _titled("Crosstable: share of points against each other bot, in percent", table, *captions)


def _shade(share: float) -> str:
    return "green" if share > 0.55 else "red" if share < 0.45 else ""


def seats_table(lines: Sequence[SeatLine]) -> RenderableType:
    """What each seat is worth."""
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
    """What the services of bots did and took."""
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


def confinement_remark(level: str, ways: Sequence[ConfinedMatches]) -> RenderableType:
    """How the bots were confined; what was tried before is in the league's status."""
    return Text("\n".join(confinement_lines(level, ways, promises=False)), style="dim")


def facts(rows: Sequence[tuple[str, str]]) -> RenderableType:
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
