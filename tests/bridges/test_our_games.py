"""Whether our games as games of OpenSpiel pass OpenSpiel's own tests, and are the same games."""

import copy
import pickle
import subprocess
import sys
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from pettingzoo.test import api_test, seed_test

from warpleague.errors import BadInput, PositionError
from warpleague.extras.bridges.openspiel.ours import register
from warpleague.extras.bridges.pettingzoo import batch, encoder, env
from warpleague.extras.bridges.pettingzoo.encoding import MISSING
from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE
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


# Whether our games are environments that trainers can use: the interface, numbers of actions, arrays, rewards.


TABLES = [(game, players) for game in GAMES for players in load_game(game).players]


def played(environment: Any, seed: int | None = None) -> tuple[list[int], dict[str, float]]:
    """The actions of a random match, and the rewards at its end."""
    environment.reset(seed=seed)
    rng = Random(3)
    actions = []
    rewards: dict[str, float] = {}
    for agent in environment.agent_iter():
        seen, reward, terminated, _, _ = environment.last()
        if terminated:
            rewards[agent] = reward
            assert not seen["action_mask"].any()
            environment.step(None)
            continue
        actions.append(int(rng.choice(seen["action_mask"].nonzero()[0])))
        environment.step(actions[-1])
    return actions, rewards


@pytest.mark.filterwarnings("ignore")  # its hints on how observations might be scaled
@pytest.mark.parametrize(("game", "players"), TABLES)
def test_pettingzoos_own_tests_pass(game: str, players: int) -> None:
    """The interface is kept with every number of players, and equal seeds give equal matches."""
    api_test(env(game, players), num_cycles=150)
    seed_test(lambda: env(game, players), num_cycles=40)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_every_legal_action_has_a_number(game: str, players: int) -> None:
    """In a whole random match each mask has as many ones as there are legal actions, and rewards sum to nothing."""
    environment = env(game, players)
    environment.reset(seed=5)
    rng = Random(5)
    while environment.agents:
        agent = environment.agent_selection
        if environment.terminations[agent]:
            break
        mask = environment.observe(agent)["action_mask"]
        assert mask.sum() == len(environment.legal)
        environment.step(int(rng.choice(mask.nonzero()[0])))
    if players > 1:
        assert sum(environment.rewards.values()) == pytest.approx(0)


def test_numbers_are_those_of_the_encoder() -> None:
    """An environment and the arrays of its table number the same actions and places, each once."""
    environment, table = env("sheets", 4), encoder("sheets", 4)
    assert environment.actions == table.actions
    assert environment.names == table.names
    assert len(set(table.actions)) == len(table.actions)
    assert len(set(table.names)) == len(table.names)


def test_a_seed_deals_what_a_match_deals() -> None:
    """After `reset(seed=7)` the position is that of a match with `--seed 7`."""
    environment = env("aliens")
    environment.reset(seed=7)
    game, dice = load_game("aliens"), Dice(match_key("7"))
    state = game.initial(2, game.Options())
    while game.actors(state) == (CHANCE,):
        state, _ = game.apply(state, dice.roll(dice.at(game.address(state)), game.chance(state)))
    assert environment.position == state


def test_places_hold_what_their_names_say() -> None:
    """The numbers of the view stand where the names tell; what is not there is marked."""
    environment = env("aliens")
    environment.reset(seed=1)
    seen = environment.observe("seat_0")["observation"]
    view = environment.game.view(environment.position, 0)
    at = {name: number for number, name in enumerate(environment.names)}
    for ship, (x, y) in view["ships"].items():
        assert (seen[at[f"ships.{ship}[0]"]], seen[at[f"ships.{ship}[1]"]]) == (x, y)
    assert seen[at["turn"]] == view["turn"]
    assert seen[at["wormholes[0].value"]] == MISSING
    assert seen.dtype == np.int16


def test_a_hidden_value_changes_no_array() -> None:
    """What a seat cannot know is not in its array: a position guessed from its view has the same."""
    environment = env("aliens")
    environment.reset(seed=2)
    rng = Random(2)
    for _ in range(60):
        mask = environment.observe(environment.agent_selection)["action_mask"]
        environment.step(int(rng.choice(mask.nonzero()[0])))
    game, truth = environment.game, environment.position
    for seat, agent in enumerate(environment.possible_agents):
        before = environment.observe(agent)["observation"]
        environment.position = game.determinize(game.view(truth, seat), seat, Random(9))
        assert (environment.observe(agent)["observation"] == before).all()
        environment.position = truth


