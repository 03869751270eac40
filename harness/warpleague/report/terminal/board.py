"""Prints a scene: caption, board, legend, and panels beside the board or below it.

The games say what there is to draw; `board` draws the board.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import attrs
from rich.console import Group
from rich.panel import Panel as Box
from rich.table import Table
from rich.text import Text

from warpleague.report.terminal.console import BAD, GOOD, QUIET, WARNING
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from warpleague.games.scene import Cell, Link, Panel, Piece, Scene


# -- styles ----------------------------------------------------------------------------------------------
# No kind differs by its colour alone, because not everybody sees all colours.

SEAT_STYLES: Final = (
    "color(31)",
    "color(130)",
    "color(28)",
    "color(132)",
    "color(64)",
    "color(63)",
    "color(97)",
    "color(131)",
    "color(162)",
    "color(30)",
)
"""One colour for each seat, the same in boards and tables; like all here, it can be read on white and on black."""


def seat_style(seat: int | None) -> str:
    """The colour of a seat; that of nobody for None."""
    return QUIET if seat is None else SEAT_STYLES[seat % len(SEAT_STYLES)]


@attrs.frozen
class CellStyle:
    """How a kind of cell looks: its glyph, its colour, and its name in the legend.

    `solid` cells are filled with their glyph; the others show it beside their label.
    """

    glyph: str = ""
    style: str = ""
    name: str = ""
    solid: bool = False


LOOKS: Final = {
    # captains
    "blank": CellStyle(),
    "orbit": CellStyle("o", "color(31)", "orbit"),
    "nebula": CellStyle("~", "color(63)", "nebula"),
    "cannon": CellStyle("+", WARNING, "cannon"),
    "blackhole": CellStyle("@", BAD, "black hole"),
    "planet": CellStyle("", "bold", "P0 planet"),
    "wild": CellStyle("", GOOD, "W3 wild wormhole"),
    "station": CellStyle("[]", "bold", "station"),
    "obstacle": CellStyle("#", QUIET, "obstacle", solid=True),
    # aliens
    "space": CellStyle("·", QUIET),
    "base": CellStyle("□", "", "base"),
    "wormhole": CellStyle(),
    "hidden-wormhole": CellStyle("", "", "S? value hidden"),
    # coasters: the homes of the living and of the dead
    "free": CellStyle("·", QUIET, "free"),
    "home": CellStyle(),
    "open": CellStyle(),
    "home-centre": CellStyle("⌂", "", "⌂0 home of seat 0"),
    "open-centre": CellStyle("∘", "", "∘0 its seat is out"),
    # sheets
    "box": CellStyle(),
    "filled-box": CellStyle("▒", "", "filled", solid=True),
}
"""By kind; other kinds are plain."""

PLAIN: Final = CellStyle("·", QUIET)

PIECES: Final = {"ship": "ship", "wormhole": "wormhole", "wormhole-inactive": "wormhole without its pair"}
"""Kinds of pieces that a legend names; the others' texts tell by themselves."""

FACINGS: Final = {"N": "▲", "NE": "◥", "E": "▶", "SE": "◢", "S": "▼", "SW": "◣", "W": "◀", "NW": "◤"}
"""Filled, to tell a ship's heading from an arrow printed on the board."""


# -- board -----------------------------------------------------------------------------------------------
# Draws the board of a scene in characters: hexes with outlines, squares with walls, pieces below labels.

_DOTTED: Final = frozenset({"box", "filled-box"})  # drawn with a dot at every corner
_REGIONS: Final = frozenset({"home", "home-centre", "open", "open-centre"})  # walled in by owner
_TARGETS: Final = frozenset({"aim", "jump"})  # links whose end is marked with a star

_Point = tuple[float, float]


class _Canvas:
    """Characters with styles, by row and column; later characters cover earlier ones."""

    def __init__(self) -> None:
        self._grid: dict[tuple[int, int], tuple[str, str]] = {}

    def put(self, row: int, column: int, text: str, style: str = "") -> None:
        """Write `text` to the right from `column`."""
        for shift, char in enumerate(text):
            self._grid[row, column + shift] = char, style

    def text(self) -> Text:
        """All that was put, without blanks at the ends of lines."""
        board = Text(no_wrap=True)
        lines: defaultdict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
        for (row, column), mark in self._grid.items():
            if mark[0] != " ":
                lines[row][column] = mark
        last = max(lines, default=0)
        for row in range(min(lines, default=0), last + 1):
            line = lines[row]
            for column in range(max(line, default=-1) + 1):
                board.append(*line.get(column, (" ", "")))
            if row < last:
                board.append("\n")
        return board


