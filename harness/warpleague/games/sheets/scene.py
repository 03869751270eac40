"""The picture of a game of sheets.

The sheets lie side by side. The boxes of the white section are cells, its wormholes are pieces, and its edges are
links. The other sections are trays, and text in a panel for each seat.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.games.sheets.actions import UNITS
from warpleague.games.sheets.geometry import (
    BOXES,
    CIRCLES,
    EDGES,
    ROUNDS,
    SIDE,
    TRIANGLE,
    YELLOW_LINES,
    place_of,
)
from warpleague.games.sheets.score import PARTS, score_parts
from warpleague.games.values import CacheByIdentity, mask, members
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.games.sheets.state import State

_GAP: Final = SIDE + 1
"""Columns from one sheet to the next."""

_YELLOW: Final = tuple((line, mask(line.cells)) for line in YELLOW_LINES)

_TODO: Final = {
    "roll": "the dice are rolled",
    "keep": "seat {} keeps a die and gives one away",
    "mark": "seat {} uses the dice it kept",
    "take": "seat {} may take a die that was given away",
    "use": "seat {} uses the die it took",
    "lines": "seat {} draws its last free lines",
    "over": "the game is over",
}


def scene(state: State, viewer: int | None) -> Scene:
    """The whole picture; the same object for every viewer, since nothing is hidden."""
    return _SCENES[state]


def _drawn(state: State) -> Scene:
    cells: list[Cell] = []
    pieces: list[Piece] = []
    links: list[Link] = []
    for seat, sheet in enumerate(state.sheets):
        cells += _boxes(seat, sheet.filled)
        links += _edges(seat, sheet.edges)
        pieces += _wormholes(seat, sheet.wormholes)
    points = [score_parts(sheet) for sheet in state.sheets]
    sections = [
        _sections(seat, sheet.yellow, sheet.red, sheet.blue, (sheet.free_lines, sheet.rerolls), points[seat])
        for seat, sheet in enumerate(state.sheets)
    ]
    panels = tuple(
        Panel(_title(state, seat, sum(points[seat])), lines, seat, len(lines))
        for seat, (lines, _, _) in enumerate(sections)
    )
    dice_lines = _dice_lines(state)
    dice = Panel("dice", dice_lines, drawn=len(dice_lines))
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
        trays=(
            *(tray for _, trays, _ in sections for tray in trays),
            *_dice(state),
        ),
        legend=_LEGEND,
        columns=_FACES,
        rows=_FACES,
        scores=tuple(float(sum(parts)) for parts in points),
        apart=True,
        seat_lines=tuple([line for _, _, line in sections]),
        turn=(state.round, state.seat) if state.phase not in ("lines", "over") else None,
        focus=state.actor if state.actor >= 0 else state.seat,
    )


_SCENES: Final = CacheByIdentity(_drawn, 1)


# Most lines of a record change one sheet, few of them its boxes: the rest is the same object as in the scene before.


@lru_cache(maxsize=32)
def _boxes(seat: int, filled: int) -> tuple[Cell, ...]:
    """The white boxes of a sheet, row by row."""
    cells = []
    for box in range(BOXES):
        row, column = divmod(box, SIDE)
        full = filled >> box & 1
        cells.append(
            Cell(
                seat * _GAP + column,
                row,
                "filled-box" if full else "box",
                "■" if full else "",
                seat,
                f"box-{seat}-{box}",
            )
        )
    return tuple(cells)


@lru_cache(maxsize=32)
def _edges(seat: int, edges: int) -> tuple[Link, ...]:
    """All edges of a sheet, drawn or not."""
    links = []
    for edge in range(EDGES):
        row, column, down = place_of(edge)
        x, y = seat * _GAP + column - 0.5, row - 0.5
        kind = "edge" if edges >> edge & 1 else "open-edge"
        links.append(Link(x, y, x + (not down), y + down, kind, seat, f"edge-{seat}-{edge}"))
    return tuple(links)


@lru_cache(maxsize=32)
def _wormholes(seat: int, boxes: int) -> tuple[Piece, ...]:
    """The wormholes of a sheet."""
    return tuple(
        Piece(
            seat * _GAP + box % SIDE,
            box // SIDE,
            "wormhole",
            "○",
            seat,
            id=f"wormhole-{seat}-{box}",
            glyph="wormhole",
        )
        for box in members(boxes)
    )


@lru_cache(maxsize=32)
def _sections(
    seat: int,
    yellow: int,
    red: int,
    blue: tuple[int, ...],
    stored: tuple[int, int],
    points: tuple[int, int, int],
) -> tuple[tuple[str, ...], tuple[Tray, ...], str]:
    """The sections beside the white one, the free lines and rerolls stored, and the points: as text and in trays.

    Third, the boxes, those with a wormhole and the connections in one line.
    """
    single, double, linked = points
    line = f"{counted(single + double // 2, 'box')} · {double // 2} doubled · {counted(linked // 3, 'connection')}"
    trays = tuple(_printed(seat, yellow, red, blue, stored, points))
    return _text(yellow, red, blue, stored, points), trays, line


_FACES: Final = tuple(f"die-{value}" for value in range(1, SIDE + 1))
_LEGEND: Final = (
    ("box", ""),
    ("open-edge", ""),
    ("edge", "edge drawn"),
    ("filled-box", "box with all four edges"),
    ("wormhole", "wormhole: doubles its box, and neighbours connect"),
    ("yellow", "yellow: mark a number; a full line brings its reward"),
    ("red", "red: mark a value to complete a box"),
    ("blue", "blue: write a value; the same again draws a wormhole"),
    ("free-line", "free line: any edge"),
    ("reroll", "reroll of the dice"),
    ("diagonal", "reward of the diagonal from the top left"),
    ("score", ""),
    ("white", "the white pair names a box"),
    ("black", "black: counts as yellow, red or blue from round 5 on"),
)
_STORED: Final = {"free-line": "line", "reroll": "reroll"}


def _dice(state: State) -> Iterator[Tray]:
    """The dice in hand, kept, discarded and taken."""
    taken = 1 << state.taken if state.taken >= 0 else 0
    for name, units, stale in _groups(state):
        row = []
        # Where all may take a die that was given away, it also stays among the discarded.
        for unit in members(units & ~taken if name == "discarded" else units):
            kind = UNITS[unit].partition("-")[0]
            for at, value in enumerate(state.dice[:2] if unit == 0 else (state.dice[unit + 1],)):
                face = "die" if stale or not value else f"die-{value}"
                row.append(Item(kind, "", f"unit-{UNITS[unit]}{'-second' if at else ''}", face))
        yield Tray(name.title(), (tuple(row),))


@lru_cache(maxsize=32)
def _printed_yellow(seat: int, marked: int) -> Tray:
    """The yellow triangle; behind each row its reward, below it those of the columns."""
    had = {line.name: marked & cells == cells for line, cells in _YELLOW}
    rewards = {line.name: line.reward for line, _ in _YELLOW}

    def reward(name: str, kind: str = "") -> Item:
        what = rewards[name]
        return Item(kind or what, "", f"{name.replace(' ', '-')}-{seat}", _STORED[what], had[name])

    rows, cell = [], 0
    for row, values in enumerate(TRIANGLE):
        items = []
        for value in values:
            items.append(
                Item("yellow", str(value), f"yellow-{seat}-{cell}", "card", bool(marked >> cell & 1))
            )
            cell += 1
        items.append(reward(f"row {row + 1}"))
        if row == 3:  # where the diagonal leads
            items.append(reward("diagonal", "diagonal"))
        rows.append(tuple(items))
    rows.append(tuple(reward(f"column {column + 1}") for column in range(SIDE)))
    return Tray("Yellow", tuple(rows), seat)


def _printed(
    seat: int,
    yellow: int,
    red: int,
    blue: tuple[int, ...],
    stored: tuple[int, int],
    points: tuple[int, int, int],
) -> Iterator[Tray]:
    """The sections in trays."""
    yield _printed_yellow(seat, yellow)
    values = [
        Item("red", "", f"red-{seat}-{value}", f"die-{value}", bool(red >> value & 1))
        for value in range(1, SIDE + 1)
    ]
    yield Tray("Red", (tuple(values),), seat)
    written = (*blue, *(0,) * (CIRCLES - len(blue)))
    circles = [
        Item("blue", str(abs(value)) if value else "", f"blue-{seat}-{at}", "circle", value < 0)
        for at, value in enumerate(written)
    ]
    yield Tray("Blue", (tuple(circles),), seat)
    items = [
        Item(kind, "", f"{kind}-{seat}-{i}", glyph)
        for (kind, glyph), count in zip(_STORED.items(), stored, strict=True)
        for i in range(count)
    ]
    yield Tray("Stored", (tuple(items),), seat)
    parts = zip(PARTS, points, strict=True)
    yield Tray("Points", tuple((Item("score", f"{name}: {number}"),) for name, number in parts), seat)


def _title(state: State, seat: int, points: int) -> str:
    out = ", retired" if seat in state.retired else ""
    return f"seat {seat}: {counted(points, 'point')}{out}"


def _groups(state: State) -> list[tuple[str, int, bool]]:
    """The dice by what was done with them: a name, the set of units, and whether their values are old."""
    groups = [("in hand", state.hand), ("kept", state.kept), ("discarded", state.offered)]
    if state.taken >= 0:
        groups.append(("taken", 1 << state.taken))
    # In this phase the values of the dice about to be rolled are those of the last roll.
    rolled = state.hand or state.offered if state.phase == "roll" else 0
    return [(name, units, units == rolled) for name, units in groups if units]


def _dice_lines(state: State) -> tuple[str, ...]:
    lines = []
    for name, units, stale in _groups(state):
        lines.append(f"{name}:")
        lines += [f"  {_die(state, unit, stale)}" for unit in members(units)]
    return tuple(lines) or ("no dice in play",)


def _die(state: State, unit: int, stale: bool) -> str:
    if stale:
        return UNITS[unit]
    value = state.dice[unit + 1] if unit else f"{state.dice[0]}-{state.dice[1]}"
    return f"{UNITS[unit]} {value}"


def _text(
    yellow: int, red: int, blue: tuple[int, ...], stored: tuple[int, int], points: tuple[int, int, int]
) -> tuple[str, ...]:
    """The sections as lines of text."""
    sign = {
        line.name: "✓" if yellow & cells == cells else "R" if line.reward == "reroll" else "L"
        for line, cells in _YELLOW
    }
    lines = []
    cell = 0
    for row, numbers in enumerate(TRIANGLE):
        marks = []
        for value in numbers:
            marks.append("×" if yellow >> cell & 1 else str(value))
            cell += 1
        lines.append(f"{'yellow' if row == 0 else '':<7}{' '.join(marks)}  {sign[f'row {row + 1}']}")
    lines.append(" " * 7 + " ".join(sign[f"column {column + 1}"] for column in range(SIDE)))
    lines.append(f"       diagonal {' '.join(str(TRIANGLE[i][i]) for i in range(3))}  {sign['diagonal']}")
    values = " ".join("×" if red >> value & 1 else str(value) for value in range(1, SIDE + 1))
    circles = [f"({value})" if value > 0 else f"×{-value}×" for value in blue]
    circles += ["( )"] * (CIRCLES - len(circles))
    single, double, linked = points
    free_lines, rerolls = stored
    # No line is longer than 35, so that two panels stand side by side in 80 columns.
    return (
        *lines,
        "       L free line, R reroll, ✓ had",
        f"red    {values}",
        f"blue   {' '.join(circles)}",
        f"stored free lines {free_lines}, rerolls {rerolls}",
        f"points boxes {single}, with wormhole {double}",
        f"       connections {linked}",
    )
