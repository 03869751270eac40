"""The goal of aliens, its rules in a minute, and a first turn to look at."""

from __future__ import annotations

from typing import Final

from warpleague.games.guide import Guide

_WORMHOLES: Final = (
    ("suns", ([5, 7], [6, 3], [4, 9], [7, 14], [8, 2], [3, 6])),
    ("moons", ([8, 11], [4, 5], [6, 12], [6, 6], [3, 13], [5, 16])),
    ("crowns", ([6, 10], [7, 4], [3, 8], [3, 10], [9, 12], [4, 18])),
    ("arms", ([5, 11], [2, 8], [4, 15], [7, 3], [4, 13], [5, 9])),
)
"""Of each suit the squares of its coins 0 to 5."""

_GUIDE: Final = Guide(
    goal="Be the first to land one of your two ships on a base of the other side.",
    rules=(
        "First both sides place their wormholes, in turn. Only you know how far yours lead.",
        "In your turn two dice are rolled, one for each of your ships. A ship flies exactly as many squares as its "
        "die shows, straight, in any of eight directions.",
        "A ship that lands on a wormhole must jump: as far as the value of the coin, along its arrows. "
        "Then both sides know this value.",
        "A coin with null is a black hole: the ship loses its next turn. A die that shows null lets a ship stay, and "
        "use the wormhole under it.",
        "If you land on an enemy ship, you send it to any square without a ship.",
        "You win at once when your ship lands on a base of the other side, by its die or by a jump.",
    ),
    turn=(
        ((3, 2), "The dice are rolled: each ship has its own."),
        (
            {"do": "move", "ship": "moons", "way": "W"},
            "A wormhole of yours is there. You know that it leads 4 squares north or south.",
        ),
        (
            {"do": "move", "ship": "suns", "way": "NW"},
            "A wormhole of the other side is there. How far it leads you learn when you land.",
        ),
        ({"do": "jump", "way": "NE"}, "Where both ways are possible you choose one."),
    ),
    position={
        "options": {"max_turns": 400, "both_ships": False, "diagonals": "normal"},
        "phase": "roll",
        "to_move": 0,
        "turn": 0,
        "ships": {"suns": [10, 1], "moons": [10, 2], "crowns": [1, 17], "arms": [1, 18]},
        "dice": {},
        "lost": [],
        "wormholes": [
            {"at": at, "suit": suit, "value": value, "public": False, "up": "suit"}
            for suit, squares in _WORMHOLES
            for value, at in enumerate(squares)
        ],
        "pending": None,
        "result": None,
    },
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
