"""Writes the page of rounds: the curve of each author, all versions on one scale, and whether each edit helped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from warpleague.extras.rounds.results import TOO_FEW
from warpleague.league.schedule.formats.api import SEATINGS
from warpleague.report.site import charts
from warpleague.report.site.page_frame import alone, render
from warpleague.report.terminal.tables import filled, stacked, titled
from warpleague.report.wording.columns import (
    Column,
    LineT,
    TableView,
    count_column,
    help_lines,
    shown_columns,
)
from warpleague.report.wording.league_words import interval_words, percent
from warpleague.report.wording.match_words import one_line
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Group, RenderableType

    from warpleague.extras.rounds.replicates import MeanAuthor, MeanLine, PairDifference, Replicated, Spread
    from warpleague.extras.rounds.results import (
        AuthorDifference,
        AuthorLine,
        AuthorTotal,
        Results,
        RoundLine,
        Share,
        VersionLine,
    )


# -- rounds columns --------------------------------------------------------------------------------------
# The columns of the tables of rounds, each declared once for the terminal and the page.

_MEDIUM: Final = 95  # columns of a terminal
_WIDE: Final = 135
_LONGEST_PROBLEM: Final = 200
NOT_TOLD: Final = "not told"


@attrs.frozen
class RoundsView(TableView[LineT]):
    """The `lines` of a table of rounds, on a page or in a terminal with `width` columns."""

    width: int = 1_000


_TotalColumn: TypeAlias = "Column[AuthorTotal, RoundsView[AuthorTotal]]"
_AuthorColumn: TypeAlias = "Column[AuthorLine, RoundsView[AuthorLine]]"
_VersionColumn: TypeAlias = "Column[VersionLine, RoundsView[VersionLine]]"
_RoundColumn: TypeAlias = "Column[RoundLine, RoundsView[RoundLine]]"
_DifferenceColumn: TypeAlias = "Column[AuthorDifference, RoundsView[AuthorDifference]]"


def rating_text(rating: float | None, error: float | None) -> str:
    """A rating with half its 95 % interval; the anchor's is zero. Without an interval it is a guess: ≈."""
    if rating is None:
        return "-"
    if error is None:
        return f"≈ {rating:.0f}"
    return f"{rating:.0f} ± {error:.0f}" if error else f"{rating:.0f}"


def ahead_text(elo: float | None, half: float | None) -> str:
    """By how much Elo something is ahead, with half its 95 % interval; without one it is a guess: ≈."""
    if elo is None:
        return "-"
    return f"≈ {elo:+.0f}" if half is None else f"{elo:+.0f} ± {half:.0f}"


def share_text(share: Share | Spread | None) -> str:
    """A share of points in percent, with its 95 % interval, if it has one."""
    if share is None:
        return "-"
    low, high = share.low, share.high
    return percent(share.mean) + ("" if low is None or high is None else f" ({interval_words(low, high)})")


def helped_text(line: AuthorLine) -> str:
    """Whether an edit helped: the share of the new version against the one before, its 95 % interval, and a word."""
    helped = line.helped
    if helped is None:
        return line.problem.partition(":")[0]
    if helped.share_low is None or helped.share_high is None:
        return TOO_FEW
    span = interval_words(helped.share_low, helped.share_high)
    return f"{percent(helped.share)} ({span}) in {counted(helped.deals, 'deal')}, {helped.verdict}"


def _beaten_text(line: AuthorLine | VersionLine) -> str:
    return "-" if line.climb is None else f"{line.climb.levels_beaten} of {line.climb.levels}"


def climb_text(line: VersionLine) -> str:
    """Where a program is on the scale, with the ends of its 95 % interval."""
    climb = line.climb
    if climb is None:
        return "-"
    if climb.faults == climb.matches:
        return "faulted in every match"
    at, low, high = (
        None if end is None else f"{end:.1f}" for end in (climb.level, climb.level_low, climb.level_high)
    )
    if at is not None:
        return f"{at} ({low or 'below 1'} to {high or f'above {climb.levels}'})"
    return f"{low} or more" if low else f"{high} or less" if high else "beyond the scale"


