"""The picture of a position as data: cells, pieces and links, which terminal, SVG and browser draw alike.

The painters choose colours and glyphs. The name of a kind never changes, so that a style can be tied to it.
"""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Cell:
    """A space of the board at column `x` and row `y` (y grows downward; hexes may use halves)."""

    x: float
    y: float
    kind: str
    label: str = ""
    owner: int | None = None
    """The seat whose colour tints the cell, if any."""


@attrs.frozen
class Piece:
    """Something that stands on a cell: `text` is its one to three characters for a terminal."""

    x: float
    y: float
    kind: str
    text: str
    owner: int | None = None
    facing: Literal["", "N", "NE", "E", "SE", "S", "SW", "W", "NW"] = ""


@attrs.frozen
class Link:
    """A line between two cells: a wormhole pair, a jump just made, a drawn edge."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    owner: int | None = None


@attrs.frozen
class Panel:
    """A titled box of text lines beside the board; `owner` is the seat it belongs to, if any."""

    title: str
    lines: tuple[str, ...]
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
