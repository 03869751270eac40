"""The picture of a position as data: a board, what stands on it and beside it, which every painter draws alike.

The painters choose colours. The name of a kind never changes, so that a style can be tied to it. All that comes after
the first fields of a class is for pages, and may be left out: then a page draws texts and plain shapes.

An `id` names the same thing in every scene of a match: a cell by its place, a ship by its name. No two things of a
scene have the same. It lets a page show where a piece came from, and a person click what an action is about.

A `glyph` is the name of a picture, or of several, each drawn on the one before: `coin sun`. Painters know these:
`sun moon crown shield rocket pyramid disc ring star hole cloud cannon station rock coin card circle triangle
wormhole spare reroll line`, and the dice `die die-0` to `die-6`. They leave out those they do not know.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINE: Final = 100
"""The most characters of a line of text in place of a board."""


@attrs.frozen
class Cell:
    """A space of the board at column `x` and row `y` (y grows downward; hexes may use halves)."""

    x: float
    y: float
    kind: str
    label: str = ""
    owner: int | None = None
    """The seat whose colour tints the cell, if any."""
    id: str = ""
    glyph: str = ""
    """Cells that touch and have the glyph `disc` and the same label are drawn as one disc."""
    corner: str = ""
    """The text in the corner of a cell on a page that has a glyph, in place of the label."""
    ways: str = ""
    """The ways arrowheads at its edges point to, such as `N SE`."""


@attrs.frozen
class Piece:
    """Something that stands on a cell: `text` is its one to three characters for a terminal."""

    x: float
    y: float
    kind: str
    text: str
    owner: int | None = None
    facing: Literal["", "N", "NE", "E", "SE", "S", "SW", "W", "NW"] = ""
    id: str = ""
    glyph: str = ""
    corner: str = ""
    """The text on a piece on a page that has a glyph, in place of the text."""
    layers: int = 0
    """How many outlines its glyph has, one in the other; 0 for one that is drawn plain."""


@attrs.frozen
class Link:
    """A line between two cells: a wormhole pair, a jump just made, a drawn edge."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    owner: int | None = None
    id: str = ""


@attrs.frozen
class Panel:
    """A titled box of text lines beside the board; `owner` is the seat it belongs to, if any."""

    title: str
    lines: tuple[str, ...]
    owner: int | None = None
    drawn: int = 0
    """How many of its last lines are drawn as cells or in trays, too, so that a page leaves them out."""


@attrs.frozen
class Item:
    """Something in a tray: a die, a card in hand, a number on a printed sheet."""

    kind: str
    text: str = ""
    id: str = ""
    glyph: str = ""
    crossed: bool = False
    """Whether it is crossed out."""


@attrs.frozen
class Tray:
    """A titled group of items beside the board, in rows, for pages only: a terminal has the panels."""

    title: str
    rows: tuple[tuple[Item, ...], ...]
    owner: int | None = None


@attrs.frozen
class Scene:
    """A whole picture: a board of cells with what stands on it, and panels of text."""

    shape: Literal["square", "hex"]
    cells: tuple[Cell, ...]
    pieces: tuple[Piece, ...] = ()
    links: tuple[Link, ...] = ()
    panels: tuple[Panel, ...] = ()
    caption: str = ""
    trays: tuple[Tray, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    """The meaning of kinds, glyphs and (as `ways`) arrowheads; an empty text for what needs no words.

    A page shows the meanings of what is on the board only. What is missing here is explained by the name of its kind.
    """
    columns: tuple[str, ...] = ()
    """The names of the board's columns from the left as the texts use them; a glyph's name draws that glyph."""
    rows: tuple[str, ...] = ()
    """The names of its rows from the top."""
    scores: tuple[float, ...] = ()
    """How each seat stands now, more is better, for a chart; none where there is no such number."""
    measure: str = "points"
    """The unit of the scores."""
    apart: bool = False
    """Whether the cells, links, pieces and trays of each owner are a sheet of their own."""
    focus: int | None = None
    """The seat whose sheet is drawn large."""
    roles: tuple[str, ...] = ()
    """The names of the seats in the game's texts, in their order, where they do not say `seat 0`."""
    seat_lines: tuple[str, ...] = ()
    """A few words for each seat beside its score, such as how many cards it holds, of what every seat may know."""
    turn: tuple[int, int] | None = None
    """The number of the round or turn, and whose turn it is; a replay goes from turn to turn. None: no turn."""


def plain_scene(facts: Mapping[str, Any]) -> Scene:
    """A picture without a board: each of `facts`, which are JSON, as a line of text."""
    lines = [
        f"{name}: {text if type(text) is str else json.dumps(text)}"[:_LINE] for name, text in facts.items()
    ]
    return Scene("square", (), panels=(Panel("Position", tuple(lines or ("not shown to spectators",))),))
