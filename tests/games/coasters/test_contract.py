"""The contract suite over all player counts and variations; the long run is a matter of the environment.

With `WARPLEAGUE_SOAK=1000` (`make contract`) so many random matches of every player count and combination of
variations are played.
"""

import os
from itertools import product
from typing import Any

import pytest

from warpleague.games.coasters import GAME
from warpleague.games.contract import check_game

SOAK = int(os.environ.get("WARPLEAGUE_SOAK", "0"))
WORDS = ("hello", "you take the left one", "\N{ROCKET}" * 280, "?")
SWITCHES = ("alliances", "free_colour", "system_swap", "wild_shot")
COMBINATIONS = [
    (players, colours, dict(zip(SWITCHES, values, strict=True)))
    for players in GAME.players
    for colours in range(1, 10 // players + 1)
    for values in product((True, False), repeat=4)
]


def chat(state: Any, seat: int, rng: Any) -> dict[str, Any]:
    """A message to some of the others."""
    players = state.table.config.players
    others = [other for other in range(players) if other != seat]
    to = rng.sample(others, rng.randint(1, len(others)))
    return {"do": "say", "to": to, "text": rng.choice(WORDS)}


@pytest.mark.parametrize("players", GAME.players)
def test_the_contract_holds(players: int) -> None:
    """Random matches without variations keep the contract for every number of players."""
    talk = chat if players > 2 else None
    check_game(GAME, players=players, options=GAME.Options(max_rounds=7), matches=1, samples=4, talk=talk)


@pytest.mark.parametrize(("players", "colours", "switches"), COMBINATIONS[::13])
def test_the_contract_holds_with_variations(players: int, colours: int, switches: Any) -> None:
    """One short match for every thirteenth combination of players and variations."""
    options = GAME.Options(colours=colours, max_rounds=4, **switches)
    check_game(GAME, players=players, options=options, matches=1, samples=2, seed=1)


def test_what_is_hidden_is_talk_alone() -> None:
    """Without talk nothing is hidden; with it determinized positions lack what others said."""
    quiet = GAME.Options(alliances=False, max_rounds=6)
    check_game(GAME, players=3, options=quiet, matches=2, samples=4, hidden=False)
    check_game(
        GAME, players=4, options=GAME.Options(max_rounds=6), matches=2, samples=8, talk=chat, hidden=True
    )


@pytest.mark.skipif(not SOAK, reason="set WARPLEAGUE_SOAK to the matches of each combination")
@pytest.mark.parametrize(("players", "colours", "switches"), COMBINATIONS if SOAK else COMBINATIONS[:1])
def test_soak_random_matches_of_every_combination(players: int, colours: int, switches: Any) -> None:
    """The contract holds over many matches of every combination."""
    options = GAME.Options(colours=colours, max_rounds=60, **switches)
    talk = chat if players > 2 and switches["alliances"] else None
    check_game(GAME, players=players, options=options, matches=SOAK, samples=2, seed=2, talk=talk)
