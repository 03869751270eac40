"""What the page of a league says: the figures of its tables and charts, and its matches.

Leaves computing to `warpleague.league.standings`, drawing to `charts`, and wording of pages to the templates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

import attrs
from markupsafe import Markup

from warpleague.games import load_game
from warpleague.league import standings as computed
from warpleague.league.means import Z95, share_interval
from warpleague.league.ratings import SequentialElo
from warpleague.report.match import BUSY_SHARE
from warpleague.report.site import charts
from warpleague.report.site.listing import Listed, listed
from warpleague.report.site.words import Facts, conditions, one_line
from warpleague.report.views import status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.league.league import League
    from warpleague.league.means import Mean
    from warpleague.league.played import Played
    from warpleague.league.schedule import Fixture
    from warpleague.league.standings import FaultLine, Standing, Standings

_POINTS: Final = 160  # of a line of Elo
_GRID_BOTS: Final = 60  # more bots than this make no readable grid
_FIRST: Final = 6  # matches linked for each kind of fault


@attrs.frozen
class Gathered:
    """The values of the page, and all matches played, in schedule order."""

    values: dict[str, Any]
    matches: tuple[Listed, ...]


def gather(league: League) -> Gathered:
    """Read the league and compute all that its page shows but the replays."""
    table = computed.standings(league)
    elo = _Elo(league, table)
    matches = []
    busy = 0
    for fixture, played in league.results():
        match = listed(fixture, played)
        busy += match.busy
        matches.append(match)
        elo.add(fixture, played)
    told = status(league)
    game = load_game(league.season.game)
    values = {
        "status": told,
        "title": game.title,
        "share": 100 * told["stored"] / max(told["matches"], 1),
        "facts": _facts(league, told),
        "table": table,
        "standings": [_standing(line) for line in table.lines],
        "remarks": _remarks(table),
        "ratings_chart": _ratings_chart(table),
        "elo_chart": elo.chart(table),
        "cross": None if table.solo or len(table.names) > _GRID_BOTS else _cross(table),
        "seats": _seats(league),
        "times": _times(league),
        "busy": busy,
        "faults": _faults(computed.faults(league)),
        "fault_kinds": sorted({kind for match in matches for _, kind in match.faults}),
    }
    return Gathered(values, tuple(matches))


# The head


def _facts(league: League, told: dict[str, Any]) -> Facts:
    season = league.season
    how = conditions(season.conditions, season.conditions["clock"])
    secret = "until the last match is played"
    if told["secret"]:
        secret = f"{told['secret']}, public since {told['published']}"
    facts = [
        ("game", how["game"]),
        ("options", how["options"]),
        ("format", told["format"]),
        ("clock", how["clock"]),
        ("faults", how["faults"]),
        ("confined", f"level {how['level']}"),
        ("since", f"{told['created']}, warpleague {told['harness']}"),
        ("commitment", told["commitment"]),
        ("secret", secret),
    ]
    if told["other"]:
        facts.insert(3, ("besides", f"{told['other']:,} matches of earlier bots or formats, not counted"))
    return [(name, one_line(value)) for name, value in facts]


# Standings


def _standing(line: Standing) -> dict[str, Any]:
    record = line.record
    return {
        "rank": line.rank,
        "bot": line.bot,
        "elo": None if line.elo is None else f"{line.elo:.0f}",
        "fit": _fit(line),
        "error": "" if line.error is None or line.above or line.below else f"{line.error:.0f}",
        "likelihood": "" if line.likelihood is None else f"{100 * line.likelihood:.0f} %",
        "record": record,
        "share": f"{100 * record.points / record.played:.1f} %" if record.played else "-",
        "wins": f"{100 * record.won / record.played:.1f} %" if record.played else "-",
        "interval": _interval(record.won, record.played),
        "score": _mean(record.scores),
        "margin": _mean(record.margins, signed=True),
        "ahead": ("", "") if line.ahead is None else _mean(line.ahead, signed=True),
    }


def _fit(line: Standing) -> str:
    if line.above is not None:
        return f"> {line.above:.0f}"
    if line.below is not None:
        return f"< {line.below:.0f}"
    return "-" if line.fit is None else f"{line.fit:.0f}"


def _interval(won: int, played: int) -> str:
    if not played:
        return ""
    low, high = share_interval(won, played)
    return f"{100 * low:.0f} to {100 * high:.0f}"


def _mean(mean: Mean, *, signed: bool = False) -> tuple[str, str]:
    if not mean.count:
        return "-", ""
    error = "" if mean.error is None else f"{mean.error * Z95:.2f}"
    return f"{mean.mean:{'+' if signed else ''}.2f}", error


def _remarks(table: Standings) -> list[str]:
    if table.solo:
        remarks = []
        if table.rival:
            remarks.append(
                "Wins are against the game's own opponent; the margin is the mean score less the opponent's."
            )
        what = "margin" if table.rival else "score"
        return [*remarks, f"Ahead: mean difference in {what} to the next bot, on the deals that both played."]
    remarks = [
        "Elo goes match by match, the fit takes all results at once. LOS: likelihood to be stronger than the next."
    ]
    tiers = {line.tier for line in table.lines if line.error is not None}
    if len(tiers) > 1:
        remarks.append(
            f"Of {len(tiers)} groups of bots one won all against another: their distance is where that is an even bet."
        )
    islands = {line.island for line in table.lines if line.island is not None}
    if len(islands) > 1:
        remarks.append(f"{len(islands)} groups of bots never met each other: do not compare their fits.")
    return remarks


def _ratings_chart(table: Standings) -> Markup:
    rows = []
    for line in table.lines:
        record = line.record
        if table.rival and record.played:
            low, high = share_interval(record.won, record.played)
            share = record.won / record.played
            text = f"{100 * share:.1f} %"
            rows.append(charts.Row(line.bot, 100 * share, 100 * low, 100 * high, text=text))
        elif table.solo:
            rows.append(_score_row(line))
        elif line.above is not None or line.below is not None:
            rows.append(charts.Row(line.bot, line.fit, above=line.above, below=line.below, text=_bound(line)))
        elif line.fit is None or line.error is None:
            rows.append(charts.Row(line.bot, line.fit, text=_fit(line)))
        else:
            text = f"{line.fit:.0f} ± {line.error:.0f}"
            rows.append(
                charts.Row(line.bot, line.fit, line.fit - line.error, line.fit + line.error, text=text)
            )
    if table.rival:
        return charts.intervals(rows, "share of wins against the game, in percent")
    if table.solo:
        return charts.intervals(rows, "mean score")
    return charts.intervals(rows, "fitted rating, in Elo points")


def _bound(line: Standing) -> str:
    return f"{_fit(line)}, {'won' if line.above is not None else 'lost'} all"


def _score_row(line: Standing) -> charts.Row:
    scores = line.record.scores
    if not scores.count:
        return charts.Row(line.bot, None, text="-")
    if scores.error is None:
        return charts.Row(line.bot, scores.mean, text=f"{scores.mean:.2f}")
    half = Z95 * scores.error
    text = f"{scores.mean:.2f} ± {half:.2f}"
    return charts.Row(line.bot, scores.mean, scores.mean - half, scores.mean + half, text=text)


class _Elo:
    """Elo over the matches, at some points of the season."""

    def __init__(self, league: League, table: Standings) -> None:
        rating = league.config.rating
        self._elo = SequentialElo(len(table.names), rating.k, rating.start)
        self._every = max(1, -(-table.matches // _POINTS))
        self._count = 0
        self._xs = [0]
        self._ratings = [list(self._elo.ratings)]

    def add(self, fixture: Fixture, played: Played) -> None:
        """Count a match."""
        self._elo.add(fixture.seats, played.ranks)
        self._count += 1
        if self._count % self._every == 0:
            self._note()

    def _note(self) -> None:
        self._xs.append(self._count)
        self._ratings.append(list(self._elo.ratings))

    def chart(self, table: Standings) -> Markup:
        """The chart; empty for a solo league."""
        if table.solo:
            return Markup()
        if self._xs[-1] != self._count:
            self._note()
        lines = [(table.names[bot], [ratings[bot] for ratings in self._ratings]) for bot in table.order]
        return charts.history(lines, self._xs)


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
                f"{table.names[bot]} against {table.names[other]}: {points:g} points in {meetings:,} meetings"
            )
            if likelihood is not None:
                text += f", stronger with a likelihood of {100 * likelihood:.0f} %"
            share = points / meetings
            cells.append({"share": f"{100 * share:.0f}", "shade": round(20 * share), "text": text})
        rows.append({"bot": table.names[bot], "cells": cells})
    return rows


def _seats(league: League) -> list[dict[str, Any]]:
    rows = []
    for line in computed.seats(league):
        half = None if line.share.error is None else Z95 * line.share.error
        shown = line.record.played and league.season.players > 1
        rows.append(
            {
                "seat": line.seat,
                "record": line.record,
                "share": f"{100 * line.share.mean:.1f} %" if shown else "-",
                "error": f"{100 * half:.1f}" if shown and half is not None else "",
                "chart": charts.small_interval(line.share.mean, half) if shown else "",
                "score": f"{line.record.scores.mean:.2f}" if line.record.played else "-",
            }
        )
    return rows


def _times(league: League) -> list[dict[str, Any]]:
    """Slowest first; `busy` is whether the bot waited for a processor for much of its time."""
    lines = sorted(computed.times(league), key=lambda line: -(line.mean(line.wall_ms) or 0.0))
    most = max((line.mean(line.wall_ms) or 0.0 for line in lines), default=0.0)
    rows = []
    for line in lines:
        means = [line.mean(total) for total in (line.wall_ms, line.cpu_ms, line.wait_ms)]
        wall, cpu, wait = ("-" if mean is None else f"{mean:.3f}" for mean in means)
        rows.append(
            {
                "bot": line.bot,
                "decisions": line.decisions,
                "wall": wall,
                "cpu": cpu,
                "wait": wait,
                "busy": line.wait_ms > BUSY_SHARE * line.wall_ms,
                "chart": charts.small_bar(means[0] or 0.0, most),
                "longest": f"{line.longest_ms:.1f}",
                "match": line.longest_match,
            }
        )
    return rows


def _faults(lines: Iterable[FaultLine]) -> list[dict[str, Any]]:
    """Faults by bot and kind, the most frequent first, each with the first matches to look at."""
    counts: Counter[tuple[str, str]] = Counter()
    retired: Counter[tuple[str, str]] = Counter()
    first: defaultdict[tuple[str, str], list[FaultLine]] = defaultdict(list)
    for line in lines:
        key = (line.bot, str(line.fault.kind))
        counts[key] += 1
        retired[key] += line.fault.retired
        if len(first[key]) < _FIRST:
            first[key].append(line)
    return [
        {
            "bot": bot,
            "kind": kind,
            "count": count,
            "retired": retired[bot, kind],
            "first": [
                {"match": line.match, "number": line.number, "n": line.fault.n} for line in first[bot, kind]
            ],
            "what": one_line((first[bot, kind][0].fault.message.splitlines() or [""])[0][:200]),
        }
        for (bot, kind), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
