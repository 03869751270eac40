"""The results of rounds in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from warpleague.counts import counted
from warpleague.report.terminal.tables import filled, stacked, titled
from warpleague.report.wording.columns import Column, TableView, help_lines
from warpleague.report.wording.rounds_columns import CURVES, ROUNDS, TOTALS, VERSIONS, rated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Group, RenderableType

    from warpleague.rounds.curves import Results

LineT = TypeVar("LineT")


def rounds_view(results: Results) -> RenderableType:
    """All tables: the curve of each author, all versions on one scale, the time of each round, who won."""
    if not results.over:
        return f"{results.name}: no round is over yet"
    curves = [line for author in results.authors for line in results.curve(author.author)]
    anchor = "" if results.anchor is None else f"; {results.anchor} is 1500"
    return stacked(
        _table(f"Curves of {results.name}, {counted(results.over, 'round')}{anchor}", CURVES, curves),
        _table("Versions on one scale", VERSIONS, rated(results.versions)),
        _table("Rounds", ROUNDS, results.per_round),
        _table("Authors", TOTALS, [author for author in results.authors if not author.fixed]),
    )


def _table(title: str, columns: Sequence[Column[LineT, TableView[LineT]]], lines: Sequence[LineT]) -> Group:
    view = TableView(lines)
    return titled(title, filled(columns, view, lines), *help_lines(columns, view))
