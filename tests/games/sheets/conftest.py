"""Positions of sheets for the tests: hand-made ones, and those of random matches."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from warpleague.games.api import CHANCE
from warpleague.games.playout import random_playout
from warpleague.games.sheets import GAME

UNITS = ["white", "black-1", "black-2", "red", "yellow", "blue"]


def make_sheet(**changes: Any) -> dict[str, Any]:
    """A sheet in JSON, empty but for `changes`; circles may be given as v (open) and -v (crossed out)."""
    sheet: dict[str, Any] = {
        "edges": [],
        "wormholes": [],
        "yellow": [],
        "red": [],
        "blue": [],
        "free_lines": 0,
        "rerolls": 0,
    }
    sheet.update(changes)
    sheet["blue"] = [
        {"value": abs(item), "crossed": item < 0} if isinstance(item, int) else item for item in sheet["blue"]
    ]
    return sheet


def make_data(*sheets: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A position in JSON: seat 0 has rolled 1-2, 3, 4, 5, 6, 1 in round 1, but for `changes`."""
    data: dict[str, Any] = {
        "round": 1,
        "turn": 0,
        "phase": "keep",
        "actor": 0,
        "dice": {"white": [1, 2], "black-1": 3, "black-2": 4, "red": 5, "yellow": 6, "blue": 1},
        "hand": UNITS if changes.get("phase", "keep") == "keep" else [],
        "kept": [],
        "offered": [],
        "taken": None,
        "retired": [],
        "shared_discards": False,
        "sheets": list(sheets) or [make_sheet(), make_sheet()],
    }
    data["dice"].update(changes.pop("dice", {}))
    data.update(changes)
    return data


class Table:
    """Makes positions and plays on them by JSON actions."""

    sheet = staticmethod(make_sheet)
    data = staticmethod(make_data)

    def state(self, *sheets: dict[str, Any], **changes: Any) -> Any:
        return GAME.from_json(make_data(*sheets, **changes))

    def marking(self, *sheets: dict[str, Any], kept: list[str], **changes: Any) -> Any:
        """Seat 0 marks `kept`; three other units are on offer."""
        others = [unit for unit in UNITS[1:] if unit not in kept][:3]
        return self.state(*sheets, phase="mark", kept=kept, offered=others, **changes)

    def legal(self, state: Any) -> list[dict[str, Any]]:
        return [GAME.action_json(action) for action in GAME.legal(state, state.actor)]

    def kinds(self, state: Any) -> list[str]:
        return list(dict.fromkeys(action["do"] for action in self.legal(state)))

    def act(self, state: Any, do: str, **fields: Any) -> Any:
        return self.told(state, do, **fields)[0]

    def told(self, state: Any, do: str, **fields: Any) -> tuple[Any, list[dict[str, Any]]]:
        """The state after an action, and the events' full forms."""
        action = GAME.parse(state, state.actor, {"do": do, **fields})
        after, events = GAME.apply(state, action)
        return after, [event.data for event in events]

    def roll(self, state: Any, *values: int) -> Any:
        """The state after the dice showed `values` (1-6)."""
        assert GAME.actors(state) == (CHANCE,)
        assert len(GAME.chance(state)) == len(values)
        return GAME.apply(state, tuple(value - 1 for value in values))[0]


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def matches() -> Callable[..., Any]:
    """Random matches: for each player count and option `each` playouts with all their states."""

    def play(each: int, seed: int = 0) -> Any:
        for players in GAME.players:
            for shared in (False, True):
                for match in range(each):
                    rng = Random(f"{seed}/{players}/{shared}/{match}")
                    yield random_playout(GAME, players, GAME.Options(shared), rng, keep=True)

    return play