def chance_lines(results: Results) -> list[str]:
    """How many edits would be called better or worse by chance alone: a sentence, if any edit can be."""
    if not results.comparisons:
        return []
    compared = counted(results.comparisons, "comparison")
    return [
        f"Of the {compared} with enough deals to tell, chance alone would make about "
        f"{results.better_or_worse_by_chance:g} better or worse if no edit changed anything."
    ]


def conditions_words(results: Results | Replicated) -> str:
    """How the rounds are played: a sentence."""
    how = results.conditions
    options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in how.options.items())
    return (
        f"{results.game} for {counted(how.players, 'player')}{f' ({options})' if options else ''}; each round "
        f"{counted(how.deals, 'deal')} of each table in {SEATINGS[how.seats]}, with "
        f"{counted(how.previous, 'earlier version')} of each author; clock: {how.clock.in_words()}; level {how.level}."
    )


def _version_text(line: AuthorLine) -> str:
    return "-" if line.version is None else line.version


def _lines_text(line: AuthorLine | VersionLine) -> str:
    return f"+{line.lines_added} -{line.lines_removed}" if line.lines_added or line.lines_removed else ""


def _rank_text(line: AuthorLine) -> str:
    among = "" if line.rank_set is None else " ({}-{})".format(*line.rank_set)
    return f"{'won ' if line.won else ''}{'-' if line.rank is None else line.rank}{among}"


def _any_usage(view: RoundsView[AuthorTotal]) -> bool:
    return view.page or any(line.told or line.models or line.efforts for line in view.lines)


def _told_on_page(view: RoundsView[AuthorLine]) -> bool:
    return view.page and any(line.told for line in view.lines)


def _tokens_text(line: AuthorTotal | AuthorLine) -> str:
    counts = (line.input_tokens, line.output_tokens)
    if counts == (None, None):
        return NOT_TOLD
    return "/".join("?" if count is None else f"{count:,}" for count in counts)


def _cost_text(line: AuthorTotal | AuthorLine) -> str:
    return NOT_TOLD if line.cost is None else f"{line.cost:.4f}"


def secret_words(results: Results) -> list[str]:
    """Why the commitments to the secrets prove nothing: a sentence, if authors could know the dice."""
    return [f"{results.proves_nothing}: the commitments prove nothing."] if results.proves_nothing else []


def _medium(view: RoundsView[Any]) -> bool:
    return view.width >= _MEDIUM


def _wide(view: RoundsView[Any]) -> bool:
    return view.width >= _WIDE


def _any(name: str, width: int = 0) -> Callable[[RoundsView[Any]], bool]:
    """Show the column if a line has a value, and the terminal has at least `width` columns."""
    return lambda view: view.width >= width and any(getattr(line, name) for line in view.lines)


def problem_lines(lines: Sequence[AuthorLine]) -> list[str]:
    """The problems of edits and bots, one line for each."""
    return [
        f"round {line.round}, {line.author}: {one_line(line.problem)[:_LONGEST_PROBLEM]}"
        for line in sorted(lines, key=lambda line: line.round)
        if line.problem
    ]


# In these tables a column takes as few lines as it needs.
# fmt: off