def test_a_series_without_seeds_goes_on() -> None:
    """Two series from one seed are alike; the second match of a series is another than the first."""
    one, two = env("sheets", 2), env("sheets", 2)
    first = [played(one, 4), played(one)]
    assert first == [played(two, 4), played(two)]
    assert first[0] != first[1]


@pytest.mark.parametrize("game", GAMES)
def test_copies_play_on_alike(game: str) -> None:
    """A running environment or batch is copied and pickled; what one of them plays changes none of the others."""
    players = load_game(game).players[-1]
    environment, matches = env(game, players), batch(game, 2, players)
    environment.reset(seed=7)

    def went(at: Any, side: Any) -> list[Any]:
        rng, seen = Random(3), []
        for _ in range(40):
            agent = at.agent_selection
            if at.terminations[agent]:
                break
            at.step(int(rng.choice(at.observe(agent)["action_mask"].nonzero()[0])))
            side.step([rng.choice(mask.nonzero()[0].tolist()) for mask in side.masks()])
            seen += [at.position, *side.positions]
        return seen

    went(environment, matches)
    both = environment, matches
    copies = [pickle.loads(pickle.dumps(both)), copy.deepcopy(both), tuple(map(copy.copy, both))]
    assert len(pickle.dumps(both)) < 1_000_000
    expected = went(*both)
    assert all(went(*each) == expected for each in copies)


def test_mistakes_are_told() -> None:
    """An action that is not legal, a game that is none of ours, and a table, batch or view that cannot be."""
    environment = env("aliens")
    environment.reset(seed=1)
    illegal = int((environment.observe(environment.agent_selection)["action_mask"] == 0).nonzero()[0][0])
    with pytest.raises(ValueError, match="action mask"):
        environment.step(illegal)
    with pytest.raises(BadInput, match="only aliens, captains"):
        env("allens")
    with pytest.raises(BadInput, match="max_rounds"):
        env("captains", 2, max_rounds=0)
    with pytest.raises(BadInput, match="not '2'"):
        env("aliens", "2")  # type: ignore[arg-type]
    for matches in (0, -1, 2.5):
        with pytest.raises(BadInput, match=f"matches: must be a whole number of at least 1, not {matches}"):
            batch("sheets", matches)  # type: ignore[arg-type]
    for view in ({}, None, {"round": 1}):
        with pytest.raises(PositionError, match="view: this is none of sheets"):
            encoder("sheets").observation(view)  # type: ignore[arg-type]


def test_a_batch_takes_whole_numbers_of_legal_actions() -> None:
    """`ValueError` says in which match something else was given; then nothing happened."""
    matches = batch("sheets", 2)
    before = matches.positions
    legal = [int(number) for number in matches.masks().argmax(1)]
    for wrong in (float("nan"), float(legal[1]), str(legal[1]), matches.masks()[1], -1, 10**6):
        with pytest.raises(ValueError, match="in match 1"):
            matches.step([legal[0], wrong])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="2 actions, one for each match, not 1"):
        matches.step(legal[:1])
    assert matches.positions == before
    matches.step(np.array(legal, np.int8 if max(legal) < 128 else np.int16))
    assert matches.positions != before


# Matches side by side as arrays: the same matches, numbers and rewards as those of the environment.


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("most", [False, True])
def test_a_batch_plays_as_environments_do(game: str, most: bool) -> None:
    """Each match of it has the observations, masks and rewards of an environment with the same dice and actions."""
    players = load_game(game).players[-1 if most else 0]
    options: dict[str, Any] = {"aliens": {"max_turns": 10}, "sheets": {}}.get(game, {"max_rounds": 3})
    matches = batch(game, 3, players, seed="s", **options)
    alone = [env(game, players, **options) for _ in range(3)]
    for number, environment in enumerate(alone):
        environment.reset(seed=f"s {number}")  # type: ignore[arg-type]
    rng = Random(1)
    ended = np.zeros(3, np.bool_)
    for _ in range(1000):
        seats, seen, masks = matches.seats(), matches.observations(), matches.masks()
        for place, environment in enumerate(alone):
            assert environment.agent_selection == f"seat_{seats[place]}"
            there = environment.observe(environment.agent_selection)
            assert (there["observation"] == seen[place]).all()
            assert (there["action_mask"] == masks[place]).all()
        numbers = [rng.choice(mask.nonzero()[0].tolist()) for mask in masks]
        ended, rewards = matches.step(numbers)
        for place, environment in enumerate(alone):
            environment.step(numbers[place])
            if ended[place]:
                assert rewards[place].tolist() == pytest.approx(list(environment.rewards.values()))
            else:
                assert not rewards[place].any()
        if ended.any():
            break
    assert ended.any()
