"""The columns of all tables of a league, each declared once for the terminal, the page and `--json`."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

import attrs

from warpleague.league.ratings.statistics import rounded, wilson_interval
from warpleague.league.results.details import FaultLine, SeatLine, TimeLine, faults, seats, times
from warpleague.league.results.machines import ERROR, MachineLine
from warpleague.league.results.standings import Standing, Standings
from warpleague.league.results.standings import standings as standings_of
from warpleague.report.wording.league_words import (
    FaultTallies,
    FaultTally,
    fit_notes,
    fit_words,
    interval_words,
    mean_words,
    percent,
    placing_words,
    rank_set_notes,
    rank_set_words,
    rank_words,
    share_span,
)
from warpleague.report.wording.match_words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from warpleague.league.results.faulted import ServiceLine
    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Columns


class View(Protocol):
    """Where a table is shown: on a `page`, or in a terminal."""

    @property
    def page(self) -> bool:
        """Whether it is a page."""


LineT = TypeVar("LineT")
ViewT = TypeVar("ViewT", bound=View)


@attrs.frozen
class TableView(Generic[LineT]):
    """The `lines` of a table, shown on a `page` or in a terminal."""

    lines: Sequence[LineT]
    page: bool = False


def always(_: Any) -> bool:
    """For columns that are shown everywhere."""
    return True


def never(_: Any) -> bool:
    """For columns that only `--json` has."""
    return False


def no_text(_: Any) -> str:
    """For columns that have no text of their own."""
    return ""


def no_json(_: Any) -> dict[str, Any]:
    """For columns that `--json` does not have, or has with another column."""
    return {}


@attrs.frozen
class Column(Generic[LineT, ViewT]):
    """One column of a table.

    `text` writes the value of a line, and `json` gives its keys for `--json`. `shown` says in which views the column
    stands, and `explained` in which its `help` stands below the table: where it is shown, unless given. A help that
    `joins` continues the line of the help before it. `kind` decides the alignment. Text that `wraps` may take several
    lines in a terminal. `soft` columns are grey on pages. The cells of a `drawn` column are made by the page itself:
    charts, links or marks. On a page the column stands behind that with the name `page_after`, if given.
    """

    name: str
    heading: str
    text: Callable[[LineT], str] = no_text
    json: Callable[[LineT], Mapping[str, Any]] = no_json
    shown: Callable[[ViewT], bool] = always
    help: str | Callable[[ViewT], list[str]] = ""
    explained: Callable[[ViewT], bool] | None = None
    joins: bool = False
    kind: Literal["bot", "text", "number", "faults"] = "number"
    wraps: bool = False
    soft: bool = False
    drawn: bool = False
    page_after: str = ""


def count_column(
    name: str, count: Callable[[LineT], int], heading: str = "", **more: Any
) -> Column[LineT, ViewT]:
    """A column of whole numbers; its name is also the key for `--json`, and its heading, unless one is given."""
    return Column(
        name, heading or name, lambda line: f"{count(line):,}", lambda line: {name: count(line)}, **more
    )


def key_column(key: str, value: Callable[[LineT], Any]) -> Column[LineT, ViewT]:
    """A column that only `--json` has, under this key."""
    return Column(key, key, json=lambda line: {key: value(line)}, shown=never)


def shown_columns(columns: Iterable[Column[LineT, ViewT]], view: ViewT) -> list[Column[LineT, ViewT]]:
    """The columns that a view has, from left to right."""
    shown = [column for column in columns if column.shown(view)]
    if view.page:
        for column in [column for column in shown if column.page_after]:
            shown.remove(column)
            names = [other.name for other in shown]
            shown.insert(names.index(column.page_after) + 1, column)
    return shown


def help_lines(columns: Iterable[Column[LineT, ViewT]], view: ViewT) -> list[str]:
    """The meaning of the columns, as lines to stand below the table."""
    lines: list[str] = []
    for column in columns:
        if column.help and (column.explained or column.shown)(view):
            texts = [column.help] if isinstance(column.help, str) else column.help(view)
            if column.joins:
                lines[-1] = " ".join([lines[-1], *texts])
            else:
                lines += texts
    return lines


def line_json(columns: Iterable[Column[LineT, ViewT]], line: LineT) -> dict[str, Any]:
    """A line as a JSON object: the keys of all columns, whether they are shown or not."""
    return {key: value for column in columns for key, value in column.json(line).items()}


# -- standings columns -----------------------------------------------------------------------------------
# To add a column, add a `Column` to `COLUMNS`. `Layout` says where the standings are shown.

_TINY, _SMALL, _NARROW, _WIDE, _WIDEST = 48, 70, 80, 96, 116
"""The widths of a terminal, in characters, from which on more columns are shown."""


@attrs.frozen
class Layout:
    """Where `standings` are shown: in a terminal of `width` characters, or on a page (None), which has all columns."""

    standings: Standings
    width: int | None = None

    def has(self, characters: int) -> bool:
        """Whether the terminal has at least `characters` columns."""
        return self.width is None or self.width >= characters

    @property
    def page(self) -> bool:
        """Whether this is a page."""
        return self.width is None

    @property
    def wide(self) -> bool:
        """Whether there is room for figures that other tables show, too."""
        return self.has(_WIDE)

    @property
    def solo(self) -> bool:
        """Whether the matches have one seat."""
        return self.standings.solo

    @property
    def rival(self) -> bool:
        """Whether the matches have one seat, and an opponent of the game's own."""
        return self.solo and self.standings.rival

    @property
    def fitted(self) -> bool:
        """Whether fitted ratings are shown."""
        return self.standings.fit is not None

    @property
    def rated(self) -> bool:
        """Whether notes on the ratings are shown."""
        return not self.solo and (self.fitted or self.standings.by_score)

    @property
    def cup(self) -> bool:
        """Whether a bot ranks by how far it came."""
        return any(line.placing and line.placing.reached is not None for line in self.standings.lines)

    @property
    def swiss(self) -> bool:
        """Whether a bot ranks by the points of its rounds."""
        return any(line.placing and line.placing.reached is None for line in self.standings.lines)

    @property
    def compared(self) -> bool:
        """Whether bots of solo matches are compared with the next one; a page always has the columns for it."""
        return self.solo and (
            self.width is None or any(line.ahead and line.ahead.count for line in self.standings.lines)
        )