TOTALS: Final[tuple[_TotalColumn, ...]] = (
    Column("author", "author", lambda line: line.author, kind="text"),
    count_column("rounds_won", lambda line: line.rounds_won, "rounds won"),
    count_column("rounds_shared", lambda line: line.rounds_shared, "shared"),
    Column("version", "plays now", lambda line: line.version or "-", kind="text"),
    Column("gain", "gain ± 95 %", lambda line: ahead_text(line.gain, line.gain_half),
           help="gain: by how much Elo this version is ahead of the bot at the start."),
    Column("model", "model", lambda line: ", ".join(line.models) or NOT_TOLD, shown=_any_usage, kind="text"),
    Column("effort", "effort", lambda line: ", ".join(line.efforts) or NOT_TOLD, shown=_any_usage, kind="text"),
    Column("tokens", "tokens in/out", _tokens_text, shown=_any_usage),
    Column("cost", "cost", _cost_text, shown=_any_usage),
    count_column("told", lambda line: line.told, "told in", shown=_any_usage,
                 help="told in: the number of rounds in which tokens or cost were told; the sums are over these."),
    Column("edit_s", "edits s", lambda line: f"{line.edit_s:.1f}", shown=_any_usage),
)
"""The authors over all rounds."""

CURVES: Final[tuple[_AuthorColumn, ...]] = (
    Column("round", "round", lambda line: str(line.round)),
    Column("author", "author", lambda line: line.author, kind="text"),
    Column("version", "version", _version_text, kind="text"),
    Column("rating", "rating ± 95 %", lambda line: rating_text(line.rating, line.rating_half)),
    Column("rank", "rank", _rank_text,
           help="rank: in the standings of the round; in brackets the ranks that the version may have by strength, "
                "with 95 % confidence for all bots of the round at once."),
    Column("share", "share", lambda line: share_text(line.share), shown=_medium),
    Column("anchor_share", "anchors", lambda line: share_text(line.anchor_share),
           shown=_any("anchor_share", _MEDIUM)),
    Column("climb", "beats", _beaten_text, shown=_any("climb"),
           help="beats: how many of the published levels the program surely beats."),
    Column("helped", "did it help?", helped_text, shown=_any("helped"), kind="text", wraps=True,
           help="did it help?: share of points against the version before, on the same deals, and its 95 % interval; "
                "better or worse: it excludes 50 %."),
    count_column("begun", lambda line: line.begun, shown=lambda view: any(line.begun > 1 for line in view.lines),
                 help="begun: how often the edit began; it begins again after this program was stopped."),
    Column("lines", "lines", _lines_text, shown=_wide),
    Column("edit_s", "edit s", lambda line: f"{line.edit_s:.1f}", shown=_wide),
    Column("tokens", "tokens in/out", _tokens_text, shown=_told_on_page),
    Column("cost", "cost", _cost_text, shown=_told_on_page),
    count_column("faults", lambda line: line.faults, kind="faults", shown=_any("faults")),
)
"""The authors round by round: the curve of each in numbers."""

VERSIONS: Final[tuple[_VersionColumn, ...]] = (
    Column("version", "version", lambda line: line.version, kind="text"),
    Column("same_as", "same as", lambda line: line.same_as or "", kind="text", shown=_any("same_as"),
           help="same as: the same program; it plays once, and its versions have one rating."),
    Column("rating", "rating ± 95 %", lambda line: rating_text(line.rating, line.rating_half)),
    count_column("played", lambda line: line.played),
    Column("share", "share", lambda line: share_text(line.share)),
    Column("anchor_share", "anchors", lambda line: share_text(line.anchor_share),
           shown=_any("anchor_share", _MEDIUM)),
    Column("beaten", "beats", _beaten_text, shown=_any("climb"),
           help="beats: how many of the published levels the program surely beats; level: where it is among them, "
                "with its 95 % interval."),
    Column("climb", "level", climb_text, shown=_any("climb", _MEDIUM)),
    Column("lines", "lines", _lines_text),
    count_column("faults", lambda line: line.faults, kind="faults"),
    Column("digest", "content", lambda line: line.digest[:12], kind="text", soft=True, shown=_medium),
    Column("commit", "commit", lambda line: (line.commit or "")[:12], kind="text", soft=True, shown=_wide),
)
"""All versions on one scale."""

