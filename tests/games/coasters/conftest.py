"""Helpers of the coasters tests: positions drawn as text, actions as short words, and playing them out."""

from random import Random
from typing import Any

import pytest

from warpleague.games.api import CHANCE
from warpleague.games.coasters import GAME
from warpleague.games.coasters.state import FLUX

_MARKS = {"^": "U", ">": "R", "v": "D", "<": "L"}


class Desk:
    """A place to set up positions and play on them.

    A drawing has one word a square, `.` for an empty one and for a ship its colour, facing and, if it is not
    whole, hit points left: `0>`, `2^1`. Words of squares where no coaster lies are `-`. `lie` draws the coasters in
    the same way, `colour/rotation` or `-`; the first of them is at the origin.
    """

    game = GAME

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def position(self, drawing: str, lie: str, players: int | None = None, **fields: Any) -> Any:
        """The state that is drawn; `options` and the other keys of a position's JSON are fields."""
        coasters = [line.split() for line in lie.strip().splitlines()]
        placed: dict[int, tuple[int, int, int]] = {}
        for row, words in enumerate(coasters):
            for column, word in enumerate(words):
                if word != "-":
                    colour, _, rotation = word.partition("/")
                    placed[int(colour)] = (column, row, int(rotation or 0))
        left, top = next((x, y) for row in range(9) for x, y, _ in placed.values() if y == row)
        ships: list[Any] = [None] * len(placed)
        for y, line in enumerate(drawing.strip().splitlines()):
            for x, word in enumerate(line.split()):
                if word not in (".", "-"):
                    at = [x - 3 * left, y - 3 * top]
                    ships[int(word[0])] = {"at": at, "facing": _MARKS[word[1]], "hits": int(word[2:] or 3)}
        systems = [
            {"at": [placed[colour][0] - left, placed[colour][1] - top], "rotation": placed[colour][2]}
            for colour in range(len(placed))
        ]
        given = {"players": players or len(placed), "systems": systems, "ships": ships, **fields}
        return GAME.from_json(given)

    def turn(self, drawing: str, lie: str, roll: str, **fields: Any) -> Any:
        """The state that is drawn, in the turn of seat 0 (or `seat`) after `roll`, such as `3 AIM`."""
        d6, flux = roll.split()
        return self.position(drawing, lie, phase="turn", d6=int(d6), flux=flux, **fields)

    @staticmethod
    def read(text: str) -> Any:
        """A move from words: an action's JSON, or for `roll 3 AIM` what the dice showed."""
        do, *words = text.split(maxsplit=2 if text.startswith("say") else -1)
        if do == "roll":
            return int(words[0]) - 1, FLUX.index(words[1])
        if do == "lay":
            return {"do": do, "at": [int(words[0]), int(words[1])], "rotation": int(words[2])}
        if do == "deploy":
            return {"do": do, "at": [int(words[0]), int(words[1])], "facing": words[2]}
        if do == "say":
            return {"do": do, "to": [int(seat) for seat in words[0].split(",")], "text": words[1]}
        if do == "swap-systems":
            return {"do": do, "systems": [int(word) for word in words]}
        keys = {
            "turn": "way", "warp": "to", "swap": "with", "hop": "way", "aim": "facing", "invoke": "ally",
            "choose-colour": "colour",
        }  # fmt: skip
        if not words:
            return {"do": do}
        return {"do": do, keys[do]: int(words[0]) if words[0].isdigit() else words[0]}

    def write(self, action: Any) -> str:
        """The words of a legal action."""
        data = self.game.action_json(action)
        words: list[str] = []
        for value in data.values():
            words += map(str, value) if isinstance(value, list) else [str(value)]
        return " ".join(words)

    def can(self, state: Any) -> list[str]:
        """The legal actions of the seat that must act, in words."""
        return [self.write(action) for action in self.game.legal(state, self.actor(state))]

    def actor(self, state: Any) -> int:
        (actor,) = self.game.actors(state)
        return actor

    def do(self, state: Any, *moves: str) -> Any:
        """The state after `moves` (each must be legal); what was told is kept in `events`, in full."""
        self.events = []
        for text in moves:
            actor, move = self.actor(state), self.read(text)
            if actor == CHANCE:
                assert isinstance(move, tuple), f"{text}: the dice must be rolled"
            else:
                move = self.game.parse(state, actor, move)
            state, events = self.game.apply(state, move)
            self.events += [event.data for event in events]
        return state

    def retire(self, state: Any, seat: int) -> Any:
        state, events = self.game.retire(state, seat)
        self.events = [event.data for event in events]
        return state

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The kept events of one kind."""
        return [event for event in self.events if event["event"] == kind]

    def see(self, state: Any, seat: int = 0) -> dict[str, Any]:
        return self.game.view(state, seat)

    def at(self, state: Any, colour: int) -> str | None:
        """Where a ship is and how it faces, such as `4 1 L`."""
        ship = self.see(state)["ships"][colour]
        return ship and f"{ship['at'][0]} {ship['at'][1]} {ship['facing']}"

    def draw(self, state: Any) -> list[str]:
        """The squares as lines of text, ships as in `position`."""
        scene = self.game.scene(state, None)
        marks = {(cell.x, cell.y): "." for cell in scene.cells}
        for piece in scene.pieces:
            facing = {"N": "^", "E": ">", "S": "v", "W": "<"}[piece.facing]
            marks[piece.x, piece.y] = piece.text[0] + facing + piece.text[2]
        xs, ys = [int(x) for x, _ in marks], [int(y) for _, y in marks]
        return [
            " ".join(f"{marks.get((x, y), ' '):3}" for x in range(min(xs), max(xs) + 1)).rstrip()
            for y in range(min(ys), max(ys) + 1)
        ]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def rng() -> Random:
    return Random("coasters tests")
