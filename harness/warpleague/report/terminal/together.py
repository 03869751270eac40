"""The table over several leagues in a terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from warpleague.league.ratings.statistics import rounded
from warpleague.report.terminal.tables import filled, titled
from warpleague.report.wording.columns import Column, TableView, help_lines
from warpleague.report.wording.league_words import percent, share_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpleague.league.results.together import OpponentShare, Together, TogetherLine

_Column: TypeAlias = "Column[TogetherLine, TableView[TogetherLine]]"


def together_table(table: Together) -> RenderableType:
    """The table: the bots that played in all leagues by rank, and below them the others with what they lack."""
    view = TableView(table.lines)
    columns = _columns(table)
    names = [f"{one.league} ({one.game})" for one in table.leagues]
    return titled(
        f"Standings of {', '.join(names)}", filled(columns, view, table.lines), *help_lines(columns, view)
    )


def _columns(table: Together) -> list[_Column]:
    shares: list[_Column] = [
        Column(one.league, one.league, lambda line, league=one.league: _share_in(line, league))  # type: ignore[misc]
        for one in table.leagues
    ]
    # In this table a column takes as few lines as it needs.
    # fmt: off
    return [
        Column("rank", "#", lambda line: "–" if line.rank is None else str(line.rank)),
        Column("bot", "bot", lambda line: line.bot, kind="bot"),
        Column("version", "version", lambda line: line.version, kind="text",
               shown=lambda view: any(line.version for line in view.lines)),
        Column("share", "share ± 95 %", _share,
               help="share: of points, the mean over games; in each game the mean over all other programs, so that "
                    "copies of a program count once."),
        *shares,
        Column("copies", "copies", lambda line: ", ".join(line.copies), kind="text", wraps=True,
               shown=lambda view: any(line.copies for line in view.lines),
               help="copies: other bots with the same programs; they have the same place."),
        Column("lacks", "not ranked", _why_unranked, kind="text", wraps=True,
               shown=lambda view: any(line.share is None for line in view.lines),
               help="not ranked: only bots that played in all leagues are compared."),
    ]
    # fmt: on


def _share(line: TogetherLine) -> str:
    return "–" if line.share is None else share_words(line.share, line.half)


def _share_in(line: TogetherLine, league: str) -> str:
    return percent(line.shares[league].share) if league in line.shares else "–"


def _why_unranked(line: TogetherLine) -> str:
    reasons = (("lacks", line.lacks), ("disqualified in", line.disqualified))
    return "; ".join(f"{what} {', '.join(leagues)}" for what, leagues in reasons if leagues)


def together_json(table: Together) -> dict[str, Any]:
    """The table as a JSON object: the leagues with their weights, and the lines."""
    return {
        "leagues": [
            {"league": one.league, "game": one.game, "weight": round(table.weights[one.league], 6)}
            for one in table.leagues
        ],
        "standings": [
            {
                "rank": line.rank,
                "bot": line.bot,
                "version": line.version,
                "copies": line.copies,
                "share": line.share,
                "share_half": rounded(line.half, 6),
                "shares": {league: _part_json(part) for league, part in line.shares.items()},
                "lacks": line.lacks,
                "disqualified_in": line.disqualified,
            }
            for line in table.lines
        ],
    }


def _part_json(part: OpponentShare) -> dict[str, Any]:
    return {
        "share": round(part.share, 6),
        "share_half": rounded(part.half, 6),
        "opponents": part.opponents,
        "deals": part.deals,
    }
