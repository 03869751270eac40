"""Sheets keeps the contract of all games, with every number of players and both options."""

import os

import pytest

from warpleague.games.contract import check_game
from warpleague.games.sheets import GAME

SOAK = int(os.environ.get("WARPLEAGUE_SOAK", "0"))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("players", GAME.players)
def test_the_contract_suite(players: int, shared: bool) -> None:
    """Random matches, views, codecs, retirements: all as `warpleague.games.contract` demands."""
    check_game(GAME, players=players, options=GAME.Options(shared), matches=1, hidden=False)


@pytest.mark.skipif(not SOAK, reason="set WARPLEAGUE_SOAK to the number of matches, such as 1000")
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("players", GAME.players)
def test_the_contract_suite_at_length(players: int, shared: bool) -> None:
    """The same over many matches, with fewer samples of each."""
    check_game(
        GAME, players=players, options=GAME.Options(shared), matches=SOAK, samples=2, seed=1, hidden=False
    )
