"""Matches side by side as arrays: the same matches, numbers and rewards as those of the environment."""

from random import Random
from typing import Any

import numpy as np
import pytest

from warpleague.extras.bridges.pettingzoo import batch, env
from warpleague.games import GAMES, load_game


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
