"""The content of a league's page: the figures of its tables and charts, and its matches.

`warpleague.league.results.standings` computes them, and the templates lay them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic

import attrs
from markupsafe import Markup

from warpleague.counts import counted
from warpleague.games import load_game
from warpleague.league.ratings.statistics import share_interval
from warpleague.league.results.details import busy, faults
from warpleague.league.results.faulted import bot_faults
from warpleague.league.results.standings import standings
from warpleague.league.results.status import status
from warpleague.league.schedule.formats.ladder import CHOOSES
from warpleague.report.site import charts
from warpleague.report.site.front import CARDS, cards, picks, picture, sentence
from warpleague.report.site.listing import Listing
from warpleague.report.wording.bracket import bracket_parts, has_bracket
from warpleague.report.wording.columns import LineT, TableView, help_lines, shown_columns
from warpleague.report.wording.league_columns import FAULTS, SEATS, TIMES
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    besides_lines,
    changes_line,
    confinement_lines,
    dice_line,
    disqualified_lines,
    fault_lines,
    fit_words,
    mean_words,
    percent,
    read_tables,
    seats_remark,
    slowest_first,
)
from warpleague.report.wording.match_words import BUSY_SHARE, Rows, conditions, one_line
from warpleague.report.wording.standings_columns import COLUMNS, Layout
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.league.results.details import SeatLine, TimeLine
    from warpleague.league.results.league import League
    from warpleague.league.results.standings import Standing, Standings
    from warpleague.league.results.status import Status
    from warpleague.report.wording.columns import Column

_POINTS: Final = 160  # of a line of Elo
_GRID_BOTS: Final = 60  # more bots than this make no readable grid
_FIRST: Final = 6  # matches linked for each kind of fault


@attrs.frozen
class IndexContent:
    """The values of the page, all matches played, in schedule order, and the board it begins with."""

    values: dict[str, Any]
    listing: Listing
    picture: dict[str, Any] | None


@attrs.frozen
class _PageTable(Generic[LineT]):
    """The columns of a table that a page has, its lines, and the help below it."""

    columns: Sequence[Column[LineT, TableView[LineT]]]
    lines: Sequence[LineT]
    help: Sequence[str]


def _page_table(
    columns: Sequence[Column[LineT, TableView[LineT]]], lines: Sequence[LineT]
) -> _PageTable[LineT]:
    view = TableView(lines, page=True)
    return _PageTable(shown_columns(columns, view), lines, help_lines(columns, view))


def index_content(league: League, *, only_totals: bool = False) -> IndexContent:
    """Read the league and compute all that its page shows but the replays.

    With `only_totals` nothing of a single match is among it: neither its result, nor what a bot said or how long it
    took there.
    """
    now, season = status(league), league.season
    columns = league.columns(*(("matches",) if league.season.players == 1 else ()))
    marks = course_marks(len(columns))
    table = standings(league, columns, marks)  # before more is read: of a large league, both take much memory
    del columns  # before they are read once more, with their ids
    columns = league.columns("matches")
    listing = Listing(columns, tuple(faults(league, columns)), busy(league, BUSY_SHARE))
    read = read_tables(league, columns, _FIRST, table)
    game = load_game(season.game)
    matches, layout = picks(columns, table), Layout(table)
    values = {
        "sentence": sentence(league, game, now, table),
        "picks": matches,
        "cards": cards(league, table, columns),
        "card_limit": CARDS,
        "status": now,
        "title": game.title,
        "facts": _condition_rows(league, now),
        "test": _test(league),
        "table": table,
        "columns": shown_columns(COLUMNS, layout),
        "disqualified": disqualified_lines(table),
        "faulted": fault_lines(bot_faults(league, columns), MAX_FAULTED),
        "changed": changes_line(league),
        "bracket": bracket_parts(league) if has_bracket(league) else [],
        "bracket_title": "Rounds" if season.format.kind == "swiss" else "Bracket",
        "remarks": help_lines(COLUMNS, layout),
        "ratings_chart": _ratings_chart(table),
        "elo_chart": _course(table, marks, league.config.rating.start),
        "cross": None if table.solo or len(table.names) > _GRID_BOTS else _cross(table),
        "seats": _page_table(SEATS, read.seats),
        "shares_chart": _shares_chart,
        "seats_remark": seats_remark(read.seats),
        "times": _page_table(TIMES, slowest_first(read.times)),
        "time_chart": _time_chart(read.times),
        "is_busy": _is_busy,
        "busy": int(listing.busy.sum()),
        "faults": _page_table(FAULTS, read.faults),
        "fault_kinds": listing.kinds,
    }
    if only_totals:
        return IndexContent(
            values | _only_totals(values), Listing(columns.only(slice(0)), (), listing.busy[:0]), None
        )
    return IndexContent(values, listing, picture(league, game, matches[0]) if matches else None)


def _only_totals(values: dict[str, Any]) -> dict[str, Any]:
    """The values of the page that tell of single matches, without what they tell of these."""
    return {
        "picks": [],
        "cards": [{**card, "form": []} for card in values["cards"]],
        "faulted": [],
        "times": _page_table(TIMES, []),
        "busy": 0,
        "faults": _page_table(FAULTS, [attrs.evolve(kind, first=[]) for kind in values["faults"].lines]),
        "fault_kinds": [],
    }


# The head


def _condition_rows(league: League, now: Status) -> Rows:
    season = league.season
    how = conditions(season.conditions, season.conditions["clock"])
    secret = "until the last match is played"
    if now.secret:
        secret = f"{now.secret}, public since {now.published}"
    rows = [
        ("game", how["game"]),
        ("options", how["options"]),
        ("format", now.format),
        ("clock", how["clock"]),
        ("faults", how["faults"]),
        (
            "confined",
            "\n".join(confinement_lines(now.level, now.confined)) or f"level {how['level']}",
        ),
        *([("dice", line)] if (line := dice_line(season)) else []),
        ("store", f"since {now.created}, warpleague {now.harness}"),
        ("commitment", f"{now.commitment}, since {now.committed}"),
        *(("entrants", f"{entry.commitment}, since {entry.since}") for entry in now.entered),
        *([("beacon", now.beacon or f"not known yet: {now.awaits}")] if now.awaits else []),
        ("secret", secret),
        ("receipt", now.head),
    ]
    if now.taken_out:
        rows.insert(3, ("taken out", f"{counted(now.taken_out, 'match')} of disqualified bots, not counted"))
    if now.other:
        rows.insert(3, ("besides", "\n".join(besides_lines(now))))
    if season.format.kind == "ladder":
        rows.insert(3, ("opponents", CHOOSES))
    return [(name, safe(value)) for name, value in rows]


def _test(league: League) -> dict[str, Any] | None:
    """The verdict of a test of strength, and its way there; None for other formats."""
    if league.season.format.kind != "test":
        return None
    from warpleague.league.results.strength import strength_test
    from warpleague.report.wording.strength_words import (
        decided,
        estimate_words,
        luck_lines,
        numbers_line,
        one_way_lines,
        verdict,
    )

    state = strength_test(league)
    below, above = state.test.bounds
    path = [*state.path[:-1], (state.counts.deals, state.ratio)] if state.path else []
    names = [one_line(name) for name in league.season.names[:2]]
    return {
        "verdict": verdict(state, *names),
        "decision": decided(state),
        "estimate": estimate_words(state.estimate()),
        "lines": [*one_way_lines(state, *names), numbers_line(state), *luck_lines(state)],
        "chart": "" if state.fixed else charts.ratio(path, below, above),
    }


# Standings


def _ratings_chart(table: Standings) -> Markup:
    """The ranked figure, with its 95 % interval: the fit, the score, or in a solo league the share of wins."""
    if table.rival:
        return charts.intervals(
            [_wins_row(line) for line in table.lines], "share of wins against the game, in percent"
        )
    if table.solo or table.by_score:
        return charts.intervals([_score_row(line) for line in table.lines], "mean score")
    return charts.intervals([_fit_row(line) for line in table.lines], "fitted rating, in Elo points")


def _fit_row(line: Standing) -> charts.Row:
    fit, error = fit_words(line)
    if line.guessed:
        return charts.Row(
            line.bot, line.fit, above=line.above, below=line.below, text=f"{fit} {error}".strip()
        )
    if line.fit is None or line.error is None:
        return charts.Row(line.bot, line.fit, text=fit)
    return charts.Row(
        line.bot, line.fit, line.fit - line.error, line.fit + line.error, text=f"{fit} ± {error}"
    )


def _wins_row(line: Standing) -> charts.Row:
    record = line.record
    if not record.played:
        return charts.Row(line.bot, None, text="-")
    share = record.won / record.played
    low, high = share_interval(record.won, record.played)
    return charts.Row(line.bot, 100 * share, 100 * low, 100 * high, text=percent(share))


def _score_row(line: Standing) -> charts.Row:
    scores = line.record.scores
    mean, error = mean_words(scores)
    if scores.half is None:
        return charts.Row(line.bot, scores.mean if scores.count else None, text=mean)
    low, high = scores.mean - scores.half, scores.mean + scores.half
    return charts.Row(line.bot, scores.mean, low, high, text=f"{mean} ± {error}")


def course_marks(matches: int) -> list[int]:
    """After which matches the chart of Elo has a point; the last match is among them."""
    every = max(1, -(-matches // _POINTS))
    return [*range(every, matches, every), *([matches] if matches else [])]


def _course(table: Standings, marks: Sequence[int], start: float) -> Markup:
    """Elo over the matches; empty for a solo league."""
    if table.solo:
        return Markup()
    points = [[start] * len(table.names), *table.course]
    shown = [bot for bot in table.order if table.records[bot].played or not table.matches]
    lines = [(table.names[bot], [ratings[bot] for ratings in points]) for bot in shown]
    return charts.history(lines, [0, *marks])


# The other tables


def _cross(table: Standings) -> list[dict[str, Any]]:
    """Rows of cells: share of points in percent, the shade from 0 to 20, and the words."""
    rows = []
    for bot in table.order:
        cells: list[dict[str, Any] | None] = []
        for other in table.order:
            meetings = table.totals.games[bot][other]
            if bot == other or not meetings:
                cells.append(None)
                continue
            points = table.totals.points[bot][other]
            likelihood = table.fit.superiority(bot, other) if table.fit else None
            text = (
                f"{table.names[bot]} against {table.names[other]}: "
                f"{points:g} {'point' if points == 1 else 'points'} in {counted(meetings, 'meeting')}"
            )
            if likelihood is not None:
                text += f", stronger with a likelihood of {100 * likelihood:.0f} %"
            share = points / meetings
            cells.append(
                {
                    "share": f"{100 * share:.0f}",
                    "shade": round(20 * share),
                    "text": text,
                    "other": table.names[other],
                }
            )
        rows.append({"bot": table.names[bot], "cells": cells})
    return rows


def _shares_chart(line: SeatLine) -> Markup:
    return charts.small_interval(line.share.mean, line.share.half) if line.record.played else Markup()


def _is_busy(line: TimeLine) -> bool:
    """Whether the bot waited for a processor for much of its time."""
    return line.wait_ms > BUSY_SHARE * line.wall_ms


def _time_chart(lines: Sequence[TimeLine]) -> Callable[[TimeLine], Markup]:
    most = max((line.mean(line.wall_ms) or 0.0 for line in lines), default=0.0)
    return lambda line: charts.small_bar(line.mean(line.wall_ms) or 0.0, most)