def _won_shown(layout: Layout) -> bool:
    return (not layout.solo or layout.rival) and layout.has(_TINY)


_ERROR: Final = "± 95 %"


def _margin_json(line: Standing) -> dict[str, Any]:
    margins = line.record.margins
    if not margins.count:
        return {}
    return {"margin": rounded(margins.mean, 6), "margin_half": rounded(margins.half, 6)}


def _wins_json(line: Standing) -> dict[str, Any]:
    record = line.record
    if not record.margins.count:
        return {}
    low, high = wilson_interval(record.won, record.played)
    return {
        "share": rounded(record.won / record.played, 6),
        "share_low": rounded(low, 6),
        "share_high": rounded(high, 6),
    }


def _score_json(line: Standing) -> dict[str, Any]:
    scores = line.record.scores
    return {
        "score": rounded(scores.mean if line.record.played else None, 6),
        "score_half": rounded(scores.half, 6),
    }


def _fit_json(line: Standing) -> dict[str, Any]:
    return {
        "rating": rounded(line.fit),
        "rating_above": rounded(line.above),
        "rating_below": rounded(line.below),
        "tier": line.tier,
        "island": line.island,
        "guessed": line.guessed,
        "provisional": line.provisional,
        **_without_faults_json(line),
    }


def _lead_json(line: Standing) -> dict[str, Any]:
    if line.lead is None or not line.lead.count:
        return {}
    return {"lead": rounded(line.lead.mean, 6), "lead_half": rounded(line.lead.half, 6)}


def _without_luck(line: Standing) -> tuple[str, str]:
    left = line.without_luck
    if left is None or not left.mean.count:
        return "-", ""
    return percent(left.mean.mean), "" if left.mean.half is None else f"{100 * left.mean.half:.1f}"


def _without_luck_json(line: Standing) -> dict[str, Any]:
    left = line.without_luck
    if left is None or not left.mean.count:
        return {}
    return {
        "without_luck": rounded(left.mean.mean, 6),
        "without_luck_half": rounded(left.mean.half, 6),
        "without_luck_gain": rounded(left.gain, 4),
    }


def _luck_shown(layout: Layout) -> bool:
    return any(line.without_luck for line in layout.standings.lines)


