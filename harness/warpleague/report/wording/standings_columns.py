"""The columns of the standings, each declared once: the terminal, the page of a league and `--json` show these.

To add a column, add a `Column` to `COLUMNS`. `Layout` says where the standings are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from warpleague.league.ratings.statistics import rounded, share_interval
from warpleague.report.wording.columns import Column, count_column, line_json
from warpleague.report.wording.league_words import (
    fit_notes,
    fit_words,
    mean_words,
    percent,
    placing_words,
    rank_words,
    share_span,
)

if TYPE_CHECKING:
    from warpleague.league.results.standings import Standing, Standings

_NARROW, _WIDE, _WIDEST = 76, 96, 116
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
        return self.standings.fit is not None and self.has(_NARROW)

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
            self.width is None
            or (self.has(_NARROW) and any(line.ahead and line.ahead.count for line in self.standings.lines))
        )


_ERROR: Final = "± 95 %"


def _margin_json(line: Standing) -> dict[str, Any]:
    margins = line.record.margins
    if not margins.count:
        return {}
    return {"margin": rounded(margins.mean, 6), "margin_error": rounded(margins.error, 6)}


def _wins_json(line: Standing) -> dict[str, Any]:
    record = line.record
    if not record.margins.count:
        return {}
    low, high = share_interval(record.won, record.played)
    return {
        "share": rounded(record.won / record.played, 6),
        "share_low": rounded(low, 6),
        "share_high": rounded(high, 6),
    }


def _score_json(line: Standing) -> dict[str, Any]:
    scores = line.record.scores
    return {
        "score": rounded(scores.mean if line.record.played else None, 6),
        "score_error": rounded(scores.error, 6),
    }


def _fit_json(line: Standing) -> dict[str, Any]:
    return {
        "fit": rounded(line.fit),
        "above": rounded(line.above),
        "below": rounded(line.below),
        "tier": line.tier,
        "island": line.island,
        "guessed": line.guessed,
        "provisional": line.provisional,
    }


def _lead_json(line: Standing) -> dict[str, Any]:
    if line.lead is None or not line.lead.count:
        return {}
    return {"lead": rounded(line.lead.mean, 6), "lead_error": rounded(line.lead.error, 6)}


def _ahead_json(line: Standing) -> dict[str, Any]:
    ahead = line.ahead
    if ahead is None or not ahead.count:
        return {}
    return {
        "ahead": rounded(ahead.mean, 6),
        "ahead_error": rounded(ahead.error, 6),
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


def _rank_json(line: Standing) -> dict[str, Any]:
    return {
        "rank": line.rank,
        "disqualified": line.disqualified.to_json() if line.disqualified else None,
    }


def _share(line: Standing, of: float) -> str:
    return percent(of / line.record.played) if line.record.played else "-"


def _mean(line: Standing, name: Literal["lead", "ahead"]) -> tuple[str, str]:
    mean = line.lead if name == "lead" else line.ahead
    return ("", "") if mean is None else mean_words(mean, signed=True)


def _score_shown(layout: Layout) -> bool:
    return layout.standings.by_score or (layout.solo and (not layout.rival or layout.wide))


def _lead_shown(layout: Layout) -> bool:
    return (
        not layout.solo
        and layout.has(_WIDEST)
        and any(line.lead and line.lead.count for line in layout.standings.lines)
    )


COLUMNS: Final[tuple[Column[Standing, Layout], ...]] = (
    Column("rank", "#", rank_words, _rank_json),
    Column("bot", "bot", lambda line: line.bot, lambda line: {"bot": line.bot}, kind="bot"),
    Column(
        "reached",
        "reached",
        lambda line: placing_words(line)[0],
        _reached_json,
        lambda layout: layout.cup,
        "Ranked by how far a bot came: the round in which it was out, or in which it still plays.",
        lambda layout: layout.cup and layout.rated,
        kind="text",
        wraps=True,
    ),
    Column(
        "round_points",
        "points",
        lambda line: placing_words(line)[0],
        _points_json,
        lambda layout: layout.swiss,
        "Ranked by points of whole rounds: 1 for each match won at a table of two, the share of opponents beaten at "
        "larger ones. Equal points: by Buchholz, the points of all that a bot met; a bye counts as its own points.",
        lambda layout: layout.swiss and layout.rated,
        wraps=True,
    ),
    Column(
        "buchholz",
        "Buchholz",
        lambda line: placing_words(line)[1],
        shown=lambda layout: layout.swiss,
        wraps=True,
    ),
    Column(
        "wins",
        "wins",
        lambda line: _share(line, line.record.won),
        _wins_json,
        lambda layout: layout.rival,
        "wins: against the game's own opponent.",
    ),
    Column(
        "wins_interval",
        "95 %",
        lambda line: share_span(line.record.won, line.record.played),
        shown=lambda layout: layout.rival and layout.wide,
        soft=True,
    ),
    Column(
        "margin",
        "margin",
        lambda line: mean_words(line.record.margins, signed=True)[0],
        _margin_json,
        lambda layout: layout.rival,
        "margin: mean score less the opponent's.",
        joins=True,
    ),
    Column(
        "margin_error",
        _ERROR,
        lambda line: mean_words(line.record.margins, signed=True)[1],
        shown=lambda layout: layout.rival,
        soft=True,
    ),
    Column(
        "score",
        "score",
        lambda line: mean_words(line.record.scores)[0],
        _score_json,
        _score_shown,
        "score: the mean score of a match, with its error by deal. It ranks, since the game says so.",
        lambda layout: layout.standings.by_score,
    ),
    Column(
        "score_error",
        _ERROR,
        lambda line: mean_words(line.record.scores)[1],
        shown=lambda layout: _score_shown(layout) and not layout.rival,
        soft=True,
    ),
    Column(
        "fit",
        "fit",
        lambda line: fit_words(line)[0],
        _fit_json,
        lambda layout: layout.fitted,
        "fit: all results at once. Elo: match by match, the last matches count most.",
        lambda layout: layout.rated,
    ),
    Column(
        "error",
        _ERROR,
        lambda line: fit_words(line)[1],
        lambda line: {"error": rounded(line.error)},
        lambda layout: layout.fitted,
        soft=True,
    ),
    Column(
        "likelihood",
        "LOS",
        lambda line: "" if line.likelihood is None else f"{100 * line.likelihood:.0f} %",
        lambda line: {"likelihood": rounded(line.likelihood, 4)},
        # Where scores rank, the next one in the table is not the next in strength.
        lambda layout: layout.fitted and layout.wide and not layout.standings.by_score,
        "LOS: likelihood to be stronger than the next.",
        joins=True,
        soft=True,
    ),
    Column(
        "elo",
        "Elo",
        lambda line: "-" if line.elo is None else f"{line.elo:.0f}",
        lambda line: {"elo": rounded(line.elo)},
        lambda layout: (
            not layout.solo
            and (not (layout.cup or layout.swiss or layout.standings.by_score) or layout.has(_WIDEST))
        ),
        lambda layout: fit_notes(layout.standings),
        lambda layout: layout.rated,
        soft=True,
        page_after="share",
    ),
    Column(
        "lead",
        "lead",
        lambda line: _mean(line, "lead")[0],
        _lead_json,
        _lead_shown,
        "lead: mean score above that of who else sat in the same seat on the same deal.",
    ),
    Column("lead_error", _ERROR, lambda line: _mean(line, "lead")[1], shown=_lead_shown, soft=True),
    Column(
        "ahead",
        "ahead",
        lambda line: _mean(line, "ahead")[0],
        _ahead_json,
        lambda layout: layout.compared,
        lambda layout: [
            f"ahead: mean difference in {'margin' if layout.rival else 'score'} to the next bot, on "
            "the deals both played."
        ],
        lambda layout: layout.compared and (layout.width is not None or len(layout.standings.lines) > 1),
    ),
    Column(
        "ahead_error",
        _ERROR,
        lambda line: _mean(line, "ahead")[1],
        shown=lambda layout: layout.compared,
        soft=True,
    ),
    count_column(
        "played", lambda line: line.record.played, shown=lambda layout: not layout.rival or layout.wide
    ),
    count_column("won", lambda line: line.record.won, shown=lambda layout: not layout.solo or layout.rival),
    count_column("drawn", lambda line: line.record.drawn, shown=lambda layout: not layout.solo),
    count_column("lost", lambda line: line.record.lost, shown=lambda layout: not layout.solo or layout.rival),
    Column(
        "share",
        "share",
        lambda line: _share(line, line.record.points),
        lambda line: {"points": rounded(line.record.points, 6)},
        lambda layout: not layout.solo and layout.wide,
    ),
    count_column("faults", lambda line: line.record.faults, kind="faults"),
)
"""All columns, in the order in which they stand."""

_FIRST_KEYS: Final = (
    *("rank", "bot", "elo", "error", "fit", "above", "below", "tier", "island", "guessed", "provisional"),
    *("likelihood", "played", "won", "drawn", "lost", "points", "score", "score_error", "faults"),
    *("disqualified", "share", "share_low", "share_high", "margin", "margin_error", "lead", "lead_error"),
    *("ahead", "ahead_error", "ahead_deals", "reached", "round_points", "buchholz"),
)
"""The order of the keys of `--json`, which never changes; keys that are not named here come after them."""


def standing_json(line: Standing) -> dict[str, Any]:
    """A line as a JSON object; keys named `..._error` are standard errors, `error` is half a 95 % interval."""
    values = line_json(COLUMNS, line)
    return {key: values[key] for key in _FIRST_KEYS if key in values} | values
