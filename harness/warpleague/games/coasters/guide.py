"""The goal of coasters, its rules in a minute, and a first turn to look at."""

from __future__ import annotations

from typing import Final

from warpleague.games.guide import Guide

_GUIDE: Final = Guide(
    goal="Be the last one with a ship: hit the others with your torpedo, three hits destroy a ship.",
    rules=(
        "First each player lays a coaster of nine squares, the home system, and puts a ship on it.",
        "In your turn two dice are rolled. The number is your movement: a step forward or a turn by 90 degrees costs "
        "1, and only a half in your own home system.",
        "To leave a square you need an arrow in your direction.",
        "The other die is the flux, which you may use once: TIP only lets you turn, SWAP changes places with another "
        "ship, HOP goes to a neighbouring square, AIM faces any direction, DIG goes forward without an arrow, and "
        "WILD is one of these four.",
        "From the centre of your home you may warp to the centre of a home that is open to you.",
        "Firing ends your turn. The torpedo flies straight ahead along the arrows until it hits a ship or an edge.",
        "With three or more players you may talk, ask for alliances, and claim victory for all who are left.",
    ),
    turn=(
        ((2, 3), "The dice are rolled: 3 movement, and the flux AIM."),
        ({"do": "step"}, "At home a step costs only half a movement."),
        ({"do": "step"}, "The arrows lead on into the other home system, where a step costs 1."),
        ({"do": "step"}, "One more, and 0.5 movement is left."),
        ({"do": "aim", "facing": "D"}, "The flux turns the ship for nothing."),
        ({"do": "fire"}, "The line of fire shows whom the torpedo hits."),
    ),
    position={
        "players": 2,
        "systems": [{"at": [0, 0], "rotation": 0}, {"at": [1, 0], "rotation": 0}],
        "ships": [{"at": [1, 0], "facing": "R"}, {"at": [4, 2], "facing": "L"}],
    },
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
