"""The commands that show a league, each in two forms: JSON for programs, a table for people.

Only views that count many matches load numpy, which takes longer to load than everything else together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from rich.console import Group
from rich.text import Text

from warpleague.counts import counted
from warpleague.league.results.confinements import confined_matches
from warpleague.league.results.status import status
from warpleague.report.terminal import tables
from warpleague.report.wording.columns import line_json
from warpleague.report.wording.league_columns import FAULT_LINES, SEATS, SERVICES, TIMES
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    besides_lines,
    by_kind,
    confinement_lines,
    decision_lines,
    dice_line,
    fault_lines,
    played_so_far,
    read_tables,
)
from warpleague.report.wording.standings_columns import standing_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from warpleague.league.results.details import FaultLine, SeatLine, TimeLine
    from warpleague.league.results.faulted import BotFaults
    from warpleague.league.results.league import League
    from warpleague.league.results.services import ServiceLine
    from warpleague.league.results.standings import Standings
    from warpleague.league.store.columns import Columns


@attrs.frozen
class LeagueView:
    """One look at a league; `table` is given the width in columns."""

    data: Callable[[League], Any]
    table: Callable[[League, int], RenderableType]


def _status_table(league: League, _: int) -> RenderableType:
    now = status(league)
    secret = f"{now.secret}, public since {now.published}" if now.published else "until the end"
    rows = [
        ("league", now.league),
        ("game", f"{now.game}, rules version {now.rules}"),
        ("bots", ", ".join(now.bots)),
        ("format", now.format),
        ("matches", played_so_far(now)),
        ("store", f"{now.store}, since {now.created}"),
        ("commitment", f"{now.commitment}, since {now.committed}"),
        ("entrants", "\n".join(f"{entry.commitment}, since {entry.since}" for entry in now.entered)),
        *([("beacon", now.beacon or f"not known yet: {now.awaits}")] if now.awaits else []),
        ("secret", secret),
        ("receipt", now.head),
        ("level", "\n".join(confinement_lines(now.level, now.confined)) or now.level),
        *([("dice", line)] if (line := dice_line(league.season)) else []),
    ]
    if now.faulted:
        rows.insert(5, ("faults", "\n".join(fault_lines(now.faulted, MAX_FAULTED))))
    if now.other:
        rows.insert(5, ("besides", "\n".join(besides_lines(now))))
    if now.taken_out:
        rows.insert(5, ("taken out", f"{counted(now.taken_out, 'match')} of disqualified bots, not counted"))
    if now.skipped:
        rows.insert(3, ("left out", "\n".join(now.skipped)))
    if now.disqualified:
        rows.insert(3, ("disqualified", "\n".join(decision_lines(now.disqualified))))
    return tables.pairs_table(rows)


def _confinement(league: League) -> RenderableType:
    return tables.confinement_remark(league.season.level, confined_matches(league), dice_line(league.season))


def _standings(league: League) -> Standings:
    from warpleague.league.results.standings import standings

    return standings(league)


def _seats(league: League) -> list[SeatLine]:
    from warpleague.league.results.details import seats

    return seats(league)


def _faults(league: League) -> Iterator[FaultLine]:
    from warpleague.league.results.details import faults

    return faults(league)


def _times(league: League) -> list[TimeLine]:
    from warpleague.league.results.details import times

    return times(league)


def _services(league: League) -> list[ServiceLine]:
    from warpleague.league.results.services import services

    return services(league)


def _bot_faults(league: League, columns: Columns | None = None) -> list[BotFaults]:
    from warpleague.league.results.faulted import bot_faults

    return bot_faults(league, columns)


def _with_faults(league: League) -> tuple[Standings, list[BotFaults]]:
    """The standings, and the bots that faulted; the matches are read once for both."""
    from warpleague.league.results.standings import standings

    columns = league.columns(*(("matches",) if league.season.players == 1 else ()))
    return standings(league, columns), _bot_faults(league, columns)


def standings_json(league: League) -> list[dict[str, Any]]:
    """The lines of the standings; each says which version it is of, and in how many matches its bot faulted.

    `forfeits` are the matches in which the bot was retired for a fault, and `won_by_forfeit` those that it won in
    which an opponent was.
    """
    from warpleague.league.results.faulted import forfeits

    table, bot_faults = _with_faults(league)
    retired = forfeits(league) if bot_faults else {}
    seats = {seat.bot: seat for seat in league.season.bots}
    faulted = {faults.bot: faults.to_json() for faults in bot_faults}
    none = {"faulted": 0, "kind": None, "message": None}
    lines = []
    for line in table.lines:
        faults = faulted.get(line.bot, none)
        fields = {
            "faulted": faults["faulted"],
            "fault_kind": faults["kind"],
            "fault_message": faults["message"],
            "forfeits": retired.get(line.bot, (0, 0))[0],
            "won_by_forfeit": retired.get(line.bot, (0, 0))[1],
            "version": seats[line.bot].version,
            "content": seats[line.bot].digest,
        }
        lines.append(standing_json(line) | fields)
    return lines


def _standings_table(league: League, width: int) -> RenderableType:
    standings, faulted = _with_faults(league)
    table = tables.standings_table(standings, league.config.name, width, faulted=faulted)
    return tables.stacked(table, _confinement(league)) if league.store.count() else table


def _bracket_json(league: League) -> Any:
    from warpleague.report.wording.bracket import bracket_json

    return bracket_json(league)


def _bracket_text(league: League, _: int) -> RenderableType:
    from warpleague.report.wording.bracket import bracket_text

    return Group(Text(bracket_text(league)), *tables.faulted_lines(_bot_faults(league)))


VIEWS: dict[str, LeagueView] = {
    "status": LeagueView(lambda league: status(league).to_json(), _status_table),
    "standings": LeagueView(standings_json, _standings_table),
    "crosstable": LeagueView(
        lambda league: _standings(league).crosstable_json(),
        lambda league, width: tables.crosstable(_standings(league), width),
    ),
    "bracket": LeagueView(_bracket_json, _bracket_text),
    "seats": LeagueView(
        lambda league: [line_json(SEATS, line) for line in _seats(league)],
        lambda league, _: tables.seats_table(_seats(league)),
    ),
    "faults": LeagueView(
        lambda league: [line_json(FAULT_LINES, line) for line in _faults(league)],
        lambda league, _: tables.faults_table(by_kind(_faults(league))),
    ),
    "times": LeagueView(
        lambda league: [line_json(TIMES, line) for line in _times(league)],
        lambda league, _: tables.times_table(_times(league)),
    ),
    "services": LeagueView(
        lambda league: [line_json(SERVICES, line) for line in _services(league)],
        lambda league, _: tables.services_table(_services(league)),
    ),
}


def all_tables(league: League, width: int) -> RenderableType:
    """Every table, as the end of a run prints them."""
    columns = league.columns("matches")
    read = read_tables(league, columns)
    faulted = _bot_faults(league, columns)
    parts = [tables.standings_table(read.standings, league.config.name, width, faulted=faulted)]
    if league.season.format.kind in ("knockout", "double-elimination"):
        from warpleague.report.wording.bracket import bracket_text

        parts.append(Text(bracket_text(league)))
    if not read.standings.solo:
        parts += [tables.crosstable(read.standings, width), tables.seats_table(read.seats)]
    parts += [tables.times_table(read.times), _confinement(league), tables.faults_table(read.faults)]
    if services := _services(league):
        parts.append(tables.services_table(services))
    return tables.stacked(*parts)
