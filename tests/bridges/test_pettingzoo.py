"""Whether our games are environments that trainers can use: the interface, numbers of actions, arrays, rewards."""

from random import Random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from warpleague.errors import BadInput
from warpleague.extras.bridges.pettingzoo import env
from warpleague.extras.bridges.pettingzoo.encoding import MISSING
from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE
from warpleague.match.chance import Dice, match_key

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


def test_numbers_do_not_depend_on_the_table() -> None:
    """The same action has the same number with two players and with four, and the arrays the same places."""
    two, four = env("sheets", 2), env("sheets", 4)
    assert two.actions == four.actions
    assert two.names == four.names
    assert len(set(two.actions)) == len(two.actions)
    assert len(set(two.names)) == len(two.names)


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


def test_mistakes_are_told() -> None:
    """An action that is not legal, a game that is none of ours, and options that do not fit are refused."""
    environment = env("aliens")
    environment.reset(seed=1)
    illegal = int((environment.observe(environment.agent_selection)["action_mask"] == 0).nonzero()[0][0])
    with pytest.raises(ValueError, match="action mask"):
        environment.step(illegal)
    with pytest.raises(BadInput, match="only aliens, captains"):
        env("allens")
    with pytest.raises(BadInput, match="max_rounds"):
        env("captains", 2, max_rounds=0)
