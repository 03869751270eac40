"""The worth functions of games: shares of points, in every position that can come about."""

import re
from importlib import import_module
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from warpleague.games import game_ids, load_game
from warpleague.games.api import CHANCE
from warpleague.match.luck import worth_of
from warpleague.match.setup import load_options

TABLES: list[tuple[str, int, dict[str, Any]]] = [
    ("aliens", 2, {"max_turns": 60}),
    ("aliens", 2, {"both_ships": True, "diagonals": "swapped", "max_turns": 60}),
    ("coasters", 2, {}),
    ("coasters", 2, {"max_rounds": 2}),
    ("coasters", 2, {"colours": 2}),
    ("coasters", 2, {"system_swap": True}),
    ("coasters", 2, {"wild_shot": True}),
    ("coasters", 3, {}),
    ("coasters", 5, {"colours": 2, "free_colour": True}),
]


def positions(game_id: str, players: int, options: dict[str, Any], seed: int, most: int = 300) -> list[Any]:
    """The positions of a match played at random, the last one too."""
    game, rng = load_game(game_id), Random(seed)
    state = game.initial(players, load_options(game, players, options))
    found = [state]
    while (actors := game.actors(state)) and len(found) < most:
        if actors == (CHANCE,):
            move: Any = tuple(
                rng.randrange(draw) if isinstance(draw, int) else rng.choices(range(len(draw)), draw)[0]
                for draw in game.chance(state)
            )
        elif rng.random() < 0.01 and len(actors) == 1:
            state = game.retire(state, actors[0])[0]
            found.append(state)
            continue
        else:
            move = rng.choice(game.legal(state, actors[0]))
        state = game.apply(state, move)[0]
        found.append(state)
    return found


@pytest.mark.parametrize(("game_id", "players", "options"), TABLES)
def test_shares_add_up(game_id: str, players: int, options: dict[str, Any]) -> None:
    """Each is in [0, 1], and together they are half the number of seats, to the end and with whatever options."""
    worth = worth_of(game_id)
    assert worth is not None
    for seed in range(2):
        for state in positions(game_id, players, options, seed):
            shares = worth.shares(state)
            assert len(shares) == players
            assert all(0 <= share <= 1 for share in shares)
            assert sum(shares) == pytest.approx(players / 2)


def test_a_duel_is_worth_what_the_dice_make_of_it() -> None:
    """Before a roll a position is worth about the mean of its worth after each: the table leaves out a few turns."""
    game, worth = load_game("coasters"), worth_of("coasters")
    assert worth is not None
    before = [state for state in positions("coasters", 2, {}, 5) if game.actors(state) == (CHANCE,)][:20]
    assert len(before) == 20
    off = []
    for state in before:
        after = [
            worth.shares(game.apply(state, roll)[0])[0]
            for roll in product(*map(range, game.chance(state)))  # type: ignore[arg-type]
        ]
        assert max(after) - min(after) > 0
        off.append(worth.shares(state)[0] - fmean(after))
    assert max(map(abs, off)) < 0.08
    assert abs(fmean(off)) < 0.02


@pytest.mark.parametrize(
    ("game_id", "options"), [("aliens", {"max_turns": 40}), ("coasters", {"max_rounds": 9})]
)
def test_a_game_that_is_over_is_worth_its_points(game_id: str, options: dict[str, Any]) -> None:
    """The seat that won has all points."""
    worth = worth_of(game_id)
    assert worth is not None
    ends = [positions(game_id, 2, options, seed, 10_000)[-1] for seed in range(8)]
    for end in ends:
        ranks = load_game(game_id).outcome(end).ranks
        wanted = {(1, 2): (1.0, 0.0), (2, 1): (0.0, 1.0), (1, 1): (0.5, 0.5)}
        assert worth.shares(end) == wanted[ranks[0], ranks[1]]


def test_dice_that_bring_a_ship_nearer_are_luck() -> None:
    """In aliens a side that can reach a base at once, by its dice, is ahead of where it was before the roll."""
    game, worth = load_game("aliens"), worth_of("aliens")
    assert worth is not None
    gains = []
    for state in positions("aliens", 2, {"max_turns": 200}, 3, 2_000):
        if game.actors(state) != (CHANCE,) or not worth.shares(state)[state.seat] < 0.9:
            continue
        after = [
            game.apply(state, roll)[0]
            for roll in product(*map(range, game.chance(state)))  # type: ignore[arg-type]
        ]
        gains.append(max(worth.shares(one)[state.seat] for one in after) - worth.shares(state)[state.seat])
    assert len(gains) > 10
    assert fmean(gains) > 0.02


@pytest.mark.parametrize("game_id", game_ids())
def test_a_function_names_the_files_that_it_imports(game_id: str) -> None:
    """So its digest covers what it takes from the opponents."""
    worth = worth_of(game_id)
    if worth is None:
        return
    module = import_module(worth.module)
    source = Path(str(module.__file__)).read_text("utf-8")
    imported = set(re.findall(r"^from warpleague\.opponents\.(\w+) import", source, re.MULTILINE))
    assert {f"{name}.py" for name in imported} <= set(module.FILES)