ROUNDS: Final[tuple[_RoundColumn, ...]] = (
    Column("round", "round", lambda line: str(line.round)),
    count_column("matches", lambda line: line.matches),
    count_column("copies", lambda line: line.copies, shown=_any("copies"),
                 help="copies: matches of one program against itself, which do not count; first seat: its share in "
                      "them, which tells only of seats and dice."),
    Column("first_seat", "first seat", lambda line: share_text(line.first_seat), shown=_any("copies")),
    Column("committed", "begun", lambda line: line.committed, shown=lambda view: view.page, kind="text", soft=True),
    Column("elapsed", "all s", lambda line: f"{line.elapsed_s:.1f}"),
    Column("edit", "edits s", lambda line: f"{line.edit_s:.1f}"),
    Column("check", "checks s", lambda line: f"{line.check_s:.1f}"),
    Column("play", "matches s", lambda line: f"{line.play_s:.1f}"),
    Column("overhead", "overhead s", lambda line: f"{line.overhead_s:.1f}",
           help="overhead: the time without the longest edit and the matches."),
    Column("commitment", "commitment to the secret", lambda line: line.commitment[:16], kind="text",
           soft=True, shown=_medium),
)
"""The times of each round, and the commitment to its dice."""

DIFFERENCES: Final[tuple[_DifferenceColumn, ...]] = (
    Column("author", "author", lambda line: line.author, kind="text"),
    Column("other", "against", lambda line: line.other, kind="text"),
    Column("elo", "Elo ahead ± 95 %", lambda line: ahead_text(line.elo, line.elo_half)),
)
"""Each two authors, by their current versions."""
# fmt: on


def rated(versions: Sequence[VersionLine]) -> list[VersionLine]:
    """The versions, the strongest first."""
    return sorted(versions, key=lambda line: (line.rating is None, -(line.rating or 0.0), line.version))


# -- rounds page -----------------------------------------------------------------------------------------


def rounds_page(results: Results) -> bytes:
    """The page, which needs no other file."""
    editors = [author for author in results.authors if not author.fixed]
    curves = [line for author in editors for line in results.curve(author.author)]
    return render(
        "rounds.html.j2",
        frame=alone("server"),
        stamp="",
        name=results.name,
        game=results.game,
        sentence=_sentence(results, editors),
        conditions=conditions_words(results),
        anchor=results.anchor,
        chart=charts.curves(
            [(author.author, _points(results, author.author)) for author in editors],
            "Ratings over the rounds",
            "rounds",
        ),
        tables=[
            _table("authors", "Authors", TOTALS, editors),
            *(
                [_table("differences", "Authors against each other", DIFFERENCES, results.differences)]
                if results.differences
                else []
            ),
            _table(
                "rounds", "Round by round", CURVES, curves, [*chance_lines(results), *problem_lines(curves)]
            ),
            _table("versions", "Versions on one scale", VERSIONS, rated(results.versions)),
            _table("time", "Time of each round", ROUNDS, results.per_round),
        ],
        secret_words=secret_words(results),
        transcripts=[
            (
                author.author,
                [
                    (line.round, [f"../{file}" for file in line.transcripts])
                    for line in results.curve(author.author)
                ],
            )
            for author in editors
        ],
        secrets=[(line.round, line.commitment, line.secret) for line in results.per_round],
    )


def _sentence(results: Results, editors: Sequence[AuthorTotal]) -> str:
    if not results.over:
        return "No round is over yet."
    best = max(author.rounds_won for author in editors)
    names = [author.author for author in editors if author.rounds_won == best]
    over = f"{counted(results.over, 'round')} of {results.rounds} are over."
    if not best:
        return f"{over} No author won one alone."
    return f"{over} {' and '.join(names)} won {best:,}{' each' if len(names) > 1 else ''}."


