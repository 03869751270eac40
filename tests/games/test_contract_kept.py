"""The contract suite on every game: numbers of players, options and variations.

With `WARPLEAGUE_SOAK=1000` (`make contract`) so many random matches of every setting are played, and of every
combination of the variations of coasters.
"""

import os
from itertools import product
from typing import Any

import attrs
import pytest

from warpleague.games import load_game
from warpleague.games.captains.dealing import AIS, PATTERNS
from warpleague.games.contract import check_game

SOAK = int(os.environ.get("WARPLEAGUE_SOAK", "0"))


@attrs.frozen
class Setting:
    """A table, and what of its matches is looked at."""

    game: str
    players: int
    options: dict[str, Any]
    hidden: bool | None = None
    samples: int = 8
    talk: bool = False

    def __str__(self) -> str:
        return f"{self.game}-{self.players}-{self.options}"[:60]


def both(number: int, **spaces: list[list[int]]) -> dict[str, Any]:
    """A board of captains that is the same on both sides."""
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
ALIENS: list[dict[str, Any]] = [
    {},
    {"diagonals": "swapped", "max_turns": 1},
    {"both_ships": True, "max_turns": 120},
]
CAPTAINS: list[tuple[int, dict[str, Any]]] = [
    *((1, {"ai": ai, "pattern": pattern}) for ai, pattern in zip(AIS, PATTERNS[:3], strict=True)),
    *(
        (2, {"galaxy": galaxy, "pattern": name})
        for galaxy, name in zip(("full", "basic"), PATTERNS, strict=False)
    ),
    (3, {"galaxy": "basic", "max_rounds": 3}),
    *((4, {"pattern": pattern}) for pattern in PATTERNS[3:]),
    (5, {}),
    (3, {"galaxy_file": CROWDED}),
    (1, {"galaxy_file": CROWDED, "ai": "azimuth"}),
]
SWITCHES = ("alliances", "free_colour", "system_swap", "wild_shot")
COMBINATIONS: list[tuple[int, dict[str, Any]]] = [
    (players, {"colours": colours, **dict(zip(SWITCHES, values, strict=True))})
    for players in load_game("coasters").players
    for colours in range(1, 10 // players + 1)
    for values in product((True, False), repeat=4)
]
ROUNDS = 60 if SOAK else 4
SETTINGS = [
    *(Setting("aliens", 2, options, hidden=True) for options in ALIENS),
    *(Setting("captains", players, options, hidden=players > 1) for players, options in CAPTAINS),
    *(
        Setting("coasters", players, {"max_rounds": 7}, samples=4, talk=players > 2)
        for players in load_game("coasters").players
    ),
    *(
        Setting(
            "coasters",
            players,
            {"max_rounds": ROUNDS, **options},
            samples=2,
            talk=players > 2 and options["alliances"],
        )
        for players, options in COMBINATIONS[:: 1 if SOAK else 13]
    ),
    *(
        Setting("sheets", players, {"shared_discards": shared}, hidden=False)
        for players, shared in product(load_game("sheets").players, (False, True))
    ),
]


def chat(state: Any, seat: int, rng: Any) -> dict[str, Any]:
    """A message to some of the others."""
    players = state.table.config.players
    others = [other for other in range(players) if other != seat]
    to = rng.sample(others, rng.randint(1, len(others)))
    return {"do": "say", "to": to, "text": rng.choice(("hello", "\N{ROCKET}" * 280, "?"))}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_contract_holds(setting: Setting) -> None:
    """In random matches, of which some parts are hidden, all hidden, or none, as the game says."""
    game = load_game(setting.game)
    check_game(
        game,
        players=setting.players,
        options=game.Options(**setting.options),
        matches=SOAK or 1,
        samples=setting.samples,
        hidden=setting.hidden,
        talk=chat if setting.talk else None,
    )


def test_what_is_hidden_in_coasters_is_talk_alone() -> None:
    """Without talk nothing is hidden; with it determinized positions lack what others said."""
    game = load_game("coasters")
    quiet = game.Options(alliances=False, max_rounds=6)
    check_game(game, players=3, options=quiet, matches=2, samples=4, hidden=False)
    talking = game.Options(max_rounds=6)
    check_game(game, players=4, options=talking, matches=2, samples=8, talk=chat, hidden=True)
