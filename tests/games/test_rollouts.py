"""Random play in place: as `legal` and `apply` play with the same numbers, from any position."""

from collections.abc import Callable
from itertools import repeat
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.errors import OptionsError
from warpleague.games import GAMES, load_game
from warpleague.games.api import Game, Rolled, Weights
from warpleague.games.playout import drawn, random_roll, rollout
from warpleague.sim import CHANCE, Dice, common_dice

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "aliens": [{}, {"max_turns": 30}, {"both_ships": True}, {"diagonals": "swapped"}],
    "captains": [{}, {"max_rounds": 8}, {"galaxy": "basic"}],
    "coasters": [
        {},
        {"max_rounds": 5},
        {"alliances": False},
        {"colours": 2},
        {"colours": 2, "free_colour": True},
        {"system_swap": True, "wild_shot": True},
    ],
    "sheets": [{}, {"shared_discards": True}],
}
TABLES = [
    (name, players, options)
    for name in GAMES
    for players in load_game(name).players
    for options in OPTIONS[name]
]


def position(game: Game[Any, Any], players: int, options: Any, rng: Random) -> Any:
    """A position that random play comes to; perhaps some seats have retired on the way."""
    state = game.initial(players, options)
    retired: list[int] = []
    while True:
        state = rollout(game, state, rng.random, rng.choice((0, 1, 3, 12, 40, 120)))
        if len(retired) == players - 1 or not game.actors(state) or rng.random() < 0.7:
            return state
        retired.append(rng.choice([seat for seat in range(players) if seat not in retired]))
        state, _ = game.retire(state, retired[-1])


def applied(
    game: Game[Any, Any],
    state: Any,
    random: Callable[[], float],
    most: int,
    roll: Callable[[str, tuple[Weights, ...]], Rolled] | None,
) -> Any:
    """What `rollout` is to return, by a new position for each move."""
    while most and (actors := game.actors(state)):
        if actors == (CHANCE,):
            draws = game.chance(state)
            move: Any = (
                roll(game.address(state), draws) if roll else tuple([drawn(draw, random()) for draw in draws])
            )
        else:
            legal = list(game.legal(state, actors[0]))
            most -= len(legal) > 1
            move = legal[int(random() * len(legal)) if len(legal) > 1 else 0]
        state, _ = game.apply(state, move)
    return state


def rolling(dice: Dice) -> Callable[[str, tuple[Weights, ...]], Rolled]:
    """Rolls by address, as a rollout wants it."""
    return lambda address, draws: dice.roll(dice.at(address), draws)


@settings(deadline=None)
@given(
    table=st.sampled_from(TABLES),
    seed=st.integers(0, 1 << 32),
    most=st.sampled_from((-1, -1, 0, 1, 2, 30)),
    with_dice=st.booleans(),
)
def test_a_rollout_plays_as_legal_and_apply_do(
    table: tuple[str, int, dict[str, Any]], seed: int, most: int, with_dice: bool
) -> None:
    """It reaches the same position with the same numbers or dice, and takes exactly as many numbers."""
    name, players, given_options = table
    game = load_game(name)
    options = game.Options(**given_options)
    try:
        game.check_options(players, options)
    except OptionsError:
        return
    state = position(game, players, options, Random(seed))
    before = game.to_json(state)
    numbers = Random(seed), Random(seed)
    ends = [
        play(game, state, rng.random, most, rolling(common_dice(str(seed))) if with_dice else None)
        for play, rng in zip((rollout, applied), numbers, strict=True)
    ]
    assert ends[0] == ends[1]
    assert game.to_json(ends[0]) == game.to_json(ends[1])
    assert numbers[0].random() == numbers[1].random()
    assert game.to_json(state) == before
    if not game.actors(ends[1]):
        assert game.outcome(ends[0]) == game.outcome(ends[1])


@pytest.mark.parametrize("name", GAMES)
def test_a_rollout_chooses_each_legal_action_equally_often(name: str) -> None:
    """Of n actions the i-th is chosen by the numbers from i / n up to (i + 1) / n, in every kind of decision."""
    game = load_game(name)
    rng = Random(7)
    kinds = set()
    for _ in range(40):
        state = position(game, max(2, game.players[0]), game.Options(), rng)
        actors = game.actors(state)
        while actors == (CHANCE,):
            state, _ = game.apply(state, random_roll(game.chance(state), rng))
            actors = game.actors(state)
        if not actors:
            continue
        legal = game.legal(state, actors[0])
        kinds.add(game.ask(state, actors[0]))
        for number in range(len(legal)) if len(legal) > 1 else ():
            for within in (0.001, 0.999):
                chosen = rollout(game, state, repeat((number + within) / len(legal)).__next__, 1)
                assert chosen == game.apply(state, legal[number])[0]
    assert len(kinds) > 2
