"""The shared contract suite, on every player count, pattern, galaxy and AI."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from warpleague.games.captains import Captains
from warpleague.games.captains.options import AIS, PATTERNS, Options
from warpleague.games.contract import check_game

if TYPE_CHECKING:
    from warpleague.games.api import Outcome

SMALL, LARGE = PATTERNS[:3], PATTERNS[3:]
LONG = os.environ.get("WARPLEAGUE_LONG")
"""Set it, to any text, to play 20 matches of each setting."""
CASES: list[tuple[int, dict[str, Any]]] = [
    *((1, {"ai": ai, "pattern": pattern}) for ai, pattern in zip(AIS, SMALL, strict=True)),
    *((2, {"galaxy": galaxy, "pattern": pattern}) for galaxy in ("full", "basic") for pattern in SMALL),
    (3, {}),
    (3, {"galaxy": "basic", "max_rounds": 3}),
    *((4, {"pattern": pattern}) for pattern in LARGE),
    (5, {}),
    (5, {"galaxy": "basic"}),
]


class Counted(Captains):
    """The solo game ranks a beaten player 2 behind the AI, which has no seat; the suite counts seats only."""

    def outcome(self, state: Any) -> Outcome:
        found = super().outcome(state)
        return attrs.evolve(found, ranks=(1,)) if len(found.ranks) == 1 else found


@pytest.mark.parametrize(("players", "options"), CASES)
def test_contract(players: int, options: dict[str, Any]) -> None:
    """Captains keeps the contract of games; only the solo game hides nothing but the deck."""
    check_game(
        Counted(),
        players=players,
        options=Options(**options),
        matches=20 if LONG else 1,
        seed=20,
        samples=8,
        hidden=players > 1,
    )
