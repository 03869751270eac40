"""The engine against a second one, written straight from the rules: slow, on coordinates, one coroutine a match.

The reference shares nothing with the engine but the JSON forms. Where the engine keeps a phase and a pending
ship, the reference simply waits for an answer in the midst of a function; it works everything out anew each time.
"""

import random
from collections.abc import Callable, Generator
from typing import Any

import pytest

from warpleague.games.aliens import GAME
from warpleague.games.aliens.state import Options
from warpleague.games.api import CHANCE
from warpleague.games.playout import perft

Asked = tuple[Any, ...]  # ("dice", number) or ("act", seat, ask, legal actions)
Play = Generator[Asked, Any, None]
Chooser = Callable[[Any, Any, random.Random], int]


TILES = {
    18: (1, 4),
    16: (3, 6),
    14: (3, 8),
    12: (5, 10),
    10: (3, 8),
    8: (1, 6),
    6: (3, 8),
    4: (5, 8),
    2: (7, 10),
}
BOARD = {(x, y) for top, (low, high) in TILES.items() for y in (top, top - 1) for x in range(low, high + 1)}
COMPASS = {
    "N": (0, 1),
    "NE": (1, 1),
    "E": (1, 0),
    "SE": (1, -1),
    "S": (0, -1),
    "SW": (-1, -1),
    "W": (-1, 0),
    "NW": (-1, 1),
}
SIDES = (("suns", "moons"), ("crowns", "arms"))
BASES = ({(10, 1), (10, 2)}, {(1, 17), (1, 18)})


class Over(Exception):
    """The game has ended."""