def _luck_help(layout: Layout) -> list[str]:
    gains = [left.gain for line in layout.standings.lines if (left := line.without_luck) and left.gain]
    as_many = f" Their errors are those of {fmean(gains):.1f} times as many matches." if gains else ""
    return [f"without luck: the share of points less the luck of the dice.{as_many}"]


def _ahead_json(line: Standing) -> dict[str, Any]:
    ahead = line.ahead
    if ahead is None or not ahead.count:
        return {}
    return {
        "ahead": rounded(ahead.mean, 6),
        "ahead_half": rounded(ahead.half, 6),
        "ahead_deals": ahead.count,
    }


def _reached_json(line: Standing) -> dict[str, Any]:
    placing = line.placing
    return {} if placing is None or placing.reached is None else {"reached": placing.reached}


def _points_json(line: Standing) -> dict[str, Any]:
    placing = line.placing
    if placing is None or placing.reached is not None:
        return {}
    return {"round_points": rounded(placing.points, 6), "buchholz": rounded(placing.buchholz, 6)}


def _points_and_share_json(line: Standing) -> dict[str, Any]:
    record = line.record
    if record.margins.count or not record.played:
        return {"points": rounded(record.points, 6)}
    return {"points": rounded(record.points, 6), "share": rounded(record.points / record.played, 6)}


def _rank_json(line: Standing) -> dict[str, Any]:
    return {"rank": line.rank, "disqualified": line.disqualified.to_json() if line.disqualified else None}


def _rank_set_json(line: Standing) -> dict[str, Any]:
    return {} if line.rank_set is None else {"rank_set": list(line.rank_set)}


def _without_faults_json(line: Standing) -> dict[str, Any]:
    rest = line.without_faults
    if rest is None:
        return {}
    values = {
        "matches_left_out": rest.matches,
        "rating": rounded(rest.fit),
        "rating_half": rounded(rest.error),
        "rating_above": rounded(rest.above),
        "rating_below": rounded(rest.below),
        "differs": rest.differs,
    }
    return {"rating_without_faults": values}


def _share(line: Standing, of: float) -> str:
    return percent(of / line.record.played) if line.record.played else "-"


def _mean(line: Standing, name: Literal["lead", "ahead"]) -> tuple[str, str]:
    mean = line.lead if name == "lead" else line.ahead
    return ("", "") if mean is None else mean_words(mean, signed=True)


def _score_shown(layout: Layout) -> bool:
    return layout.standings.by_score or (layout.solo and (not layout.rival or layout.wide))


def _elo_shown(layout: Layout) -> bool:
    ranked_otherwise = layout.cup or layout.swiss or layout.standings.by_score
    return not layout.solo and (not ranked_otherwise or layout.has(_WIDEST))


def _lead_shown(layout: Layout) -> bool:
    return (
        not layout.solo
        and layout.has(_WIDEST)
        and any(line.lead and line.lead.count for line in layout.standings.lines)
    )


# In this table a column takes as few lines as it needs.
# fmt: off

