"""The picture of a game of OpenSpiel, from its text: a board where the text is one, else the text itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.api import SPECTATOR
from warpleague.games.scene import Cell, Panel, Scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.bridges.openspiel.state import State

_MAX_LINES: Final = 60
_MAX_ACROSS: Final = 100


def scene_of(name: str, state: State, viewer: int | None, actors: tuple[int, ...]) -> Scene:
    """The picture for `viewer` (None: everything), and who is to act where everybody knows this."""
    if viewer is None or (viewer == SPECTATOR and state.rules.open):
        texts: tuple[str, ...] = (str(state.spiel),)
    else:
        texts = () if viewer == SPECTATOR else state.texts(viewer)
    text = "\n".join(dict.fromkeys(filter(None, texts)))
    grid = _grid(TEXTS.get(name, str)(text))
    cells = tuple(
        Cell(x, y, "square", "" if mark in ".-_" else mark, id=f"{x},{y}")
        for y, row in enumerate(grid)
        for x, mark in enumerate(row)
    )
    lines = [line.expandtabs()[:_MAX_ACROSS] for line in text.splitlines()[:_MAX_LINES]]
    panels = [] if cells else [Panel("What is seen", tuple(lines or ("nothing",)))]
    seen = viewer is None or state.rules.open
    if seen and actors and actors[0] >= 0:
        panels.append(Panel("Turn", (f"seat {actors[0]}",), owner=actors[0]))
    return Scene("square", cells, panels=tuple(panels))


def _grid(text: str) -> list[str]:
    """The rows of a text that is a board: all of one length, without blanks; none if it is not."""
    rows = text.strip("\n").split("\n")
    fits = len(rows) > 1 and len({len(row) for row in rows}) == 1 and 1 < len(rows[0]) <= 30
    return rows if fits and not any(" " in row or "\t" in row for row in rows) else []


def _chess(text: str) -> str:
    """The board of a position in Forsyth-Edwards notation."""
    board = text.partition(" ")[0]
    for number in range(1, 9):
        board = board.replace(str(number), "." * number)
    return board.replace("/", "\n")


TEXTS: Final[dict[str, Callable[[str], str]]] = {"chess": _chess}
"""The games whose text becomes a board only when it is written otherwise."""
