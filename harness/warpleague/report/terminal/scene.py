"""Prints a scene: caption, board, legend, and panels beside the board or below it.

The games say what there is to draw; `board` draws the board.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
from rich.console import Group
from rich.panel import Panel as Box
from rich.table import Table
from rich.text import Text

from warpleague.report.terminal.board import draw_board, legend
from warpleague.report.terminal.colours import QUIET
from warpleague.report.terminal.styles import seat_style
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from warpleague.games.scene import Panel, Scene

RIVAL: Final = "the game itself"
"""The name of a solo game's opponent beside the bots."""


@attrs.frozen
class Picture:
    """A scene, laid out for the width it is printed in."""

    scene: Scene

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(*_parts(self.scene, options.max_width))


def paint(scene: Scene) -> Picture:
    """The scene as something rich can print."""
    return Picture(scene)


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