COLUMNS: Final[tuple[Column[Standing, Layout], ...]] = (
    Column("rank", "#", rank_words, _rank_json),
    Column("rank_set", "ranks", rank_set_words, _rank_set_json,
           lambda layout: layout.standings.rank_sets is not None and layout.has(_NARROW),
           lambda layout: rank_set_notes(layout.standings), soft=True),
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    Column("reached", "reached", lambda line: placing_words(line)[0], _reached_json,
           lambda layout: layout.cup,
           "Ranked by how far a bot came: the round in which it was out, or in which it still plays.",
           lambda layout: layout.cup and layout.rated, kind="text", wraps=True),
    Column("round_points", "points", lambda line: placing_words(line)[0], _points_json,
           lambda layout: layout.swiss,
           "Ranked by points of whole rounds: 1 for each match won at a table of two, the share of opponents beaten "
           "at larger ones. Equal points: by Buchholz, the points of all that a bot met; a bye counts as its own "
           "points.",
           lambda layout: layout.swiss and layout.rated, wraps=True),
    Column("buchholz", "Buchholz", lambda line: placing_words(line)[1], shown=lambda layout: layout.swiss,
           wraps=True),
    Column("wins", "wins", lambda line: _share(line, line.record.won), _wins_json,
           lambda layout: layout.rival, "wins: against the game's own opponent."),
    Column("wins_interval", "95 %", lambda line: share_span(line.record.won, line.record.played),
           shown=lambda layout: layout.rival and layout.wide, soft=True),
    Column("margin", "margin", lambda line: mean_words(line.record.margins, signed=True)[0], _margin_json,
           lambda layout: layout.rival, "margin: mean score less the opponent's.", joins=True),
    Column("margin_error", _ERROR, lambda line: mean_words(line.record.margins, signed=True)[1],
           shown=lambda layout: layout.rival, soft=True),
    Column("score", "score", lambda line: mean_words(line.record.scores)[0], _score_json, _score_shown,
           "score: the mean score of a match, with its error by deal. It ranks, since the game says so.",
           lambda layout: layout.standings.by_score),
    Column("score_error", _ERROR, lambda line: mean_words(line.record.scores)[1],
           shown=lambda layout: _score_shown(layout) and not layout.rival, soft=True),
    Column("fit", "fit", lambda line: fit_words(line)[0], _fit_json, lambda layout: layout.fitted,
           "fit: all results at once. Elo: match by match, the last matches count most.",
           lambda layout: layout.rated),
    Column("error", _ERROR, lambda line: fit_words(line)[1], lambda line: {"rating_half": rounded(line.error)},
           lambda layout: layout.fitted, soft=True),
    # Where scores rank, the next one in the table is not the next in strength.
    Column("likelihood", "LOS",
           lambda line: "" if line.likelihood is None else f"{100 * line.likelihood:.0f} %",
           lambda line: {"likelihood": rounded(line.likelihood, 4)},
           lambda layout: layout.fitted and layout.wide and not layout.standings.by_score,
           "LOS: likelihood to be stronger than the next.", joins=True, soft=True),
    Column("elo", "Elo", lambda line: "-" if line.elo is None else f"{line.elo:.0f}",
           lambda line: {"running_elo": rounded(line.elo)},
           lambda layout: _elo_shown(layout) and (layout.has(_SMALL) or not layout.fitted),
           lambda layout: fit_notes(layout.standings), lambda layout: layout.rated, soft=True,
           page_after="share"),
    Column("lead", "lead", lambda line: _mean(line, "lead")[0], _lead_json, _lead_shown,
           "lead: mean score above that of who else sat in the same seat on the same deal."),
    Column("lead_error", _ERROR, lambda line: _mean(line, "lead")[1], shown=_lead_shown, soft=True),
    Column("ahead", "ahead", lambda line: _mean(line, "ahead")[0], _ahead_json,
           lambda layout: layout.compared,
           lambda layout: [f"ahead: mean difference in {'margin' if layout.rival else 'score'} to the next bot, "
                           "on the deals both played."],
           lambda layout: layout.compared and (layout.width is not None or len(layout.standings.lines) > 1)),
    Column("ahead_error", _ERROR, lambda line: _mean(line, "ahead")[1], shown=lambda layout: layout.compared,
           soft=True),
    count_column("played", lambda line: line.record.played,
                 shown=lambda layout: layout.has(_SMALL) and (not layout.rival or layout.wide)),
    count_column("won", lambda line: line.record.won, shown=_won_shown),
    count_column("drawn", lambda line: line.record.drawn,
                 shown=lambda layout: not layout.solo and layout.has(_SMALL)),
    count_column("lost", lambda line: line.record.lost, shown=_won_shown),
    Column("share", "share", lambda line: _share(line, line.record.points),
           _points_and_share_json,
           lambda layout: not layout.solo and layout.wide),
    Column("without_luck", "without luck", lambda line: _without_luck(line)[0], _without_luck_json, _luck_shown,
           _luck_help),
    Column("without_luck_error", _ERROR, lambda line: _without_luck(line)[1], shown=_luck_shown, soft=True),
    count_column("faults", lambda line: line.record.faults, kind="faults"),
)
"""All columns, in the order in which they stand."""
# fmt: on

_FIRST_KEYS: Final = (
    *("rank", "bot", "rating", "rating_half", "rating_above", "rating_below", "guessed", "running_elo"),
    *("tier", "island", "provisional", "likelihood", "played", "won", "drawn", "lost", "points", "share"),
    *("share_low", "share_high", "score", "score_half", "faults", "disqualified", "margin", "margin_half"),
    *("lead", "lead_half", "ahead", "ahead_half", "ahead_deals", "reached", "round_points", "buchholz"),
    *("without_luck", "without_luck_half", "without_luck_gain"),
)
"""The order of the keys of `--json`, which never changes; keys that are not named here come after them."""


