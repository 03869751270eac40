"""The picture of a game of sheets.

The sheets lie side by side. The boxes of the white section are cells, its wormholes are pieces, and drawn edges are
links. A panel for each seat has the other sections in text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from warpleague.games.scene import Cell, Link, Panel, Piece, Scene
from warpleague.games.sheets.actions import UNITS
from warpleague.games.sheets.geometry import (
    BOXES,
    CIRCLES,
    ROUNDS,
    SIDE,
    TRIANGLE,
    YELLOW_LINES,
    place_of,
)
from warpleague.games.sheets.score import score_parts
from warpleague.games.values import mask, members

if TYPE_CHECKING:
    from warpleague.games.sheets.state import Sheet, State

_GAP: Final = SIDE + 1
"""Columns from one sheet to the next."""

_YELLOW: Final = tuple((line, mask(line.cells)) for line in YELLOW_LINES)

_TODO: Final = {
    "roll": "the dice are rolled",
    "keep": "seat {} keeps a unit and discards one",
    "mark": "seat {} marks its kept units",
    "take": "seat {} may take a discarded die",
    "use": "seat {} uses the die it took",
    "lines": "seat {} draws its last free lines",
    "over": "the game is over",
}


def scene(state: State, viewer: int | None) -> Scene:
    """The whole picture; the same for every viewer, since nothing is hidden."""
    cells: list[Cell] = []
    pieces: list[Piece] = []
    links: list[Link] = []
    for seat, sheet in enumerate(state.sheets):
        cells += _boxes(seat, sheet.filled)
        links += _edges(seat, sheet.edges)
        for box in members(sheet.wormholes):
            row, column = divmod(box, SIDE)
            pieces.append(Piece(seat * _GAP + column, row, "wormhole", "○", owner=seat))
    panels = tuple(
        Panel(_title(state, seat), _sections(sheet), owner=seat) for seat, sheet in enumerate(state.sheets)
    )
    dice = Panel("dice", _dice_lines(state))
    # Beside one or two boards there is room for the dice; with more they go below the sheets.
    panels = (dice, *panels) if len(panels) <= 2 else (*panels, dice)
    todo = _TODO[state.phase].format(state.actor)
    turn = "" if state.phase in ("lines", "over") else f", turn of seat {state.seat}"
    return Scene(
        "square",
        tuple(cells),
        tuple(pieces),
        tuple(links),
        panels,
        f"Round {state.round} of {ROUNDS}{turn}: {todo}",
    )


# Most lines of a record change one sheet, few of them its boxes.


@lru_cache(maxsize=32)
def _boxes(seat: int, filled: int) -> tuple[Cell, ...]:
    """The white boxes of a sheet, row by row."""
    cells = []
    for box in range(BOXES):
        row, column = divmod(box, SIDE)
        full = filled >> box & 1
        cells.append(
            Cell(seat * _GAP + column, row, "filled-box" if full else "box", "■" if full else "", owner=seat)
        )
    return tuple(cells)


@lru_cache(maxsize=32)
def _edges(seat: int, edges: int) -> tuple[Link, ...]:
    """The drawn edges of a sheet."""
    links = []
    for edge in members(edges):
        row, column, down = place_of(edge)
        x, y = seat * _GAP + column - 0.5, row - 0.5
        links.append(Link(x, y, x + (not down), y + down, "edge", owner=seat))
    return tuple(links)


def _title(state: State, seat: int) -> str:
    points = sum(score_parts(state.sheets[seat]))
    out = ", retired" if seat in state.retired else ""
    return f"seat {seat}: {points} point{'' if points == 1 else 's'}{out}"


def _dice_lines(state: State) -> tuple[str, ...]:
    groups = [("in hand", state.hand), ("kept", state.kept), ("discarded", state.offered)]
    if state.taken >= 0:
        groups.append(("taken", 1 << state.taken))
    lines = []
    for name, units in groups:
        if units:
            # In this phase the values of the dice about to be rolled are those of the last roll.
            stale = state.phase == "roll" and units == (state.hand or state.offered)
            lines.append(f"{name}:")
            lines += [f"  {_die(state, unit, stale)}" for unit in members(units)]
    return tuple(lines) or ("no dice in play",)


def _die(state: State, unit: int, stale: bool) -> str:
    if stale:
        return UNITS[unit]
    value = state.dice[unit + 1] if unit else f"{state.dice[0]}-{state.dice[1]}"
    return f"{UNITS[unit]} {value}"


def _sections(sheet: Sheet) -> tuple[str, ...]:
    """The sections beside the white one, what is stored, and the points."""
    sign = {
        line.name: "✓" if sheet.yellow & cells == cells else "R" if line.reward == "reroll" else "L"
        for line, cells in _YELLOW
    }
    lines = []
    cell = 0
    for row, values in enumerate(TRIANGLE):
        marks = []
        for value in values:
            marks.append("×" if sheet.yellow >> cell & 1 else str(value))
            cell += 1
        lines.append(f"{'yellow' if row == 0 else '':<7}{' '.join(marks)}  {sign[f'row {row + 1}']}")
    lines.append(" " * 7 + " ".join(sign[f"column {column + 1}"] for column in range(SIDE)))
    lines.append(f"       diagonal {' '.join(str(TRIANGLE[i][i]) for i in range(3))}  {sign['diagonal']}")
    red = " ".join("×" if sheet.red >> value & 1 else str(value) for value in range(1, SIDE + 1))
    circles = [f"({value})" if value > 0 else f"×{-value}×" for value in sheet.blue]
    circles += ["( )"] * (CIRCLES - len(circles))
    single, double, linked = score_parts(sheet)
    # No line is longer than 35, so that two panels stand side by side in 80 columns.
    return (
        *lines,
        "       L free line, R reroll, ✓ had",
        f"red    {red}",
        f"blue   {' '.join(circles)}",
        f"stored free lines {sheet.free_lines}, rerolls {sheet.rerolls}",
        f"points boxes {single}, with wormhole {double}",
        f"       connections {linked}",
    )
