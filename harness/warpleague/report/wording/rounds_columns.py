"""The columns of the tables of rounds, each declared once for the terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from warpleague.report.wording.columns import Column, TableView, count_column
from warpleague.report.wording.league_words import percent
from warpleague.report.wording.match_words import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.rounds.curves import AuthorLine, AuthorTotal, RoundLine, Share, VersionLine

_TotalColumn: TypeAlias = "Column[AuthorTotal, TableView[AuthorTotal]]"
_AuthorColumn: TypeAlias = "Column[AuthorLine, TableView[AuthorLine]]"
_VersionColumn: TypeAlias = "Column[VersionLine, TableView[VersionLine]]"
_RoundColumn: TypeAlias = "Column[RoundLine, TableView[RoundLine]]"

_LONGEST_PROBLEM: Final = 160


def rating_text(rating: float | None, error: float | None) -> str:
    """A rating with half its 95 % interval, or without one where it has none."""
    if rating is None:
        return "-"
    if not error:  # the anchor's is zero
        return f"{rating:.0f}" if error == 0 else f"≈ {rating:.0f}"
    return f"{rating:.0f} ± {error:.0f}"


def share_text(share: Share | None) -> str:
    """A share of points in percent, with half its 95 % interval."""
    if share is None:
        return "-"
    known = (
        share.half is not None and share.half < 1
    )  # of two deals the interval may be wider than all shares
    return f"{100 * share.mean:.1f} ± {100 * (share.half or 0.0):.1f} %" if known else percent(share.mean)


def helped_text(line: AuthorLine) -> str:
    """Whether an edit helped: the share of the new version against the one before, and how likely it is stronger."""
    helped = line.helped
    if helped is None:
        return ""
    text = f"{100 * helped['share']:.1f}"
    if helped["share_half"] is not None:
        text += f" ± {100 * helped['share_half']:.1f}"
    word = verdict_of(helped)
    return f"{text} %{f', {word}' if word else ''}"


def verdict_of(helped: dict[str, Any]) -> str:
    """The word for a paired difference: better or worse if it is as likely as not that by chance below 5 %."""
    likelihood = helped["likelihood"]
    if likelihood is None:
        return {"won": "better", "lost": "worse", "level": "equal"}.get(helped["one_way"] or "", "")
    return "better" if likelihood >= 0.95 else "worse" if likelihood <= 0.05 else "open"


def _version_text(line: AuthorLine) -> str:
    return "-" if line.version is None else line.version


def _lines_text(line: AuthorLine | VersionLine) -> str:
    return f"+{line.lines_added} -{line.lines_removed}" if line.lines_added or line.lines_removed else ""


def _won_text(line: AuthorLine) -> str:
    return "won" if line.won else ""


def _any_usage(view: TableView[AuthorTotal]) -> bool:
    return any(line.input_tokens or line.output_tokens or line.cost for line in view.lines)


def _any(problem: str) -> Any:
    def shown(view: TableView[Any]) -> bool:
        return any(getattr(line, problem) for line in view.lines)

    return shown


TOTALS: Final[tuple[_TotalColumn, ...]] = (
    Column("author", "author", lambda line: line.author, kind="text"),
    count_column("rounds_won", lambda line: line.rounds_won, "rounds won"),
    count_column("rounds_shared", lambda line: line.rounds_shared, "shared"),
    Column("version", "plays now", lambda line: line.version or "-", kind="text"),
    Column(
        "tokens",
        "tokens in/out",
        lambda line: f"{line.input_tokens:,}/{line.output_tokens:,}",
        shown=_any_usage,
    ),
    Column("cost", "cost", lambda line: f"{line.cost:.4f}", shown=_any_usage),
)
"""The authors over all rounds."""

CURVES: Final[tuple[_AuthorColumn, ...]] = (
    Column("round", "round", lambda line: str(line.round)),
    Column("author", "author", lambda line: line.author, kind="text"),
    Column("version", "version", _version_text, kind="text"),
    Column("rating", "rating ± 95 %", lambda line: rating_text(line.rating, line.error)),
    Column("rank", "rank", lambda line: "-" if line.rank is None else str(line.rank)),
    Column("won", "", _won_text, kind="text"),
    Column("share", "share", lambda line: share_text(line.share)),
    Column(
        "anchor_share",
        "against anchors",
        lambda line: share_text(line.anchor_share),
        shown=_any("anchor_share"),
    ),
    Column(
        "helped",
        "did it help?",
        helped_text,
        shown=_any("helped"),
        kind="text",
        help="did it help?: share of points against the version before, on the same deals; better or worse: with 95 % "
        "confidence.",
    ),
    Column("lines", "lines", _lines_text),
    Column("edit_s", "edit s", lambda line: f"{line.edit_s:.1f}"),
    count_column("faults", lambda line: line.faults, kind="faults"),
    Column(
        "problem",
        "what went wrong",
        lambda line: one_line(line.problem)[:_LONGEST_PROBLEM],
        shown=_any("problem"),
        kind="text",
        wraps=True,
    ),
)
"""The authors round by round: the curve of each in numbers."""

VERSIONS: Final[tuple[_VersionColumn, ...]] = (
    Column("version", "version", lambda line: line.version, kind="text"),
    Column("rating", "rating ± 95 %", lambda line: rating_text(line.rating, line.error)),
    count_column("played", lambda line: line.played),
    Column("share", "share", lambda line: percent(line.points / line.played) if line.played else "-"),
    Column(
        "anchor_share",
        "against anchors",
        lambda line: share_text(line.anchor_share),
        shown=_any("anchor_share"),
    ),
    Column("lines", "lines", _lines_text),
    count_column("faults", lambda line: line.faults, kind="faults"),
    Column("digest", "content", lambda line: (line.digest or "")[:12], kind="text", soft=True),
    Column("commit", "commit", lambda line: (line.commit or "")[:12], kind="text", soft=True),
)
"""All versions on one scale."""

ROUNDS: Final[tuple[_RoundColumn, ...]] = (
    Column("round", "round", lambda line: str(line.round)),
    count_column("matches", lambda line: line.matches),
    Column("elapsed", "all s", lambda line: f"{line.elapsed_s:.1f}"),
    Column("edit", "edits s", lambda line: f"{line.edit_s:.1f}"),
    Column("check", "checks s", lambda line: f"{line.check_s:.1f}"),
    Column("play", "matches s", lambda line: f"{line.play_s:.1f}"),
    Column(
        "overhead",
        "overhead s",
        lambda line: f"{line.overhead_s:.1f}",
        help="overhead: all but the longest edit and the matches.",
    ),
    Column(
        "commitment", "commitment to the secret", lambda line: line.commitment[:16], kind="text", soft=True
    ),
)
"""Where the time of each round went, and what its dice were fixed by."""


def rated(versions: Sequence[VersionLine]) -> list[VersionLine]:
    """The versions, the strongest first."""
    return sorted(versions, key=lambda line: (line.rating is None, -(line.rating or 0.0), line.version))