def standing_json(line: Standing) -> dict[str, Any]:
    """A line as a JSON object; keys named `..._half` are half a 95 % interval."""
    values = line_json(COLUMNS, line)
    return {key: values[key] for key in _FIRST_KEYS if key in values} | values


# -- league columns --------------------------------------------------------------------------------------
# To add a column, add a `Column` to its table.

_SeatColumn: TypeAlias = "Column[SeatLine, TableView[SeatLine]]"
_FaultColumn: TypeAlias = "Column[FaultTally, TableView[FaultTally]]"
_FaultLineColumn: TypeAlias = "Column[FaultLine, TableView[FaultLine]]"
_TimeColumn: TypeAlias = "Column[TimeLine, TableView[TimeLine]]"
_MachineColumn: TypeAlias = "Column[MachineLine, TableView[MachineLine]]"
_ServiceColumn: TypeAlias = "Column[ServiceLine, TableView[ServiceLine]]"

_MAX_MESSAGE: Final = 200  # characters of a fault's message


def _several_seats(view: TableView[SeatLine]) -> bool:
    """Of one seat the share says nothing."""
    return len(view.lines) > 1


def _ends(line: SeatLine) -> str:
    ends = line.share.share_interval()
    return "" if ends is None else interval_words(*ends)


def _ends_json(line: SeatLine) -> dict[str, Any]:
    low, high = line.share.share_interval() or (None, None)
    return {"share_low": rounded(low, 6), "share_high": rounded(high, 6)}


def _first(tally: FaultTally) -> str:
    line = tally.first[0]
    return f"{line.number} ({line.match[:10]}), line {line.fault.n}"


def _some_match(view: TableView[FaultTally]) -> bool:
    """Where others play the same deals, single matches are not shown."""
    return any(tally.first for tally in view.lines)


def _some_timeout(view: TableView[TimeLine]) -> bool:
    return any(line.timeouts for line in view.lines)


def _time(name: str, heading: str, of: Callable[[TimeLine], float], **more: Any) -> _TimeColumn:
    """The mean of a total, in milliseconds for each decision."""

    def text(line: TimeLine) -> str:
        mean = line.mean(of(line))
        return "-" if mean is None else f"{mean:.3f}"

    return Column(name, heading, text, lambda line: {name: rounded(line.mean(of(line)), 4)}, **more)


def _speed(line: MachineLine) -> str:
    return "-" if line.speed is None else f"{line.speed[0]:.2f}"


def _speed_span(line: MachineLine) -> str:
    return "" if line.speed is None else f"{line.speed[1]:.2f} to {line.speed[2]:.2f}"


def _speed_json(line: MachineLine) -> dict[str, float | None]:
    speed = line.speed or (None, None, None)
    return dict(zip(("speed", "speed_low", "speed_high"), (rounded(one, 4) for one in speed), strict=True))


# In these tables a column takes as few lines as it needs.
# fmt: off

SEATS: Final[tuple[_SeatColumn, ...]] = (
    count_column("seat", lambda line: line.seat),
    count_column("played", lambda line: line.record.played),
    count_column("won", lambda line: line.record.won),
    count_column("drawn", lambda line: line.record.drawn),
    count_column("lost", lambda line: line.record.lost),
    Column("share", "share", lambda line: percent(line.share.mean) if line.record.played else "-",
           lambda line: {"share": rounded(line.share.mean if line.share.count else None, 6)}, _several_seats),
    Column("share_interval", "95 % interval", _ends, _ends_json, _several_seats, soft=True),
    Column("chart", "", shown=lambda view: view.page and _several_seats(view), drawn=True),
    Column("score", "mean score",
           lambda line: f"{line.record.scores.mean:.2f}" if line.record.played else "-",
           lambda line: {"score": rounded(line.record.scores.mean if line.record.played else None, 6)}),
    count_column("faults", lambda line: line.record.faults, kind="faults"),
    key_column("even", lambda line: line.even),
)
"""The results by seat."""