def draw_board(scene: Scene, width: int) -> Text:
    """The board of a scene with its cells, pieces and marked links, in `width` columns if it can be.

    `scene` must have cells.
    """
    pieces: defaultdict[_Point, list[Piece]] = defaultdict(list)
    for piece in scene.pieces:
        pieces[piece.x, piece.y].append(piece)
    canvas = _Canvas()
    if scene.shape == "hex":
        _draw_hexes(canvas, scene.cells, pieces, width)
    else:
        _draw_squares(canvas, scene, pieces, width)
    return canvas.text()


def legend(scene: Scene) -> tuple[str, ...]:
    """The legend of the glyphs that are on the board."""
    kinds = {cell.kind for cell in scene.cells}
    words = []
    for kind, look in LOOKS.items():
        if kind in kinds and look.name:
            apart = look.glyph and not look.name.startswith((look.glyph + "0", look.glyph + " "))
            words.append(f"{look.glyph * (2 if look.solid else 1)} {look.name}" if apart else look.name)
    pieces = {piece.kind: piece for piece in scene.pieces}
    for kind, name in PIECES.items():
        if kind in pieces:
            text = _piece_text(pieces[kind])
            words.append(f"{text} {name}{' (number:hit points left)' if ':' in text else ''}")
    if any(link.kind in _TARGETS for link in scene.links):
        words.append("* where it leads")
    return tuple(words)


def _piece_text(piece: Piece) -> str:
    return FACINGS.get(piece.facing, "") + piece.text


def _piece_style(piece: Piece) -> str:
    return seat_style(piece.owner) if piece.kind.endswith("-inactive") else f"bold {seat_style(piece.owner)}"


def _cell_style(cell: Cell) -> str:
    if cell.owner is not None:
        return seat_style(cell.owner)
    return LOOKS.get(cell.kind, PLAIN).style


def _put_pieces(canvas: _Canvas, row: int, column: int, width: int, pieces: Iterable[Piece]) -> None:
    """The pieces of a cell from left to right, uppermost (last) first; a plus if there is no room for all."""
    room = width
    for piece in reversed(list(pieces)):
        text = _piece_text(piece)
        if len(text) > room:
            canvas.put(row, column + width - 1, "+", "bold")
            return
        canvas.put(row, column + width - room, text, _piece_style(piece))
        room -= len(text)


# Hexes


def _draw_hexes(
    canvas: _Canvas, cells: Sequence[Cell], pieces: dict[_Point, list[Piece]], width: int
) -> None:
    r"""Flat-top hexes, two lines each, a column every five characters, or four if there is no room.

     ____
    /o 12\____       a label's first word beside the glyph of its kind,
    \_A__/~ 13\      below it the second word, then pieces
         \____/
    """
    left, top = min(cell.x for cell in cells), min(cell.y for cell in cells)
    right = max(cell.x for cell in cells)
    inside = 4 if (right - left + 1) * 5 + 1 <= width else 3
    for cell in cells:
        row, column = round(2 * (cell.y - top)), round(cell.x - left) * (inside + 1)
        canvas.put(row, column + 1, "_" * inside, QUIET)
        canvas.put(row + 2, column + 1, "_" * inside, QUIET)
        for line, (begin, end) in enumerate((("/", "\\"), ("\\", "/")), 1):
            canvas.put(row + line, column, begin, QUIET)
            canvas.put(row + line, column + inside + 1, end, QUIET)
    for cell in cells:
        row, column = round(2 * (cell.y - top)) + 1, round(cell.x - left) * (inside + 1) + 1
        look, style = LOOKS.get(cell.kind, PLAIN), _cell_style(cell)
        here = pieces[cell.x, cell.y]
        if look.solid:
            for line in (row, row + 1):
                canvas.put(line, column, look.glyph * inside, style)
        first, _, second = cell.label.partition(" ")
        if first[:1].isdigit():
            canvas.put(row, column, f"{first:>{inside}}", style)
            # In the narrow form the glyph gives way to pieces.
            canvas.put(row + (inside < 4), column, look.glyph, style)
        elif not look.solid:
            canvas.put(row, column, (first or look.glyph).center(inside), style)
        canvas.put(row + 1, column, second[:inside], style)
        used = min(len(second), inside - 1)
        _put_pieces(canvas, row + 1, column + used, inside - used, here)


# Squares


