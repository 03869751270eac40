"""Whether our games as games of OpenSpiel pass OpenSpiel's own tests, and are the same games."""

import subprocess
import sys
from random import Random
from typing import Any

import pyspiel
import pytest

from warpleague.errors import BadInput
from warpleague.extras.bridges.openspiel.ours import register
from warpleague.games import GAMES, load_game
from warpleague.match.chance import Dice, match_key

# OpenSpiel finds the games to test when its module is imported.
API_TEST = """
import sys, unittest
from absl import flags
from warpleague.extras.bridges.openspiel.ours import register

register()
from open_spiel.integration_tests import api_test

flags.FLAGS(["test", "--test_only_games=warpleague_.*"])
result = unittest.TextTestRunner().run(api_test.load_tests(unittest.defaultTestLoader, None, None))
assert result.testsRun >= 20, result
sys.exit(not result.wasSuccessful())
"""


@pytest.fixture(autouse=True)
def registered() -> None:
    """OpenSpiel knows our games."""
    assert register() == tuple(f"warpleague_{game}" for game in GAMES)


def test_openspiels_api_test_passes() -> None:
    """All its tests of parts of a game's tree hold for each of the four games."""
    done = subprocess.run(
        [sys.executable, "-c", API_TEST], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize(
    ("game", "players"), [("aliens", 2), ("captains", 1), ("coasters", 2), ("sheets", 1), ("sheets", 3)]
)
def test_openspiels_random_matches_pass(game: str, players: int) -> None:
    """Its own test plays a random match, and checks each position of it."""
    name = pyspiel.load_game(f"warpleague_{game}", {"players": players})
    pyspiel.random_sim_test(name, num_sims=1, serialize=False, verbose=False)


def test_a_match_goes_as_one_of_ours() -> None:
    """With the dice of a seed and the same decisions, both come to the same position and result."""
    ours, game = load_game("aliens"), pyspiel.load_game("warpleague_aliens")
    dice, rng, state = Dice(match_key("7")), Random(7), game.new_initial_state()
    position: Any = ours.initial(2, ours.Options())
    while actors := ours.actors(position):
        if actors[0] < 0:
            move: Any = dice.roll(dice.at(ours.address(position)), ours.chance(position))
            for outcome in move:
                assert outcome in [number for number, _ in state.chance_outcomes()]
                state.apply_action(outcome)
        else:
            move = rng.choice(ours.legal(position, actors[0]))
            if len(ours.legal(position, actors[0])) > 1:
                assert state.current_player() == actors[0]
                assert state.observation_string() == ours.view_json(position, actors[0]).decode()
                state.apply_action(game.numbers[move])
        position, _ = ours.apply(position, move)
    assert state.is_terminal()
    ranks = ours.outcome(position).ranks
    assert state.returns() == [
        (ranks[1] > ranks[0]) - (ranks[1] < ranks[0]),
        (ranks[0] > ranks[1]) - (ranks[0] < ranks[1]),
    ]


def test_a_copy_goes_its_own_way() -> None:
    """What is done to a clone does not change the original."""
    state = pyspiel.load_game("warpleague_sheets(players=2)").new_initial_state()
    text, clone = str(state), state.clone()
    clone.apply_action(clone.chance_outcomes()[0][0])
    assert str(state) == text != str(clone)


def test_options_are_checked() -> None:
    """An option that does not fit is refused with its name."""
    with pytest.raises((BadInput, RuntimeError), match="max_turns"):
        pyspiel.load_game("warpleague_aliens", {"max_turns": -1})
