"""Draws the sheets of a game and tells its events in English.

Leaves colours, sizes and the layout of panels to the painters. The white sections are cells, wormholes pieces
and drawn edges links, the sheets side by side; a panel for each seat has the other sections in text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from warpleague.games.scene import Cell, Link, Panel, Piece, Scene
from warpleague.games.sheets.actions import UNITS
from warpleague.games.sheets.geometry import (
    BOXES,
    CIRCLES,
    EDGES,
    ROUNDS,
    SIDE,
    TRIANGLE,
    VERTICAL,
    YELLOW_LINES,
    mask,
    members,
)
from warpleague.games.sheets.state import Sheet, score_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.sheets.state import State

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


def scene(state: State) -> Scene:
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
        row, column, down = _place(edge)
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
    value: Any = state.dice[unit + 1] if unit else list(state.dice[:2])
    return f"{UNITS[unit]} {_shown(value)}"


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


def _place(edge: int) -> tuple[int, int, bool]:
    """Row and column (0-6) of the dot where `edge` starts, and whether it goes down instead of right."""
    if edge < VERTICAL:
        return (*divmod(edge, SIDE), False)
    return (*divmod(edge - VERTICAL, SIDE + 1), True)


# Events.


def _edge_name(edge: int) -> str:
    """Where an edge is, in words."""
    if not 0 <= edge < EDGES:
        return f"edge {edge}"
    row, column, down = _place(edge)
    sides, last = (("left", "right"), column) if down else (("top", "bottom"), row)
    side = sides[last == SIDE]
    return f"the {side} edge of {_box_name(min(row, SIDE - 1) * SIDE + min(column, SIDE - 1))}"


def _box_name(box: int) -> str:
    row, column = divmod(box, SIDE)
    return f"box {box} (row {row + 1}, column {column + 1})"


def _shown(value: Any) -> str:
    return "-".join(str(one) for one in value) if isinstance(value, (list, tuple)) else str(value)


def _fills(event: Mapping[str, Any]) -> str:
    filled = event["filled"]
    return ", filling " + " and ".join(_box_name(box) for box in filled) if filled else ""


def tell(event: Mapping[str, Any]) -> str:
    """One line of English for an event's JSON form."""
    kind = event["event"]
    who = f"seat {event['seat']}"
    if kind == "turn":
        return f"round {event['round']}: turn of {who}"
    if kind == "rolled":
        return f"{who} rolls " + ", ".join(f"{unit} {_shown(value)}" for unit, value in event["dice"].items())
    if kind == "reroll":
        return f"{who} spends a reroll"
    if kind == "kept":
        return (
            f"{who} keeps {event['unit']} {_shown(event['value'])}"
            f" and discards {event['discard']} {event['discarded']}"
        )
    if kind == "line":
        means = "a free line" if event["free"] else "white"
        return f"{who} draws {_edge_name(event['edge'])} with {means}{_fills(event)}"
    if kind == "yellow":
        return f"{who} marks yellow cell {event['cell']} with {event['unit']} {event['value']}"
    if kind == "reward":
        return f"{who} gets a {event['reward'].replace('-', ' ')} for {event['from']}"
    if kind == "red":
        gain = "completing no box" if event["box"] is None else f"completing {_box_name(event['box'])}"
        more = [box for box in event["filled"] if box != event["box"]]
        also = " and with it " + " and ".join(_box_name(box) for box in more) if more else ""
        return f"{who} marks red {event['value']} with {event['unit']}, {gain}{also}"
    if kind == "blue":
        if event["box"] is None:
            return f"{who} writes {event['value']} into a circle with {event['unit']}"
        return (
            f"{who} crosses out circle {event['value']} with {event['unit']}:"
            f" a wormhole in {_box_name(event['box'])}"
        )
    if kind == "lost":
        return f"{who} has no use for {', '.join(event['units'])}"
    if kind == "took":
        return f"{who} takes the discarded {event['unit']} {event['value']}"
    if kind == "passed":
        return f"{who} passes"
    if kind == "retired":
        return f"{who} is out"
    return f"{who}: {kind}"
