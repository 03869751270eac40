"""Scores a sheet, and ranks the seats at the end (sheets E1, E2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.api import Outcome, ranked
from warpleague.games.sheets.geometry import NOT_FIRST_COLUMN, SIDE

if TYPE_CHECKING:
    from warpleague.games.sheets.state import Sheet, State

PARTS = ("boxes", "boxes with wormhole", "connections")
"""The parts of a score."""


def connections(wormholes: int) -> int:
    """How many pairs of wormholes are orthogonally adjacent (E1); `wormholes` is a set of boxes."""
    below = wormholes & wormholes >> SIDE
    beside = wormholes & (wormholes & NOT_FIRST_COLUMN) >> 1
    return below.bit_count() + beside.bit_count()


def score_parts(sheet: Sheet) -> tuple[int, int, int]:
    """The points for filled boxes without a wormhole, with one, and for connections (E1)."""
    both = (sheet.filled & sheet.wormholes).bit_count()
    return sheet.filled.bit_count() - both, 2 * both, 3 * connections(sheet.wormholes)


def outcome(state: State) -> Outcome:
    """Points decide, then connections (E2)."""
    parts = [score_parts(sheet) for sheet in state.sheets]
    standings = [(sum(own), own[2]) for own in parts]
    return Outcome(
        ranked(standings, state.retired),
        tuple(float(sum(own)) for own in parts),
        {name: tuple(float(own[i]) for own in parts) for i, name in enumerate(PARTS)},
        "retired" if len(state.retired) == len(parts) else "completed",
    )