def _points(results: Results, author: str) -> list[charts.Point]:
    """The ratings of the version at the start, and of the one that played in each round."""
    start = next((line for line in results.versions if line.author == author and not line.first_round), None)
    rows = [] if start is None else [(0, start.version, start.rating, start.rating_half)]
    rows += [
        (line.round, line.version or "-", line.rating, line.rating_half) for line in results.curve(author)
    ]
    return [
        charts.Point(x, rating, *_bounds(rating, error), f"{version}: {rating_text(rating, error)}")
        for x, version, rating, error in rows
        if rating is not None
    ]


def _bounds(rating: float, error: float | None) -> tuple[float | None, float | None]:
    return (None, None) if error is None else (rating - error, rating + error)


def _table(
    key: str,
    title: str,
    columns: Sequence[Column[LineT, RoundsView[LineT]]],
    lines: Sequence[LineT],
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    view = RoundsView(lines, page=True)
    return {
        "key": key,
        "title": title,
        "columns": shown_columns(columns, view),
        "lines": lines,
        "remarks": [*help_lines(columns, view), *remarks],
    }


# -- rounds ----------------------------------------------------------------------------------------------
# The results of rounds in a terminal.


def rounds_view(results: Results, width: int = 100) -> RenderableType:
    """All tables, `width` columns wide: the curve of each author, all versions, the time of each round, who won."""
    if not results.over:
        return f"{results.name}: no round is over yet"
    curves = [line for author in results.authors for line in results.curve(author.author)]
    anchor = "" if results.anchor is None else f"; {results.anchor} is 1500"
    title = f"Curves of {results.name}, {counted(results.over, 'round')}{anchor}"
    editors = [author for author in results.authors if not author.fixed]
    return stacked(
        _printed_table(title, CURVES, curves, width, *chance_lines(results), *problem_lines(curves)),
        _printed_table("Versions on one scale", VERSIONS, rated(results.versions), width),
        _printed_table("Rounds", ROUNDS, results.per_round, width, *secret_words(results)),
        _printed_table("Authors", TOTALS, editors, width),
        *(
            [_printed_table("Authors against each other", DIFFERENCES, results.differences, width)]
            if results.differences
            else []
        ),
        conditions_words(results),
    )


def _printed_table(
    title: str,
    columns: Sequence[Column[LineT, RoundsView[LineT]]],
    lines: Sequence[LineT],
    width: int,
    *remarks: str,
) -> Group:
    view = RoundsView(lines, width=width)
    return titled(title, filled(columns, view, lines), *help_lines(columns, view), *remarks)


# -- replicates ------------------------------------------------------------------------------------------
# The means over all runs of a file, on a page and in a terminal.

_MeanColumn: TypeAlias = "Column[MeanLine, RoundsView[MeanLine]]"
_MeanAuthorColumn: TypeAlias = "Column[MeanAuthor, RoundsView[MeanAuthor]]"
_PairColumn: TypeAlias = "Column[PairDifference, RoundsView[PairDifference]]"


def spread_text(spread: Spread | None, text: Callable[[float], str]) -> str:
    """A mean over runs with the ends of its 95 % interval."""
    if spread is None:
        return "-"
    if spread.low is None or spread.high is None:
        return text(spread.mean)
    return f"{text(spread.mean)} ({text(spread.low)} to {text(spread.high)})"


def _mean_rating_text(line: MeanLine) -> str:
    return f"{'≈ ' if line.rating_guesses else ''}{spread_text(line.rating, _elo)}"


def _elo(value: float) -> str:
    return f"{value:.0f}"


def _tenths(value: float) -> str:
    return f"{value:,.1f}"


def _many(value: float) -> str:
    return f"{value:,.0f}"


# fmt: off
MEANS: Final[tuple[_MeanColumn, ...]] = (
    Column("round", "round", lambda line: str(line.round)),
    Column("author", "author", lambda line: line.author, kind="text"),
    Column("rating", "rating", _mean_rating_text,
           help="rating: in brackets its 95 % interval by Student's t over the runs; ≈: in some run it is a guess, "
                "since the program won or lost everything there."),
    Column("share", "share", lambda line: share_text(line.share), shown=_medium),
    Column("anchor_share", "anchors", lambda line: share_text(line.anchor_share),
           shown=_any("anchor_share", _MEDIUM)),
    Column("levels_beaten", "levels beaten", lambda line: spread_text(line.levels_beaten, _tenths),
           shown=_any("levels_beaten")),
    Column("helped", "new against old", lambda line: share_text(line.helped), shown=_any("helped", _WIDE),
           help="new against old: the share of points of the new version against the one before, on the same deals."),
    Column("runs", "runs", lambda line: str(line.rating.runs if line.rating else 0)),
)
"""The authors round by round, over all runs."""

MEAN_AUTHORS: Final[tuple[_MeanAuthorColumn, ...]] = (
    Column("author", "author", lambda line: line.author, kind="text"),
    Column("rounds_won", "rounds won", lambda line: spread_text(line.rounds_won, _tenths)),
    Column("gain", "gain", lambda line: spread_text(line.gain, "{:+.0f}".format),
           help="gain: by how much Elo the last version is ahead of the bot at the start."),
    Column("input_tokens", "tokens in", lambda line: spread_text(line.input_tokens, _many),
           shown=_any("input_tokens")),
    Column("output_tokens", "tokens out", lambda line: spread_text(line.output_tokens, _many),
           shown=_any("output_tokens")),
    Column("cost", "cost", lambda line: spread_text(line.cost, "{:.4f}".format), shown=_any("cost")),
    Column("edit_s", "edits s", lambda line: spread_text(line.edit_s, _tenths)),
)
"""The authors over all rounds of a run, over all runs."""

PAIRS: Final[tuple[_PairColumn, ...]] = (
    Column("author", "author", lambda line: line.author, kind="text"),
    Column("other", "against", lambda line: line.other, kind="text"),
    Column("elo", "Elo ahead", lambda line: spread_text(line.elo, "{:+.0f}".format)),
)
"""Each two authors in the last round of the same run."""
# fmt: on


def replicates_page(results: Replicated, pages: Sequence[str]) -> bytes:
    """The page with the means over all runs, which have these `pages`."""
    authors = [line.author for line in results.authors]
    return render(
        "replicates.html.j2",
        frame=alone("server"),
        stamp="",
        name=results.name,
        game=results.game,
        sentence=_runs_words(results),
        conditions=conditions_words(results),
        anchor=results.anchor,
        chart=charts.curves(
            [(author, _mean_points(results.curve(author))) for author in authors],
            "Mean ratings over the rounds",
            "rounds",
        ),
        tables=[
            _table("means", "Round by round", MEANS, results.curves),
            _table("differences", "Authors in the last round", PAIRS, results.differences),
            _table("authors", "Authors", MEAN_AUTHORS, results.authors),
        ],
        runs=[
            (run.name.partition("/")[2] or "replicate-1", page)
            for run, page in zip(results.runs, pages, strict=True)
        ],
    )


def replicates_view(results: Replicated, width: int = 100) -> RenderableType:
    """All tables of the means over all runs, `width` columns wide."""
    anchor = "" if results.anchor is None else f"; {results.anchor} is 1500"
    return stacked(
        _printed_table(
            f"Means of {results.name}{anchor}", MEANS, results.curves, width, _runs_words(results)
        ),
        _printed_table("Authors in the last round", PAIRS, results.differences, width),
        _printed_table("Authors", MEAN_AUTHORS, results.authors, width),
        conditions_words(results),
    )


def _runs_words(results: Replicated) -> str:
    return f"{results.over} of {counted(results.replicates, 'replicate')} are over; each run counts once."


def _mean_points(lines: Sequence[MeanLine]) -> list[charts.Point]:
    return [
        charts.Point(
            line.round, line.rating.mean, line.rating.low, line.rating.high, spread_text(line.rating, _elo)
        )
        for line in lines
        if line.rating is not None
    ]
