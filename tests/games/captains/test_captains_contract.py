"""The shared contract suite, on every player count, pattern, galaxy and AI."""

import os
from typing import Any

import pytest

from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import AIS, PATTERNS, Options
from warpleague.games.contract import check_game

SMALL, LARGE = PATTERNS[:3], PATTERNS[3:]
LONG = os.environ.get("WARPLEAGUE_LONG")
"""Set it, to any text, to play 20 matches of each setting."""


def both(number: int, **spaces: list[list[int]]) -> dict[str, Any]:
    """A board that is the same on both sides."""
    return {"number": number, "A": spaces, "B": spaces}


CROWDED: dict[str, Any] = {
    "board": [
        both(1, planet=[[0, 0]], blackhole=[[2, 0]], wild3=[[-2, 0]]),
        both(2, planet=[[0, 0]], blackhole=[[0, 1]], cannon=[[2, -2]], wild3=[[0, 2]]),
        both(
            3, big_ring_planet=[[0, 0], [0, -1]], orbit=[[1, -1], [1, 0], [0, 1], [-1, 1], [-1, 0], [0, -2]]
        ),
        both(4, wild5=[[0, 0]], nebula=[[1, 0], [0, 1]], cannon=[[-1, 0]]),
        both(7, obstacle=[[0, 0]], wild4=[[1, 1]]),
    ],
    "pattern": {"cross": {"players": [1, 5], "centres": [[-3, -2], [2, -5], [5, -3], [3, 2], [-2, 5]]}},
}
"""A galaxy file with several of everything: three planets, two black holes, two cannons, two wild threes."""
CASES: list[tuple[int, dict[str, Any]]] = [
    *((1, {"ai": ai, "pattern": pattern}) for ai, pattern in zip(AIS, SMALL, strict=True)),
    *((2, {"galaxy": galaxy, "pattern": pattern}) for galaxy in ("full", "basic") for pattern in SMALL),
    (3, {}),
    (3, {"galaxy": "basic", "max_rounds": 3}),
    *((4, {"pattern": pattern}) for pattern in LARGE),
    (5, {}),
    (5, {"galaxy": "basic"}),
    (3, {"galaxy_file": CROWDED}),
    (1, {"galaxy_file": CROWDED, "ai": "azimuth"}),
]


@pytest.mark.parametrize(("players", "options"), CASES, ids=lambda value: str(value)[:40])
def test_contract(players: int, options: dict[str, Any]) -> None:
    """Captains keeps the contract of games; only the solo game hides nothing but the deck."""
    check_game(
        GAME,
        players=players,
        options=Options(**options),
        matches=20 if LONG else 1,
        seed=20,
        samples=8,
        hidden=players > 1,
    )