def _draw_squares(canvas: _Canvas, scene: Scene, pieces: dict[_Point, list[Piece]], most: int) -> None:
    """Squares, with walls between those that links or regions part.

    Pieces stand left of the label if both fit into a line of five characters, else below it.
    """
    cells = scene.cells
    left, top = round(min(cell.x for cell in cells)), round(min(cell.y for cell in cells))
    right, bottom = round(max(cell.x for cell in cells)), round(max(cell.y for cell in cells))
    dotted = any(cell.kind in _DOTTED for cell in cells)
    across, down = _walls(scene)
    labels = max(len(cell.label) for cell in cells if cell.kind not in _DOTTED) if not dotted else 0
    texts = max((sum(len(_piece_text(p)) for p in there) for there in pieces.values()), default=0)
    below = labels + texts > 4
    if dotted:
        width = 3 if (right - left + 1) * 4 + 8 <= most else 2
    else:
        width = max(5, labels + 1, texts + 1) if below else 5
    height = 2 if below else 1

    filled = {round(cell.x) for cell in cells}
    columns = _places(
        left,
        right,
        {x: width if x in filled else 2 * width for x in range(left, right + 2)},
        None if dotted else {x for x, _ in down},
    )
    rows = _places(
        top, bottom, dict.fromkeys(range(top, bottom + 2), height), None if dotted else {y for _, y in across}
    )

    if dotted:
        for cell in cells:
            x, y = round(cell.x), round(cell.y)
            for corner_x in (x, x + 1):
                for corner_y in (y, y + 1):
                    canvas.put(rows[corner_y] - 1, columns[corner_x] - 1, "·", QUIET)
    strong = "━┃" if dotted else "─│"
    for (x, y), style in across.items():
        canvas.put(rows[y] - 1, columns[x], strong[0] * width, style)
    for (x, y), style in down.items():
        for line in range(height):
            canvas.put(rows[y] + line, columns[x] - 1, strong[1], style)
    if not dotted:
        _put_corners(canvas, across, down, rows, columns)

    put = _put_box if dotted else _put_below if below else _put_beside
    for cell in cells:
        put(canvas, rows[round(cell.y)], columns[round(cell.x)], width, cell, pieces[cell.x, cell.y])
    for link in scene.links:
        if link.kind in _TARGETS:
            x, y = round(link.x2), round(link.y2)
            canvas.put(rows[y], columns[x] + width - 1, "*", f"bold {seat_style(link.owner)}")


def _places(first: int, last: int, sizes: dict[int, int], walled: set[int] | None) -> dict[int, int]:
    """Where each row (or column) from `first` to one past `last` begins, in characters.

    A line of its own for walls comes before those that are `walled`, or before all if that is None.
    """
    places, at = {}, 0
    for number in range(first, last + 2):
        at += walled is None or number in walled
        places[number] = at
        at += sizes[number]
    return places


