"""The tables of a league in a terminal, and the commands that show a league: as a table or as JSON.

Every function returns something that rich can print; nothing here prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
from rich.console import Group, RenderableType
from rich.text import Text

from warpleague.league.ratings.statistics import rounded
from warpleague.league.results.details import faults, seats, times
from warpleague.league.results.faulted import (
    BotFaults,
    ConfinedMatches,
    ServiceLine,
    bot_faults,
    confined_matches,
    forfeits,
    services,
    voids,
)
from warpleague.league.results.machines import machines
from warpleague.league.results.standings import standings
from warpleague.report.terminal.console import BAD, GOOD, QUIET, make_table
from warpleague.report.terminal.status import status_json, status_table
from warpleague.report.wording.bracket import bracket_json, bracket_text
from warpleague.report.wording.columns import (
    COLUMNS,
    FAULT_LINES,
    FAULTS,
    MACHINES,
    SEATS,
    SERVICES,
    TIMES,
    Column,
    Layout,
    LineT,
    TableView,
    ViewT,
    help_lines,
    line_json,
    read_tables,
    shown_columns,
    standing_json,
)
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    FaultTally,
    by_kind,
    confinement_lines,
    dice_line,
    difference_told,
    disqualified_lines,
    fault_lines,
    has_cycles,
    seats_remark,
    slowest_first,
    void_line,
)
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import JustifyMethod
    from rich.table import Table

    from warpleague.league.results.details import SeatLine, TimeLine
    from warpleague.league.results.league import League
    from warpleague.league.results.machines import MachineLine
    from warpleague.league.results.standings import Standings


_GRID_BOTS = 26  # more bots than this make no readable grid


def titled(title: str, table: Table, *captions: str) -> Group:
    """A table with its title above and remarks below, both free to be wider than it is."""
    return Group(Text(title, style="bold"), table, *(Text(caption, style=QUIET) for caption in captions))


def filled(columns: Iterable[Column[LineT, ViewT]], view: ViewT, lines: Iterable[LineT]) -> Table:
    """The columns that a view has, with a row for each line."""
    table = make_table()
    shown = shown_columns(columns, view)
    for column in shown:
        if column.kind == "bot":
            _bot_column(table)
        else:
            # Where there is no room, texts take several lines: cut digits would be another number.
            text = column.kind == "text"
            justify: JustifyMethod = "left" if text else "right"
            table.add_column(
                column.heading, justify=justify, no_wrap=not (text or column.wraps), overflow="fold"
            )
    for line in lines:
        table.add_row(*(_cell(column.kind, column.text(line)) for column in shown))
    return table


def _bot_column(table: Table) -> None:
    table.add_column("bot", overflow="fold", min_width=8)


def _cell(kind: str, text: str) -> str | Text:
    """A cell; only numbers, which no bot chooses, are given as rich's markup."""
    if kind == "faults":
        return Text(text, style=QUIET if text == "0" else "red")
    return text if kind == "number" else Text(text)


def standings_table(
    standings: Standings,
    name: str,
    width: int = 100,
    top: int | None = None,
    faulted: Sequence[BotFaults] = (),
) -> RenderableType:
    """The standings; `top` limits the lines, `width` (columns) decides which columns there are.

    A line below them names the bots that `faulted`.
    """
    layout = Layout(standings, width)
    table = filled(COLUMNS, layout, standings.lines[:top])
    captions = help_lines(COLUMNS, layout) + disqualified_lines(standings)
    title = f"Standings of {name}, {_matches(standings)}"
    return Group(titled(title, table, *captions), *faulted_lines(faulted))


def _matches(standings: Standings) -> str:
    kind = "solo match" if standings.solo else "match"
    return counted(standings.matches, kind)


def faulted_lines(bots: Sequence[BotFaults]) -> list[Text]:
    """Which bots faulted, as lines below a table that counts their matches."""
    return [Text(line, style=BAD) for line in fault_lines(bots, MAX_FAULTED)]


def crosstable(standings: Standings, width: int = 100) -> RenderableType:
    """Each bot's share of points against each other one, bots numbered by rank; the rows' own share at the end."""
    order = standings.order
    if len(order) > _GRID_BOTS:
        return Text(f"The crosstable of {len(order)} bots is too wide to read; --json has it.", style=QUIET)
    table = make_table()
    table.add_column("#", justify="right", no_wrap=True)
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
                cells.append(Text("·", style=QUIET))
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
    return titled("Crosstable: share of points against each other bot, in percent", table, *captions)


def _shade(share: float) -> str:
    return "green" if share > 0.55 else "red" if share < 0.45 else ""


def seats_table(lines: Sequence[SeatLine]) -> RenderableType:
    """The worth of each seat."""
    return titled("Seats", filled(SEATS, TableView(lines), lines), *filter(None, [seats_remark(lines)]))


def faults_table(kinds: Sequence[FaultTally]) -> RenderableType:
    """Faults by bot and kind, with how many cost the match, and the first match to look at."""
    if not kinds:
        return Text("No faults.", style=GOOD)
    return titled("Faults", filled(FAULTS, TableView(kinds), kinds))


def times_table(lines: Sequence[TimeLine]) -> RenderableType:
    """The time each bot used for a decision, slowest first."""
    view = TableView(slowest_first(lines))
    table = filled(TIMES, view, view.lines)
    return titled("Time for a decision, in milliseconds", table, *help_lines(TIMES, view))


