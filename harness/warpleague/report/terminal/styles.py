"""Colours and glyphs of seats and kinds of cells in a terminal.

No kind differs by its colour alone, because not everybody sees all colours.
"""

from __future__ import annotations

from typing import Final

import attrs

from warpleague.report.terminal.colours import BAD, GOOD, QUIET, WARNING

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

PIECES: Final = {
    "ship": "ship",
    "wormhole": "wormhole",
    "wormhole-inactive": "wormhole without its pair",
}
"""Kinds of pieces that a legend names; the others' texts tell by themselves."""

FACINGS: Final = {
    "N": "▲",
    "NE": "◥",
    "E": "▶",
    "SE": "◢",
    "S": "▼",
    "SW": "◣",
    "W": "◀",
    "NW": "◤",
}
"""Filled, to tell a ship's heading from an arrow printed on the board."""