def _put_box(canvas: _Canvas, row: int, column: int, width: int, cell: Cell, pieces: list[Piece]) -> None:
    """A dotted square: filled or not, a piece in its middle."""
    look = LOOKS.get(cell.kind, PLAIN)
    if look.solid:
        canvas.put(row, column, look.glyph * width, _cell_style(cell))
    for piece in pieces:
        canvas.put(row, column + width // 2, piece.text[:1], _piece_style(piece))


def _put_below(canvas: _Canvas, row: int, column: int, width: int, cell: Cell, pieces: list[Piece]) -> None:
    """A square of two lines: the label above, pieces or the glyph with its owner below."""
    look, style = LOOKS.get(cell.kind, PLAIN), _cell_style(cell)
    canvas.put(row, column, cell.label or look.glyph, style)
    if pieces:
        _put_pieces(canvas, row + 1, column, width - 1, pieces)
    elif cell.label and look.glyph:
        canvas.put(row + 1, column, f"{look.glyph}{'' if cell.owner is None else cell.owner}", style)


def _put_beside(canvas: _Canvas, row: int, column: int, width: int, cell: Cell, pieces: list[Piece]) -> None:
    """A square of one line: pieces left of the label, or in its place."""
    canvas.put(row, column + 2, cell.label or LOOKS.get(cell.kind, PLAIN).glyph, _cell_style(cell))
    if pieces and cell.label:
        _put_pieces(canvas, row, column, 2, pieces)
    elif pieces:
        _put_pieces(canvas, row, column + 1, width - 1, pieces)


def _walls(scene: Scene) -> tuple[dict[tuple[int, int], str], dict[tuple[int, int], str]]:
    """The walls above cells and those left of cells, each by its cell, with their styles.

    They are links between corners (half columns and rows), and the borders of regions of one owner.
    """
    across: dict[tuple[int, int], str] = {}
    down: dict[tuple[int, int], str] = {}

    for link in filter(_is_wall, scene.links):
        x, y = round(min(link.x1, link.x2) + 0.5), round(min(link.y1, link.y2) + 0.5)
        (down if link.x1 == link.x2 else across)[x, y] = seat_style(link.owner)
    owners = {(round(cell.x), round(cell.y)): cell.owner for cell in scene.cells if cell.kind in _REGIONS}
    for x, y in owners:
        for walls, one, other in (
            (across, (x, y), (x, y - 1)),
            (across, (x, y + 1), (x, y + 1)),
            (down, (x, y), (x - 1, y)),
            (down, (x + 1, y), (x + 1, y)),
        ):
            if owners.get(other) != owners[x, y] or other not in owners:
                walls[one] = QUIET
    return across, down


def _is_wall(link: Link) -> bool:
    between = link.x1 % 1 == 0.5 and (link.x1 == link.x2 or link.y1 == link.y2)
    return between and not link.kind.startswith("open-")


def _put_corners(
    canvas: _Canvas,
    across: dict[tuple[int, int], str],
    down: dict[tuple[int, int], str],
    rows: dict[int, int],
    columns: dict[int, int],
) -> None:
    """Join walls where they meet, and carry them on past lines that only other walls need."""
    joints = " ╴╶─╵┘└┴╷┐┌┬│┤├┼"  # by bits: left, right, up, down
    points = {(x + dx, y) for x, y in across for dx in (0, 1)} | {
        (x, y + dy) for x, y in down for dy in (0, 1)
    }
    for x, y in points:
        bits = (
            ((x - 1, y) in across) + 2 * ((x, y) in across) + 4 * ((x, y - 1) in down) + 8 * ((x, y) in down)
        )
        canvas.put(rows[y] - 1, columns[x] - 1, joints[bits], QUIET)


# -- scene -----------------------------------------------------------------------------------------------


@attrs.frozen
class Picture:
    """A scene that rich can print, laid out for the width it is printed in."""

    scene: Scene

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(*_parts(self.scene, options.max_width))


def _parts(scene: Scene, width: int) -> list[RenderableType]:
    """Caption, board, legend and panels, `width` columns wide."""
    parts: list[RenderableType] = []
    if scene.caption:
        parts.append(Text(safe(scene.caption), style="bold"))
    panels = scene.panels
    if scene.cells:
        board = _board(scene, width)
        lines = board.plain.count("\n") + 1
        beside = _beside(panels, width - _across_lines(board) - 2, lines)
        if beside:
            grid = Table.grid(padding=(0, 2))
            grid.add_row(board, Group(*map(_box, beside)))
            parts.append(grid)
            panels = panels[len(beside) :]
        else:
            parts.append(board)
        if words := legend(scene):
            parts.append(Text(_wrapped(words, width), style=QUIET))
    if panels:
        parts.append(_columns(panels, width))
    return parts


def _board(scene: Scene, width: int) -> Text:
    """The board; sheets that do not fit side by side into `width` columns come in several rows."""
    board = draw_board(scene, width)
    owners = list(dict.fromkeys(cell.owner for cell in scene.cells))
    if not scene.apart:
        return board
    for rows in range(2, len(owners) + 1):
        if _across_lines(board) <= width:
            break
        count = -(-len(owners) // rows)
        groups = [set(owners[at : at + count]) for at in range(0, len(owners), count)]
        board = Text("\n\n").join(draw_board(_of(scene, group), width) for group in groups)
    return board


def _across_lines(board: Text) -> int:
    return max(map(len, board.plain.split("\n")))


def _of(scene: Scene, owners: set[int | None]) -> Scene:
    """The part of a scene that belongs to these owners."""
    return attrs.evolve(
        scene,
        cells=tuple(cell for cell in scene.cells if cell.owner in owners),
        pieces=tuple(piece for piece in scene.pieces if piece.owner in owners),
        links=tuple(link for link in scene.links if link.owner in owners),
    )


def _wrapped(words: Sequence[str], width: int) -> str:
    """Entries three blanks apart, none broken at the end of a line."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 3 + len(word) <= width:
            lines[-1] += f"   {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _beside(panels: Sequence[Panel], width: int, height: int) -> Sequence[Panel]:
    """As many of the first panels as fit into `width` columns and `height` lines."""
    for count, panel in enumerate(panels):
        height -= len(panel.lines) + 2
        if height < 0 or _across(panel) > width:
            return panels[:count]
    return panels


def _across(panel: Panel) -> int:
    """The columns a panel's box takes."""
    return max(map(len, (panel.title, *panel.lines))) + 4


def _columns(panels: Sequence[Panel], width: int) -> Table:
    """Panels in as many columns as fit, each put where there is most room."""
    count = max(1, min(len(panels), (width + 1) // (max(map(_across, panels)) + 1)))
    columns: list[list[Panel]] = [[] for _ in range(count)]
    for panel in panels:
        shortest = min(columns, key=lambda column: sum(len(other.lines) + 2 for other in column))
        shortest.append(panel)
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(*(Group(*map(_box, column)) for column in columns))
    return grid


def _box(panel: Panel) -> Box:
    return Box(
        Text(safe("\n".join(panel.lines))),
        title=Text(safe(panel.title)),
        border_style=seat_style(panel.owner),
        expand=False,
    )
