"""Two fixed galaxies and shorthands to set up positions and play moves."""

import json
from random import Random
from typing import Any

import pytest

from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import Options
from warpleague.games.playout import random_roll

SIDES = {"first": "AAAAABB", "second": "BBBBBAA"}


_CLOSE = {"planet": [[0, 0]], "obstacle": [[0, -1], [1, -1], [-1, 0], [-1, 1], [0, 1]]}
_IN_LINE = {"planet": [[0, 0]], "cannon": [[-2, 0]], "blackhole": [[1, 0], [2, 0]]}
PAIR: dict[str, Any] = {
    "board": [{"number": 1, "A": _CLOSE, "B": _CLOSE}, {"number": 2, "A": _IN_LINE, "B": _IN_LINE}],
    "pattern": {"pair": {"players": [1, 5], "centres": [[5, -3], [-3, -2]]}},
}
"""A galaxy file of two planets: the first with one space beside it, the second in line with cannon and black holes."""


class Tools:
    """What the tests of captains share.

    `first` (nebulae 69 and 83, cannon 87, wild 3 on 111, the big ring planet 6) and `second` (black hole 73,
    wild 5 on 131) are galaxies of the pattern `standard` with boards 1 to 7 in order. `pair` (cannon 19, black
    holes 22 and 23; space 17 alone beside planet 0) is the one of `PAIR`.
    """

    game = GAME

    def match(self, which: str = "first", players: int = 2, **options: Any) -> dict[str, Any]:
        if which == "pair":
            laid = {"galaxy_file": PAIR, "pattern": "pair", "boards": [[1, "A", 0], [2, "A", 0]]}
            return {"players": players, "station": 0, **laid, **options}
        boards = [[i + 1, side, 1 if i == 4 else 0] for i, side in enumerate(SIDES[which])]
        return {"players": players, "pattern": "standard", "station": 0, "boards": boards, **options}

    def at(self, which: str = "first", players: int = 2, options: Any = None, **fields: Any) -> Any:
        """A position on a fixed galaxy; fields that are not given have their defaults."""
        return GAME.from_json({"match": self.match(which, players, **(options or {})), **fields})

    def play(self, state: Any, *moves: str) -> Any:
        """The state after moves such as "move 12", "end" and "roll 3"; see `told` for the events."""
        self.told: list[dict[str, Any]] = []
        for move in moves:
            if move.startswith("roll "):
                assert GAME.actors(state) == (CHANCE,), f"chance is not to act before {move}"
                done: Any = tuple(map(int, move.split()[1:]))
            else:
                seat = GAME.actors(state)[0]
                done = GAME.parse(state, seat, self.form(move))
            state, events = GAME.apply(state, done)
            self.told += [event.data for event in events]
        return state

    def form(self, move: str) -> dict[str, Any]:
        """The JSON form of a move written as "do value"."""
        do, *value = move.split()
        names = {
            "move": "to",
            "warp": "to",
            "cannon": "to",
            "deliver": "planet",
            "discard": "planet",
            "take": "planet",
        }
        return {"do": do, **{names.get(do, "at"): int(v) if v.isdigit() else v for v in value}}

    def legal(self, state: Any, do: str = "") -> list[str]:
        """The legal actions as "do value", those of kind `do` only if it is given."""
        forms = [GAME.action_json(action) for action in GAME.legal(state, GAME.actors(state)[0])]
        return [" ".join(map(str, form.values())) for form in forms if not do or form["do"] == do]

    def counts(self, planets: int = 8, **cards: int) -> list[int]:
        """Counts by planet: `counts(p3=2)` is two cards of planet 3."""
        return [cards.get(f"p{i}", 0) for i in range(planets)]

    def deal(self, players: int, seed: object, **options: Any) -> Any:
        """A state with the galaxy laid and hands dealt at random."""
        rng = Random(str(seed))
        state = GAME.initial(players, Options(**options))
        while GAME.actors(state) == (CHANCE,):
            state = GAME.apply(state, random_roll(GAME.chance(state), rng))[0]
        return state

    def fields(self, state: Any) -> dict[str, Any]:
        """The JSON form of a state, a fresh copy."""
        return json.loads(json.dumps(GAME.to_json(state)))


@pytest.fixture
def tools() -> Tools:
    return Tools()
