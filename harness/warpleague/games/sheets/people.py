"""What persons see of sheets: the picture, what to click in it, actions in words, and the rules in a minute.

The sheets lie side by side. The boxes of the white section are cells, its wormholes are pieces, and its edges are
links. The other sections are trays, and text in a panel for each seat.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, assert_never

from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.games.sheets.events import ENDINGS, box_name, cell_name, edge_name, place_name
from warpleague.games.sheets.geometry import (
    BLACK_1,
    BLACK_2,
    BOXES,
    CELL_LINES,
    CIRCLES,
    EDGE_BOXES,
    EDGES,
    ROUNDS,
    SIDE,
    TRIANGLE,
    UNIT_NUMBER,
    UNITS,
    WHITE_UNIT,
    YELLOW_LINES,
    Action,
    Blue,
    FreeLine,
    Keep,
    Line,
    Pass,
    Red,
    Reroll,
    Take,
    Yellow,
    place_of,
)
from warpleague.games.sheets.rules import BLACK_BLUE_ROUND, BLACK_RED_ROUND, PARTS, score_parts
from warpleague.games.sheets.state import State, key
from warpleague.games.values import mask, members
from warpleague.games.words import Guide
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence


_GAP: Final = SIDE + 1
"""Columns from one sheet to the next."""

_YELLOW: Final = tuple((line, mask(line.cells)) for line in YELLOW_LINES)

_TODO: Final = {
    "roll": "the dice are rolled",
    "keep": "seat {} keeps a die and gives one away",
    "mark": "seat {} uses the dice that were kept",
    "take": "seat {} may take a die that was given away",
    "use": "seat {} uses the die that was taken",
    "lines": "seat {} draws its last free lines",
    "over": ENDINGS["completed"],
}


_BLACK: Final = (
    f"yellow, from round {BLACK_RED_ROUND} also as red, and from round {BLACK_BLUE_ROUND} also as blue"
)
"""What a black die counts as."""


def scene(state: State, viewer: int | None) -> Scene:
    """The whole picture; the same object for every viewer, since nothing is hidden."""
    which = key(state)
    if which not in _last_scene:
        _last_scene.clear()
        _last_scene[which] = _drawn(state)
    return _last_scene[which]


_last_scene: dict[Hashable, Scene] = {}
"""By the key of its position: a record is drawn position by position, each for several viewers."""


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
    turn = "" if state.phase in ("lines", "over") else f", seat {state.seat}'s turn"
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
    ("black", f"black: counts as {_BLACK}"),
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
    out = ", left the match" if seat in state.retired else ""
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
    colour = UNITS[unit].partition("-")[0]
    if stale:
        return colour
    value = state.dice[unit + 1] if unit else f"{state.dice[0]}-{state.dice[1]}"
    return f"{colour} {value}"


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


# -- what is clicked: the die, then where it is used -------------------------------------------------------


def targets(state: State, action: Action) -> Sequence[str]:
    """The ids of the scene; none for a pass."""
    seat = state.actor
    if isinstance(action, Keep):
        return f"unit-{action.unit}", f"unit-{action.discard}"
    if isinstance(action, Line):
        return "unit-white", f"edge-{seat}-{action.edge}"
    if isinstance(action, FreeLine):
        return (f"edge-{seat}-{action.edge}",)
    if isinstance(action, Yellow):
        return f"unit-{action.unit}", f"yellow-{seat}-{action.cell}"
    if isinstance(action, Red):
        return (f"unit-{action.unit}", f"red-{seat}-{action.value}", *_box(seat, action.box))
    if isinstance(action, Blue):
        blue = state.sheets[seat].blue
        # Written into the next circle, or crossed out where the value stands.
        circle = len(blue) if action.box is None else blue.index(action.value)
        return (f"unit-{action.unit}", f"blue-{seat}-{circle}", *_box(seat, action.box))
    if isinstance(action, Take):
        return (f"unit-{action.unit}",)
    return (f"reroll-{seat}-0",) if isinstance(action, Reroll) else ()


def _box(seat: int, box: int | None) -> Sequence[str]:
    return () if box is None else (f"box-{seat}-{box}",)


# -- words -------------------------------------------------------------------------------------------------


_REWARDS: Final = {"free-line": "a free line", "reroll": "a reroll"}


def phrase(state: State, action: Action) -> str:
    """`action` as a sentence."""
    match action:
        case Keep(unit=unit, discard=discard):
            return f"Keep {_die_in_words(state, unit)} and give away {_die_in_words(state, discard)}"
        case Reroll():
            return "Spend a reroll: roll all dice in hand again"
        case Line(edge=edge):
            return f"Draw {edge_name(edge)} with {_die_in_words(state, 'white')}{_fills(state, edge)}"
        case FreeLine(edge=edge):
            return f"Draw {edge_name(edge)} with a free line{_fills(state, edge)}"
        case Yellow(cell=cell, unit=unit):
            return (
                f"Mark the yellow {cell_name(cell)} with {_die_in_words(state, unit)}{_rewards(state, cell)}"
            )
        case Red(value=value, box=box, unit=unit):
            gain = ": no box is left to complete" if box is None else f" and complete {box_name(box)}"
            return f"Mark the red {value} with {_die_in_words(state, unit)}{gain}"
        case Blue(value=value, box=None, unit=unit):
            return f"Write {value} into a blue circle with {_die_in_words(state, unit)}"
        case Blue(value=value, box=box, unit=unit):
            assert box is not None
            what = f"the blue {value} with {_die_in_words(state, unit)}"
            return f"Cross out {what} and draw a wormhole in {place_name(box)}"
        case Take(unit=unit):
            return f"Take {_die_in_words(state, unit)}"
        case Pass():
            return "Draw no more lines" if state.phase == "lines" else "Take no die"
        case _:
            assert_never(action)


def heading(state: State, seat: int) -> str:
    """The decision of `seat` as a heading."""
    if state.phase == "keep":
        return "Choose a die to keep, and one to give away"
    if state.phase == "mark":
        return f"Use what you kept: {', '.join(_die_in_words(state, UNITS[unit]) for unit in members(state.kept))}"
    if state.phase == "take":
        return "Take one of the dice given away, or none"
    if state.phase == "use":
        return f"Use the die you took: {_die_in_words(state, UNITS[state.taken])}"
    return f"Draw {counted(state.sheets[seat].free_lines, 'free line')}, the last of the game"


def _die_in_words(state: State, name: str) -> str:
    """A die with its value, or the white pair; equal black dice are told apart."""
    unit = UNIT_NUMBER[name]
    if unit == WHITE_UNIT:
        return f"the white pair {state.dice[0]}-{state.dice[1]}"
    value = state.dice[unit + 1]
    if unit not in (BLACK_1, BLACK_2):
        return f"{name} {value}"
    if state.dice[BLACK_1 + 1] == state.dice[BLACK_2 + 1]:
        return f"the {'first' if unit == BLACK_1 else 'second'} black {value}"
    return f"black {value}"


def _fills(state: State, edge: int) -> str:
    """Whether an edge is the last one of a box, or of both beside it."""
    edges = state.sheets[state.actor].edges | 1 << edge
    filled = sum(edges & own == own for own, _ in EDGE_BOXES[edge])
    return f", which fills {counted(filled, 'box')}" if filled else ""


def _rewards(state: State, cell: int) -> str:
    """What the lines bring that a yellow mark completes."""
    yellow = state.sheets[state.actor].yellow | 1 << cell
    had = [_REWARDS[line.reward] for cells, line in CELL_LINES[cell] if yellow & cells == cells]
    return f", which brings {' and '.join(had)}" if had else ""


# -- the goal, the rules in a minute, and a first turn -----------------------------------------------------


_GUIDE: Final = Guide(
    goal=f"Have the most points after {ROUNDS} rounds: fill boxes, draw wormholes into them, and join wormholes.",
    rules=(
        "In your turn the dice are rolled three times. After each roll keep one and give one away. "
        "The two white dice count as one.",
        "Then use the three that you kept. White: draw an edge of the box whose row and column the two dice name. "
        "Yellow: mark this number; a full line brings a free line or a reroll.",
        "Red: mark this number and complete a box in its row or column. Blue: write the number; when it comes again, "
        "draw a wormhole in its row or column.",
        f"A black die can be used as {_BLACK}.",
        "Then each of the others may take one of the dice that you gave away.",
        "A filled box is worth 1 point, with a wormhole 2. Two wormholes side by side are worth 3.",
    ),
    turn=(
        ((5, 3, 4, 1, 2, 2, 0), "All dice are rolled."),
        (
            {"do": "keep", "unit": "red", "discard": "blue"},
            "Red 3 completes a whole box. A blue 1 helps the others little.",
        ),
        ((4, 0, 3, 2, 5), "The dice that are left are rolled again."),
        (
            {"do": "keep", "unit": "yellow", "discard": "black-1"},
            "Yellow 6 marks a number of the yellow triangle.",
        ),
        ((2, 2, 0), "The last roll: what is left is kept and given away."),
        ({"do": "red", "value": 3, "box": 15, "unit": "red"}, "All four edges of this box are drawn."),
        (
            {"do": "yellow", "cell": 5, "unit": "yellow"},
            "It is the only number of column 6: a full line brings a reward.",
        ),
        (
            {"do": "line", "edge": 14},
            "The white dice name the box in row 3, column 3. One edge of it was drawn already.",
        ),
    ),
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
