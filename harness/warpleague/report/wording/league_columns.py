"""The columns of a league's tables by seat, kind of fault, time and service, each declared once.

To add a column, add a `Column` to its table. The columns of the standings are in `standings_columns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from warpleague.league.ratings.statistics import rounded
from warpleague.report.wording.columns import Column, TableView, count_column, key_column, never
from warpleague.report.wording.league_words import percent
from warpleague.report.wording.match_words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.league.results.details import FaultLine, SeatLine, TimeLine
    from warpleague.league.results.services import ServiceLine
    from warpleague.report.wording.league_words import FaultTally

_SeatColumn: TypeAlias = "Column[SeatLine, TableView[SeatLine]]"
_FaultColumn: TypeAlias = "Column[FaultTally, TableView[FaultTally]]"
_FaultLineColumn: TypeAlias = "Column[FaultLine, TableView[FaultLine]]"
_TimeColumn: TypeAlias = "Column[TimeLine, TableView[TimeLine]]"
_ServiceColumn: TypeAlias = "Column[ServiceLine, TableView[ServiceLine]]"

_MAX_MESSAGE: Final = 200  # characters of a fault's message


def _on_page(view: TableView[Any]) -> bool:
    return view.page


def _several_seats(view: TableView[SeatLine]) -> bool:
    """Of one seat the share says nothing."""
    return len(view.lines) > 1


def _half(line: SeatLine) -> str:
    half = line.share.half
    return "" if half is None or not line.record.played else f"{100 * half:.1f}"


SEATS: Final[tuple[_SeatColumn, ...]] = (
    count_column("seat", lambda line: line.seat),
    count_column("played", lambda line: line.record.played),
    count_column("won", lambda line: line.record.won),
    count_column("drawn", lambda line: line.record.drawn),
    count_column("lost", lambda line: line.record.lost),
    Column(
        "share",
        "share",
        lambda line: percent(line.share.mean) if line.record.played else "-",
        lambda line: {"share": rounded(line.share.mean if line.share.count else None, 6)},
        _several_seats,
    ),
    Column(
        "share_error",
        "± 95 %",
        _half,
        lambda line: {"share_error": rounded(line.share.error, 6)},
        _several_seats,
        soft=True,
    ),
    Column("chart", "", shown=lambda view: view.page and _several_seats(view), drawn=True),
    Column(
        "score",
        "mean score",
        lambda line: f"{line.record.scores.mean:.2f}" if line.record.played else "-",
        lambda line: {"score": rounded(line.record.scores.mean if line.record.played else None, 6)},
    ),
    count_column("faults", lambda line: line.record.faults, kind="faults"),
    key_column("even", lambda line: line.even),
)
"""The results by seat."""


def _first(tally: FaultTally) -> str:
    line = tally.first[0]
    return f"{line.number} ({line.match[:10]}), line {line.fault.n}"


def _some_match(view: TableView[FaultTally]) -> bool:
    """Where others play the same deals, single matches are not shown."""
    return any(tally.first for tally in view.lines)


FAULTS: Final[tuple[_FaultColumn, ...]] = (
    Column("bot", "bot", lambda tally: tally.bot, kind="bot"),
    Column("kind", "kind", lambda tally: tally.kind, kind="text", drawn=True),
    Column("faults", "faults", lambda tally: f"{tally.count:,}"),
    Column("forfeits", "forfeits", lambda tally: f"{tally.retired:,}"),
    Column("first", "first in match", _first, shown=_some_match, kind="text", wraps=True, drawn=True),
    Column(
        "what",
        "what",
        lambda tally: one_line(tally.what(_MAX_MESSAGE)),
        shown=_some_match,
        kind="text",
        wraps=True,
        drawn=True,
    ),
)
"""The faults by bot and kind; `--json` lists each fault instead (`FAULT_LINES`)."""

FAULT_LINES: Final[tuple[_FaultLineColumn, ...]] = (
    key_column("bot", lambda line: line.bot),
    key_column("number", lambda line: line.number),
    key_column("match", lambda line: line.match),
    key_column("seat", lambda line: line.seat),
    key_column("kind", lambda line: line.fault.kind),
    key_column("n", lambda line: line.fault.n),
    key_column("retired", lambda line: line.fault.retired),
    key_column("message", lambda line: line.fault.message),
)
"""Each fault, for `--json`: whose, in which match (its number and id) and seat, and which line of the record (`n`)."""


def _time(name: str, heading: str, of: Callable[[TimeLine], float], **more: Any) -> _TimeColumn:
    """The mean of a total, in milliseconds for each decision."""

    def text(line: TimeLine) -> str:
        mean = line.mean(of(line))
        return "-" if mean is None else f"{mean:.3f}"

    return Column(name, heading, text, lambda line: {name: rounded(line.mean(of(line)), 4)}, **more)


TIMES: Final[tuple[_TimeColumn, ...]] = (
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    count_column("matches", lambda line: line.matches, shown=never),
    count_column("decisions", lambda line: line.decisions),
    _time("wall_ms", "mean", lambda line: line.wall_ms),
    Column("chart", "", shown=_on_page, drawn=True),
    _time("cpu_ms", "processor", lambda line: line.cpu_ms),
    _time(
        "wait_ms",
        "wait",
        lambda line: line.wait_ms,
        help="wait: ready to run, but without a processor.",
        drawn=True,
    ),
    Column(
        "longest_ms",
        "longest",
        lambda line: f"{line.longest_ms:.1f}" if line.decisions else "-",
        lambda line: {"longest_ms": rounded(line.longest_ms, 3)},
    ),
    Column(
        "longest_match",
        "in match",
        lambda line: line.longest_match[:10],
        lambda line: {"longest_match": line.longest_match},
        kind="text",
        drawn=True,
    ),
)
"""The time that the bots used for a decision, in milliseconds."""


SERVICES: Final[tuple[_ServiceColumn, ...]] = (
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    count_column("matches", lambda line: line.matches, shown=never),
    count_column(
        "failures",
        lambda line: line.failures,
        help="failures: of the bot's service, in all matches; most: in one match; void: matches void for that.",
    ),
    count_column("most_failures", lambda line: line.most_failures, "most"),
    count_column("void", lambda line: line.void),
    count_column("input_tokens", lambda line: line.input_tokens, "tokens in"),
    count_column("output_tokens", lambda line: line.output_tokens, "tokens out"),
    Column("cost", "cost", lambda line: f"{line.cost:,.4f}", lambda line: {"cost": round(line.cost, 6)}),
)
"""The work and the cost of the services that the bots use."""
