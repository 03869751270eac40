"""The goal of sheets, its rules in a minute, and a first turn to look at."""

from __future__ import annotations

from typing import Final

from warpleague.games.guide import Guide

_GUIDE: Final = Guide(
    goal="Have the most points after seven rounds: fill boxes, draw wormholes into them, and join wormholes.",
    rules=(
        "In your turn the dice are rolled three times. After each roll keep one and give one away. "
        "The two white dice count as one.",
        "Then use the three that you kept. White: draw an edge of the box whose row and column the two dice name. "
        "Yellow: mark this number; a full line brings a free line or a reroll.",
        "Red: mark this number and complete a box in its row or column. Blue: write the number; when it comes again, "
        "draw a wormhole in its row or column.",
        "A black die can be used as yellow, from round 3 also as red, and from round 5 also as blue.",
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
