"""Writes the page of rounds: the curve of each author, all versions on one scale, and whether each edit helped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from warpleague.counts import counted
from warpleague.report.site import charts
from warpleague.report.site.page_frame import alone, render
from warpleague.report.wording.columns import Column, help_lines, shown_columns
from warpleague.report.wording.rounds_columns import (
    CURVES,
    ROUNDS,
    TOTALS,
    VERSIONS,
    RoundsView,
    problem_lines,
    rated,
    rating_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.rounds.curves import AuthorTotal, Results

LineT = TypeVar("LineT")


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
        anchor=results.anchor,
        chart=charts.curves(
            [(author.author, _points(results, author.author)) for author in editors],
            "Ratings over the rounds",
            "rounds",
        ),
        tables=[
            _table("authors", "Authors", TOTALS, editors),
            _table("rounds", "Round by round", CURVES, curves, problem_lines(curves)),
            _table("versions", "Versions on one scale", VERSIONS, rated(results.versions)),
            _table("time", "Time of each round", ROUNDS, results.per_round),
        ],
        secrets=[(line.round, line.commitment, line.secret) for line in results.per_round],
    )


def _sentence(results: Results, editors: Sequence[AuthorTotal]) -> str:
    if not results.over:
        return "No round is over yet."
    best = max(author.rounds_won for author in editors)
    names = [author.author for author in editors if author.rounds_won == best]
    told = f"{counted(results.over, 'round')} of {results.rounds} are over."
    if not best:
        return f"{told} No author won one alone."
    return f"{told} {' and '.join(names)} won {best:,}{' each' if len(names) > 1 else ''}."


def _points(results: Results, author: str) -> list[charts.Point]:
    """The ratings of the version at the start, and of the one that played in each round."""
    start = next((line for line in results.versions if line.author == author and not line.first_round), None)
    rows = [] if start is None else [(0, start.version, start.rating, start.error)]
    rows += [(line.round, line.version or "-", line.rating, line.error) for line in results.curve(author)]
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
