"""Positions written by hand, and moves played from them."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from warpleague.games.aliens import GAME
from warpleague.games.aliens.state import State

SUITS = ("suns", "moons", "crowns", "arms")


@attrs.define
class Table:
    """A position being played, with all that was told on the way."""

    state: State
    events: list[dict[str, Any]] = attrs.Factory(list)

    @property
    def actor(self) -> int | None:
        actors = GAME.actors(self.state)
        return actors[0] if actors else None

    def legal(self) -> list[dict[str, Any]]:
        """The legal actions as JSON."""
        return [GAME.action_json(action) for action in GAME.legal(self.state, GAME.actors(self.state)[0])]

    def ways(self, do: str, **fields: Any) -> list[str]:
        """The ways of the legal actions of one kind."""
        return [a["way"] for a in self.legal() if a["do"] == do and fields.items() <= a.items()]

    def act(self, do: str, **fields: Any) -> "Table":
        """Play one action of whoever must act."""
        seat = GAME.actors(self.state)[0]
        return self.step(GAME.parse(self.state, seat, {"do": do, **fields}))

    def roll(self, *dice: int) -> "Table":
        """Let the dice show this."""
        assert GAME.actors(self.state) == (-1,)
        assert len(GAME.chance(self.state)) == len(dice)
        return self.step(dice)

    def step(self, move: Any) -> "Table":
        self.state, told = GAME.apply(self.state, move)
        self.events += [event.data for event in told]
        return self

    def json(self) -> dict[str, Any]:
        return GAME.to_json(self.state)

    def at(self, ship: str) -> list[int]:
        square: list[int] = self.json()["ships"][ship]
        return square

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == kind]


def hole(suit: str, value: int, x: int, y: int, *, public: bool = False) -> dict[str, Any]:
    """A wormhole in a position's JSON."""
    return {"at": [x, y], "suit": suit, "value": value, "public": public, "up": "suit"}


@pytest.fixture
def position() -> Callable[..., Table]:
    """Makes a position: ships on their bases, no wormholes, seat 0 to move, but for what is given."""

    def make(
        phase: str = "turn",
        to_move: int | None = 0,
        dice: dict[str, int] | None = None,
        ships: dict[str, list[int]] | None = None,
        holes: list[tuple[Any, ...]] | None = None,
        **changes: Any,
    ) -> "Table":
        data = {
            "options": {
                "max_turns": 400,
                "both_ships": False,
                "diagonals": "normal",
                **changes.pop("options", {}),
            },
            "phase": phase,
            "to_move": to_move,
            "turn": 10,
            "ships": {"suns": [10, 1], "moons": [10, 2], "crowns": [1, 17], "arms": [1, 18], **(ships or {})},
            "dice": dice or {},
            "lost": [],
            "wormholes": [hole(*given) for given in holes or []],
            "pending": None,
            "result": None,
            **changes,
        }
        return Table(GAME.from_json(data))

    return make