def machines_table(lines: Sequence[MachineLine]) -> RenderableType:
    """The machines of a cluster that played, and whether one differs from the others."""
    if not lines:
        return Text("No match was played on a cluster.")
    view = TableView(lines)
    return titled("Machines", filled(MACHINES, view, lines), *help_lines(MACHINES, view))


def services_table(lines: Sequence[ServiceLine]) -> RenderableType:
    """The work and the cost of the bots' services."""
    if not lines:
        return Text("No bot reported a service.")
    view = TableView(lines)
    return titled("Services that bots use", filled(SERVICES, view, lines), *help_lines(SERVICES, view))


def confinement_remark(level: str, ways: Sequence[ConfinedMatches], dice: str = "") -> RenderableType:
    """The confinement of the bots, and its effect on the `dice`. The league's status lists the tested promises."""
    lines = [*confinement_lines(level, ways, promises=False), *([dice] if dice else [])]
    return Text("\n".join(lines), style=QUIET)


def stacked(*parts: RenderableType) -> Group:
    """One below the other, with an empty line between."""
    spaced: list[RenderableType] = []
    for part in parts:
        spaced += [part, Text("")]
    return Group(*spaced[:-1])


# -- views -----------------------------------------------------------------------------------------------


@attrs.frozen
class LeagueView:
    """One look at a league; `table` is given the width in columns."""

    data: Callable[[League], Any]
    table: Callable[[League, int], RenderableType]


def _confinement(league: League) -> RenderableType:
    return confinement_remark(league.season.level, confined_matches(league), dice_line(league.season))


def _void_lines(league: League) -> list[Text]:
    return [Text(f"Void: {void_line(void)}.", style=QUIET)] if (void := voids(league.store)) else []


def _with_faults(league: League) -> tuple[Standings, list[BotFaults]]:
    """The standings, and the bots that faulted; the matches are read once for both."""
    columns = league.columns(*(("matches",) if league.season.players == 1 else ()))
    return standings(league, columns), bot_faults(league, columns)


def standings_json(league: League) -> dict[str, Any]:
    """The standings: their lines, and what the season can tell.

    Each line says which version it is of, and in how many matches its bot faulted.

    `forfeits` are the matches in which the bot was retired for a fault, and `won_by_forfeit` those that it won in
    which an opponent was.
    """
    table, with_faults = _with_faults(league)
    retired = forfeits(league) if with_faults else {}
    bots = {seat.bot: seat for seat in league.season.bots}
    faulted = {one.bot: one.to_json() for one in with_faults}
    none = {"faulted": 0, "kind": None, "message": None}
    lines = []
    for line in table.lines:
        most = faulted.get(line.bot, none)
        fields = {
            "faulted": most["faulted"],
            "fault_kind": most["kind"],
            "fault_message": most["message"],
            "forfeits": retired.get(line.bot, (0, 0))[0],
            "won_by_forfeit": retired.get(line.bot, (0, 0))[1],
            "version": bots[line.bot].version,
            "content": bots[line.bot].digest,
        }
        lines.append(standing_json(line) | fields)
    apart, more = difference_told(table)
    return {
        "league": league.config.name,
        "matches": table.matches,
        "tells_apart": rounded(apart, 4),
        "matches_to_halve": more,
        "standings": lines,
    }


def _standings_table(league: League, width: int) -> RenderableType:
    rated, faulted = _with_faults(league)
    table = standings_table(rated, league.config.name, width, faulted=faulted)
    return stacked(table, _confinement(league)) if league.store.count() else table


VIEWS: dict[str, LeagueView] = {
    "status": LeagueView(status_json, lambda league, _: status_table(league)),
    "standings": LeagueView(standings_json, _standings_table),
    "crosstable": LeagueView(
        lambda league: standings(league).crosstable_json(),
        lambda league, width: crosstable(standings(league), width),
    ),
    "bracket": LeagueView(
        bracket_json,
        lambda league, _: Group(Text(bracket_text(league)), *faulted_lines(bot_faults(league))),
    ),
    "seats": LeagueView(
        lambda league: [line_json(SEATS, line) for line in seats(league)],
        lambda league, _: seats_table(seats(league)),
    ),
    "faults": LeagueView(
        lambda league: [line_json(FAULT_LINES, line) for line in faults(league)],
        lambda league, _: Group(faults_table(by_kind(faults(league))), *_void_lines(league)),
    ),
    "times": LeagueView(
        lambda league: [line_json(TIMES, line) for line in times(league)],
        lambda league, _: times_table(times(league)),
    ),
    "services": LeagueView(
        lambda league: [line_json(SERVICES, line) for line in services(league)],
        lambda league, _: services_table(services(league)),
    ),
}

MACHINES_VIEW: Final = LeagueView(
    lambda league: [line_json(MACHINES, line) for line in machines(league)],
    lambda league, _: machines_table(machines(league)),
)
"""The machines of a cluster; for the organiser, so no page has it."""


def all_tables(league: League, width: int) -> RenderableType:
    """Every table, as the end of a run prints them."""
    columns = league.columns("matches")
    read = read_tables(league, columns)
    faulted = bot_faults(league, columns)
    parts = [standings_table(read.standings, league.config.name, width, faulted=faulted)]
    if league.season.format.kind in ("knockout", "double-elimination"):
        parts.append(Text(bracket_text(league)))
    if not read.standings.solo:
        parts += [crosstable(read.standings, width), seats_table(read.seats)]
    parts += [times_table(read.times), _confinement(league), faults_table(read.faults), *_void_lines(league)]
    if used := services(league):
        parts.append(services_table(used))
    return stacked(*parts)