FAULTS: Final[tuple[_FaultColumn, ...]] = (
    Column("bot", "bot", lambda tally: tally.bot, kind="bot"),
    Column("kind", "kind", lambda tally: tally.kind, kind="text", drawn=True),
    Column("faults", "faults", lambda tally: f"{tally.count:,}"),
    Column("forfeits", "forfeits", lambda tally: f"{tally.retired:,}"),
    Column("first", "first in match", _first, shown=_some_match, kind="text", wraps=True, drawn=True),
    Column("what", "what", lambda tally: one_line(tally.what(_MAX_MESSAGE)), shown=_some_match, kind="text",
           wraps=True, drawn=True),
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

TIMES: Final[tuple[_TimeColumn, ...]] = (
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    count_column("matches", lambda line: line.matches, shown=never),
    count_column("decisions", lambda line: line.decisions),
    count_column("timeouts", lambda line: line.timeouts, shown=_some_timeout,
                 help="timeouts: decisions that it did not make in time; the other columns do not count them."),
    _time("mean_wall_ms", "mean", lambda line: line.wall_ms),
    Column("chart", "", shown=lambda view: view.page, drawn=True),
    _time("mean_cpu_ms", "processor", lambda line: line.cpu_ms),
    _time("mean_wait_ms", "wait", lambda line: line.wait_ms, help="wait: ready to run, but without a processor.",
          drawn=True),
    Column("longest_ms", "longest", lambda line: f"{line.longest_ms:.1f}" if line.decisions else "-",
           lambda line: {"longest_ms": rounded(line.longest_ms, 3)}),
    Column("longest_match", "in match", lambda line: line.longest_match[:10],
           lambda line: {"longest_match": line.longest_match}, kind="text", drawn=True),
)
"""The time that the bots used for a decision, in milliseconds."""

MACHINES: Final[tuple[_MachineColumn, ...]] = (
    Column("machine", "machine", lambda line: line.machine, lambda line: {"machine": line.machine}, kind="text"),
    count_column("matches", lambda line: line.matches),
    count_column("faulted", lambda line: line.faulted, help="faulted: matches in which a bot faulted."),
    Column("speed", "speed", _speed, _speed_json,
           help="speed: of decisions, by the processor time of the same bots, relative to all other machines, with "
                "its 95 % interval."),
    Column("speed_span", "95 %", _speed_span, soft=True),
    Column("residual", "residual", lambda line: "-" if line.residual is None else f"{line.residual:.1f}",
           lambda line: {"residual": rounded(line.residual, 3)},
           help="residual: how improbable its results are, compared with the same bots in the same seats on all other "
                "machines, as a standard normal value (0: as expected, 3: 1 of 1,000; -: nothing to compare)."),
    Column("stands_out", "", lambda line: "stands out" if line.stands_out else "",
           lambda line: {"stands_out": line.stands_out}, kind="text",
           help=f"stands out: if all machines were alike, one would in {ERROR:.1%} of all leagues. `league mend "
                "--workers` removes its matches, so that the next run plays them again."),
)
"""The machines of a cluster that played."""

SERVICES: Final[tuple[_ServiceColumn, ...]] = (
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    count_column("matches", lambda line: line.matches, shown=never),
    count_column("failures", lambda line: line.failures,
                 help="failures: of the bot's service, in all matches; most: in one match; void: matches void for "
                      "that; again: requests that the bot sent again."),
    count_column("most_failures", lambda line: line.most_failures, "most"),
    count_column("void", lambda line: line.void),
    count_column("retries", lambda line: line.retries, "again"),
    count_column("input_tokens", lambda line: line.input_tokens, "tokens in"),
    count_column("output_tokens", lambda line: line.output_tokens, "tokens out"),
    Column("cost", "cost", lambda line: f"{line.cost:,.4f}", lambda line: {"cost": round(line.cost, 6)}),
)
"""The work and the cost of the services that the bots use."""
# fmt: on


@attrs.frozen
class Tables:
    """All tables of a league."""

    standings: Standings
    seats: list[SeatLine]
    times: Sequence[TimeLine]
    faults: list[FaultTally]


def read_tables(
    league: League,
    columns: Columns,
    first: int = 1,
    standings: Standings | None = None,
    used: Sequence[TimeLine] | None = None,
) -> Tables:
    """All tables, from the parts "results" and "matches" of the `columns` of the matches that count.

    Each kind of fault has its `first` matches. `standings` and the times `used` are given if they have been computed.
    """
    tallies = FaultTallies(first)
    tallies.add(faults(league, columns))
    return Tables(
        standings or standings_of(league, columns),
        seats(league, columns),
        times(league) if used is None else used,
        tallies.tallies(),
    )
