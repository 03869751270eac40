"""The columns of a league's tables by seat, kind of fault, time and service, each declared once.

To add a column, add a `Column` to its table. The columns of the standings are in `standings_columns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from warpleague.league.ratings.statistics import rounded
from warpleague.report.wording.columns import Column, TableView, never
from warpleague.report.wording.league_words import percent
from warpleague.report.wording.match_words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.league.results.details import SeatLine, TimeLine
    from warpleague.league.results.services import ServiceLine
    from warpleague.league.results.tallies import WinLossRecord
    from warpleague.report.wording.league_words import FaultTally

_SeatColumn: TypeAlias = "Column[SeatLine, TableView[SeatLine]]"
_FaultColumn: TypeAlias = "Column[FaultTally, TableView[FaultTally]]"
_TimeColumn: TypeAlias = "Column[TimeLine, TableView[TimeLine]]"
_ServiceColumn: TypeAlias = "Column[ServiceLine, TableView[ServiceLine]]"

_MAX_MESSAGE: Final = 200  # characters of a fault's message


def _on_page(view: TableView[Any]) -> bool:
    return view.page


def _count(name: str, of: Callable[[WinLossRecord], int]) -> _SeatColumn:
    return Column(name, name, lambda line: f"{of(line.record):,}", lambda line: {name: of(line.record)})


def _several_seats(view: TableView[SeatLine]) -> bool:
    """Of one seat the share says nothing."""
    return len(view.lines) > 1


def _half(line: SeatLine) -> str:
    half = line.share.half
    return "" if half is None or not line.record.played else f"{100 * half:.1f}"


SEATS: Final[tuple[_SeatColumn, ...]] = (
    Column("seat", "seat", lambda line: str(line.seat), lambda line: {"seat": line.seat}),
    _count("played", lambda record: record.played),
    _count("won", lambda record: record.won),
    _count("drawn", lambda record: record.drawn),
    _count("lost", lambda record: record.lost),
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
    Column(
        "faults",
        "faults",
        lambda line: f"{line.record.faults:,}",
        lambda line: {"faults": line.record.faults},
        kind="faults",
    ),
    Column("even", "even", json=lambda line: {"even": line.even}, shown=never),
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
    Column(
        "first",
        "first in match",
        _first,
        shown=_some_match,
        kind="text",
        wraps=True,
        drawn=True,
    ),
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
"""The faults by bot and kind. `--json` has no line of this table: it lists each fault (`FaultLine.to_json`)."""


def _time(name: str, heading: str, of: Callable[[TimeLine], float], **more: Any) -> _TimeColumn:
    """The mean of a total, in milliseconds for each decision."""

    def text(line: TimeLine) -> str:
        mean = line.mean(of(line))
        return "-" if mean is None else f"{mean:.3f}"

    return Column(name, heading, text, lambda line: {name: rounded(line.mean(of(line)), 4)}, **more)


TIMES: Final[tuple[_TimeColumn, ...]] = (
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    Column("matches", "matches", json=lambda line: {"matches": line.matches}, shown=never),
    Column(
        "decisions",
        "decisions",
        lambda line: f"{line.decisions:,}",
        lambda line: {"decisions": line.decisions},
    ),
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


def _amount(name: str, heading: str, of: Callable[[ServiceLine], int], help_: str = "") -> _ServiceColumn:
    return Column(
        name,
        heading,
        lambda line: f"{of(line):,}",
        lambda line: {name: of(line)},
        help=help_,
        joins=name != "failures",
    )


SERVICES: Final[tuple[_ServiceColumn, ...]] = (
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    Column("matches", "matches", json=lambda line: {"matches": line.matches}, shown=never),
    _amount(
        "failures",
        "failures",
        lambda line: line.failures,
        "failures: of the bot's service, in all matches;",
    ),
    _amount("most_failures", "most", lambda line: line.most_failures, "most: in one match;"),
    _amount("void", "void", lambda line: line.void, "void: matches void for that."),
    _amount("input_tokens", "tokens in", lambda line: line.input_tokens),
    _amount("output_tokens", "tokens out", lambda line: line.output_tokens),
    Column(
        "cost",
        "cost",
        lambda line: f"{line.cost:,.4f}",
        lambda line: {"cost": round(line.cost, 6)},
    ),
)
"""The work and the cost of the services that the bots use."""