class Reference:
    """A match of aliens; `play` asks for dice and decisions, the rest is for looking."""

    def __init__(self, options: Options, position: dict[str, Any] | None = None) -> None:
        self.options = options
        self.ships = {"suns": (10, 1), "moons": (10, 2), "crowns": (1, 17), "arms": (1, 18)}
        self.coins: dict[tuple[int, int], tuple[str, int]] = {}
        self.flips: dict[tuple[int, int], int] = {}
        self.lost: set[str] = set()
        self.dice: dict[str, int] = {}
        self.turn = 0
        self.winner: int | None = None
        self.sends = 0
        if position:
            self.ships = {ship: tuple(at) for ship, at in position["ships"].items()}
            self.coins = {tuple(hole["at"]): (hole["suit"], hole["value"]) for hole in position["wormholes"]}
            self.lost = set(position["lost"])
            self.turn = position["turn"]

    def side(self, ship: str) -> int:
        return 0 if ship in SIDES[0] else 1

    def path(self, start: tuple[int, int], way: str, length: int) -> tuple[int, int] | None:
        """Where `length` steps lead, or None when one of them leaves the board."""
        x, y = start
        for _ in range(length):
            x, y = x + COMPASS[way][0], y + COMPASS[way][1]
            if (x, y) not in BOARD:
                return None
        return x, y

    def reach(self, ship: str, ways: tuple[str, ...], length: int) -> dict[str, tuple[int, int]]:
        """The ways that `ship` may go, and where they end."""
        own = [self.ships[other] for other in SIDES[self.side(ship)] if other != ship]
        ends = {way: self.path(self.ships[ship], way, length) for way in COMPASS if way in ways}
        return {way: end for way, end in ends.items() if end is not None and end not in own}

    def axis(self, suit: str) -> tuple[str, ...]:
        rising, falling = ("NE", "SW"), ("SE", "NW")
        if self.options.diagonals == "swapped":
            rising, falling = falling, rising
        return {"suns": ("N", "S"), "moons": ("E", "W"), "crowns": rising, "arms": falling}[suit]

    def match(self) -> Play:
        """A whole match."""
        while True:
            rolled = yield ("dice", 4)
            if rolled[0] + rolled[1] != rolled[2] + rolled[3]:
                break
        chooser = 0 if rolled[0] + rolled[1] > rolled[2] + rolled[3] else 1
        answer = yield (
            "act",
            chooser,
            "order",
            [{"do": "order", "first": "place"}, {"do": "order", "first": "move"}],
        )
        placer = chooser if answer["first"] == "place" else 1 - chooser
        first = 1 - placer
        while len(self.coins) < 24:
            legal = [
                {"do": "place", "suit": suit, "value": value, "at": [x, y]}
                for suit in SIDES[placer]
                for value in range(6)
                if (suit, value) not in self.coins.values()
                for y in range(1, 19)
                for x in range(1, 11)
                if (x, y) in BOARD and (x, y) not in BASES[0] | BASES[1] and (x, y) not in self.coins
            ]
            answer = yield ("act", placer, "place", legal)
            self.coins[tuple(answer["at"])] = (answer["suit"], answer["value"])
            placer = 1 - placer
        yield from self.turns(first)

    def turns(self, seat: int) -> Play:
        """Turns from that of `seat` on, to the end."""
        try:
            while self.turn < self.options.max_turns:
                yield from self.one_turn(seat)
                self.turn += 1
                seat = 1 - seat
        except Over:
            pass

    def one_turn(self, seat: int) -> Play:
        rolling = [ship for ship in SIDES[seat] if ship not in self.lost]
        if not rolling:
            self.lost -= set(SIDES[seat])
            return
        rolled = yield ("dice", len(rolling))
        self.lost -= set(SIDES[seat])
        self.dice = dict(zip(rolling, rolled, strict=True))
        while legal := self.uses():
            answer = yield ("act", seat, "turn", legal)
            ship = answer["ship"]
            die = self.dice.pop(ship)
            self.sends = 0
            if answer["do"] == "stay":
                if self.ships[ship] in self.coins:
                    yield from self.activate(ship)
            elif answer["do"] == "move":
                end = self.path(self.ships[ship], answer["way"], die)
                assert end is not None
                self.ships[ship] = end
                self.check_win(ship)
                enemies = [other for other in SIDES[1 - seat] if self.ships[other] == end]
                if enemies:
                    yield from self.send(seat, enemies[0])
                if self.ships[ship] == end and end in self.coins:
                    yield from self.activate(ship)
        self.dice = {}

    def uses(self) -> list[dict[str, Any]]:
        legal: list[dict[str, Any]] = []
        for ship, die in sorted(
            self.dice.items(), key=lambda item: ("suns", "moons", "crowns", "arms").index(item[0])
        ):
            if die == 0:
                mine = [{"do": "stay", "ship": ship}]
            else:
                mine = [
                    {"do": "move", "ship": ship, "way": way} for way in self.reach(ship, tuple(COMPASS), die)
                ]
            if mine and self.options.both_ships and self.ships[ship] in BASES[1 - self.side(ship)]:
                mine.append({"do": "decline", "ship": ship})
            legal += mine
        return legal

    def check_win(self, ship: str) -> None:
        seat = self.side(ship)
        there = [self.ships[own] in BASES[1 - seat] for own in SIDES[seat]]
        if self.ships[ship] in BASES[1 - seat] and (all(there) or not self.options.both_ships):
            self.winner = seat
            raise Over

    def activate(self, ship: str) -> Play:
        at = self.ships[ship]
        self.flips[at] = self.flips.get(at, 0) + 1
        suit, value = self.coins[at]
        if value == 0:
            self.lost.add(ship)
            return
        ends = self.reach(ship, self.axis(suit), value)
        if not ends:
            return
        seat = self.side(ship)
        answer = yield ("act", seat, "jump", [{"do": "jump", "way": way} for way in ends])
        self.ships[ship] = ends[answer["way"]]
        self.check_win(ship)
        for other in SIDES[1 - seat]:
            if self.ships[other] == self.ships[ship]:
                yield from self.send(seat, other)
                break

    def send(self, sender: int, ship: str) -> Play:
        legal = [
            {"do": "send", "to": [x, y]}
            for y in range(1, 19)
            for x in range(1, 11)
            if (x, y) in BOARD
            and (x, y) not in self.ships.values()
            and ((x, y) not in self.coins or self.sends < 16)
        ]
        self.sends += 1
        answer = yield ("act", sender, "send", legal)
        self.ships[ship] = tuple(answer["to"])
        if self.ships[ship] in self.coins:
            yield from self.activate(ship)

    def shown(self, seat: int | None) -> dict[str, Any]:
        """What can be compared with a view: what `seat` sees, or all."""
        return {
            "ships": {ship: list(at) for ship, at in self.ships.items()},
            "dice": dict(self.dice),
            "lost": [ship for ship in ("suns", "moons", "crowns", "arms") if ship in self.lost],
            "turn": self.turn,
            "wormholes": [
                {
                    "at": [x, y],
                    "suit": suit,
                    "value": value
                    if seat is None or self.side(suit) == seat or (x, y) in self.flips
                    else None,
                    "public": (x, y) in self.flips,
                    "up": "value" if self.flips.get((x, y), 0) % 2 else "suit",
                }
                for (x, y), (suit, value) in sorted(
                    self.coins.items(), key=lambda item: (item[0][1], item[0][0])
                )
            ],
        }


VARIANTS = [
    Options(),
    Options(diagonals="swapped"),
    Options(both_ships=True, max_turns=300),
    Options(both_ships=True, diagonals="swapped", max_turns=1),
]


def compare(state: Any, reference: Reference, play: Play, choose: Chooser, rng: random.Random) -> int:
    """Play both engines alike to the end, comparing all that can be seen; the most sends one die use saw."""
    most = 0
    asked: Asked | None = next(play)
    while asked is not None:
        for seat in (None, 0, 1):
            shown = GAME.to_json(state) if seat is None else GAME.view(state, seat)
            expected = reference.shown(seat)
            assert {key: shown[key] for key in expected} == expected
        move: Any
        answer: Any
        if asked[0] == "dice":
            assert GAME.actors(state) == (CHANCE,)
            assert GAME.chance(state) == (6,) * asked[1]
            move = answer = tuple(rng.randrange(6) for _ in range(asked[1]))
        else:
            _, seat, ask, expected = asked
            assert GAME.actors(state) == (seat,)
            assert GAME.ask(state, seat) == ask
            legal = GAME.legal(state, seat)
            assert [GAME.action_json(action) for action in legal] == expected
            pick = choose(state, legal, rng)
            move, answer = legal[pick], expected[pick]
        state, _ = GAME.apply(state, move)
        most = max(most, reference.sends)
        try:
            asked = play.send(answer)
        except StopIteration:
            asked = None
    assert GAME.actors(state) == ()
    result = GAME.to_json(state)["result"]
    assert result == {"winner": reference.winner, "why": "max-turns" if reference.winner is None else "base"}
    return most


