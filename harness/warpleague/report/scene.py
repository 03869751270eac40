"""How a scene looks in a terminal: cells as short texts on a grid, pieces on them, panels beside or below.

Leaves what there is to draw to the games; kinds without a style of their own get the plain one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.columns import Columns
from rich.console import Group
from rich.panel import Panel as Box
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpleague.games.scene import Cell, Scene

SEAT_STYLES: Final = (
    "bright_cyan",
    "bright_magenta",
    "bright_yellow",
    "bright_green",
    "bright_red",
    "bright_blue",
    "cyan",
    "magenta",
    "yellow",
    "green",
)
"""One colour for each seat, the same in boards and tables."""

RIVAL: Final = "the game's own opponent"
"""What a solo game's opponent is called beside the bots."""

_ARROWS: Final = {
    "N": "↑",
    "NE": "↗",
    "E": "→",
    "SE": "↘",
    "S": "↓",
    "SW": "↙",
    "W": "←",
    "NW": "↖",
}
_CELL: Final = 5
_QUIET: Final = "bright_black"


def seat_style(seat: int | None) -> str:
    """The colour of a seat; that of nobody for None."""
    return _QUIET if seat is None else SEAT_STYLES[seat % len(SEAT_STYLES)]


def safe(text: str) -> str:
    """`text` without what could steer a terminal: notes, talk and names are a bot's own words."""
    return "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)


def paint(scene: Scene) -> RenderableType:
    """The scene as something rich can print: caption, board, panels."""
    parts: list[RenderableType] = []
    if scene.caption:
        parts.append(Text(safe(scene.caption), style="bold"))
    if scene.cells:
        parts.append(_board(scene))
    if scene.panels:
        boxes = [
            Box(
                Text(safe("\n".join(panel.lines))),
                title=Text(safe(panel.title)),
                border_style=seat_style(panel.owner),
                expand=False,
            )
            for panel in scene.panels
        ]
        parts.append(Columns(boxes))
    return Group(*parts)


def _board(scene: Scene) -> Text:
    """The board: a cell every `_CELL` characters, hexes on half rows."""
    across, down = (_CELL, 1) if scene.shape == "square" else (_CELL, 2)
    left = min(cell.x for cell in scene.cells)
    top = min(cell.y for cell in scene.cells)
    grid: dict[tuple[int, int], tuple[str, str]] = {}

    def put(x: float, y: float, offset: int, text: str, style: str) -> None:
        row, column = round((y - top) * down), round((x - left) * across) + offset
        for shift, char in enumerate(text):
            grid[row, column + shift] = char, style

    for cell in scene.cells:
        put(cell.x, cell.y, 0, _cell_text(cell), _cell_style(cell))
    for piece in scene.pieces:
        text = (_ARROWS.get(piece.facing, "") + piece.text)[:3]
        put(piece.x, piece.y, 0, text.ljust(2), f"bold reverse {seat_style(piece.owner)}")
    board = Text()
    rows = max(row for row, _ in grid)
    columns = max(column for _, column in grid)
    for row in range(rows + 1):
        for column in range(columns + 1):
            char, style = grid.get((row, column), (" ", ""))
            board.append(char, style)
        if row < rows:
            board.append("\n")
    return board


def _cell_text(cell: Cell) -> str:
    # The left half is left to a piece: a wormhole's label stays readable under a ship.
    return f"  {cell.label[: _CELL - 2]}" if cell.label else "  · "


def _cell_style(cell: Cell) -> str:
    return seat_style(cell.owner) if cell.label or cell.owner is not None else _QUIET
