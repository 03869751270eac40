"""The results of rounds in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from warpleague.counts import counted
from warpleague.report.terminal.tables import filled, stacked, titled
from warpleague.report.wording.columns import Column, help_lines
from warpleague.report.wording.rounds_columns import (
    CURVES,
    ROUNDS,
    TOTALS,
    VERSIONS,
    RoundsView,
    problem_lines,
    rated,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Group, RenderableType

    from warpleague.rounds.curves import Results

LineT = TypeVar("LineT")


def rounds_view(results: Results, width: int = 100) -> RenderableType:
    """All tables, `width` columns wide: the curve of each author, all versions, the time of each round, who won."""
    if not results.over:
        return f"{results.name}: no round is over yet"
    curves = [line for author in results.authors for line in results.curve(author.author)]
    anchor = "" if results.anchor is None else f"; {results.anchor} is 1500"
    title = f"Curves of {results.name}, {counted(results.over, 'round')}{anchor}"
    editors = [author for author in results.authors if not author.fixed]
    return stacked(
        _table(title, CURVES, curves, width, *problem_lines(curves)),
        _table("Versions on one scale", VERSIONS, rated(results.versions), width),
        _table("Rounds", ROUNDS, results.per_round, width),
        _table("Authors", TOTALS, editors, width),
    )


def _table(
    title: str,
    columns: Sequence[Column[LineT, RoundsView[LineT]]],
    lines: Sequence[LineT],
    width: int,
    *remarks: str,
) -> Group:
    view = RoundsView(lines, width=width)
    return titled(title, filled(columns, view, lines), *help_lines(columns, view), *remarks)