def anything(_: Any, legal: Any, rng: random.Random) -> int:
    """Every legal action is as good as another."""
    return rng.randrange(len(legal))


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_random_matches_agree_with_the_reference(options: Options) -> None:
    """Over random matches both engines ask the same seats for the same actions and show the same positions."""
    for seed in range(4):
        rng = random.Random(seed)
        reference = Reference(options)
        compare(GAME.initial(2, options), reference, reference.match(), anything, rng)


def collision(state: Any, plies: int) -> bool:
    """Whether a ship can be landed on within so many moves of this die use."""
    phase = GAME.to_json(state)["phase"]
    if phase == "send":
        return True
    if phase != "jump" or plies == 0:
        return False
    legal = GAME.legal(state, GAME.actors(state)[0])
    return any(collision(GAME.apply(state, action)[0], plies - 1) for action in legal)


def seek(state: Any, legal: Any, rng: random.Random) -> int:
    """A random action, one that makes ships collide if there is one."""
    order = rng.sample(range(len(legal)), len(legal))
    return next((at for at in order if collision(GAME.apply(state, legal[at])[0], 1)), order[0])


def test_cascades_agree_with_the_reference(position: Callable[..., Any]) -> None:
    """From crowded positions, with moves sought that make ships jump and send each other, both engines agree."""
    most = []
    rng = random.Random(0)
    for _ in range(20):
        squares = rng.sample(sorted(BOARD - BASES[0] - BASES[1]), 28)
        coins = [(suit, value) for pair in SIDES for suit in pair for value in range(6)]
        table = position(
            "roll",
            ships={
                ship: list(at) for ship, at in zip(("suns", "moons", "crowns", "arms"), squares, strict=False)
            },
            holes=[(suit, value, *at) for (suit, value), at in zip(coins, squares[4:], strict=True)],
            options={"max_turns": 20, "both_ships": True},
        )
        reference = Reference(table.state.rules.options, table.json())
        most.append(compare(table.state, reference, reference.turns(0), seek, rng))
    assert max(most) >= 17, most  # aliens T8 was reached


def count(position: dict[str, Any], depth: int) -> int:
    """Perft by the reference: every sequence of moves is played again from the start."""

    def replay(moves: list[Any]) -> Asked | None:
        play = Reference(Options(**position["options"]), position).turns(position["to_move"])
        try:
            asked = next(play)
            for move in moves:
                asked = play.send(move)
        except StopIteration:
            return None
        return asked

    def below(moves: list[Any]) -> int:
        if len(moves) == depth:
            return 1
        asked = replay(moves)
        if asked is None:
            return 0
        if asked[0] == "dice":
            rolls = [()]
            for _ in range(asked[1]):
                rolls = [(*roll, face) for roll in rolls for face in range(6)]  # type: ignore[misc]
            return sum(below([*moves, roll]) for roll in rolls)
        if len(moves) + 1 == depth:
            return len(asked[3])
        return sum(below([*moves, action]) for action in asked[3])

    return below([])


CROWDED: dict[str, Any] = {
    "phase": "roll",
    "ships": {"suns": [5, 8], "moons": [10, 2], "crowns": [5, 9], "arms": [1, 18]},
    "holes": [
        ("arms", 2, 5, 9),
        ("suns", 2, 6, 8),
        ("moons", 1, 6, 9),
        ("crowns", 3, 5, 7),
        ("suns", 0, 4, 7),
    ],
    "lost": ["moons"],
}
LAST: dict[str, Any] = {
    "phase": "roll",
    "ships": {"suns": [2, 17], "moons": [2, 18], "crowns": [9, 1], "arms": [3, 17]},
    "options": {"both_ships": True},
    "holes": [("moons", 1, 3, 18), ("suns", 1, 2, 17)],
    "turn": 398,
}


@pytest.mark.parametrize(
    ("name", "changes", "counts"),
    [
        ("start", {"phase": "roll", "lost": ["moons"]}, [1, 6, 9, 324, 756, 6714]),
        ("crowded", CROWDED, [1, 6, 27, 922, 7858, 35000]),
        ("last", LAST, [1, 36, 126, 1275, 8357]),
    ],
)
def test_perft(position: Callable[..., Any], name: str, changes: dict[str, Any], counts: list[int]) -> None:
    """The numbers of move sequences are those written down, which the reference confirms."""
    table = position(**changes)
    found = [perft(GAME, table.state, depth) for depth in range(len(counts))]
    confirmed = [count(table.json(), depth) for depth in range(len(counts))]
    assert found == confirmed
    assert found == counts, name
