"""The strongest player of aliens plays the set-up on before it lays a wormhole."""

from random import Random

import numpy as np
import pytest

from warpleague.games.aliens.geometry import COUNT, HOME, INDEX, STARTS
from warpleague.opponents.aliens_layout import Holes, Layouts
from warpline.budget import Budget

FREE = [square for square in range(COUNT) if HOME[square] < 0]


@pytest.fixture(scope="module")
def layouts() -> Layouts:
    """For the standard options."""
    return Layouts("normal", both=False)


def holes(coins: list[int], seed: int, hidden: int) -> Holes:
    """The coins on random squares; those of the side `hidden` lie suit side up."""
    squares = Random(seed).sample(FREE, len(coins))
    return tuple(
        (square, tuple(range(coin // 6 * 6, coin // 6 * 6 + 6)) if coin // 12 == hidden else (coin,))
        for coin, square in zip(coins, squares, strict=True)
    )


def test_a_layout_has_the_same_hopes_in_a_batch_and_alone(layouts: Layouts) -> None:
    some = [holes(list(range(24)), seed, hidden=2) for seed in (1, 2)]
    batch = layouts.placed(
        np.array([[(coins[0], square) for square, coins in one] for one in some]).swapaxes(0, 1)
    )
    for side in (0, 1):
        both = layouts.hopes(side, layouts.plain[side].repeat(2, axis=1), 40, None, batch)
        for number, one in enumerate(some):
            alone = layouts.hopes(side, layouts.plain[side], 40, layouts.holes_as_arrays(one), None)
            assert both[:, number] == pytest.approx(alone[:, 0], abs=1e-5)
            assert alone[STARTS[2 * side]] != pytest.approx(layouts.plain[side][STARTS[2 * side]])


def test_unknown_coins_are_dealt_as_the_enemy_would_lay_them(layouts: Layouts) -> None:
    mine, known, first, second = (INDEX[square] for square in ((8, 11), (8, 9), (4, 8), (5, 14)))
    alone = INDEX[5, 6]  # five steps SE lead to a base
    crowns, arms = (12, 14, 15, 16, 17), (18, 19, 20, 21, 22, 23)
    lying = ((mine, (0,)), (known, (13,)), (first, crowns), (second, crowns), (alone, arms))
    draw = np.random.default_rng(1)
    deals = [{square: coin for coin, square in layouts.dealt(1, lying, draw)} for _ in range(40)]
    for deal in deals:
        assert set(deal) == {known, first, second, alone}
        assert deal[known] == 13
        assert {deal[first], deal[second]} < set(crowns)
        assert deal[first] != deal[second]
    assert sum(deal[alone] == 23 for deal in deals) > 30


def test_the_set_up_is_played_to_the_end(layouts: Layouts) -> None:
    lying = holes([0, 7, 12, 20], seed=4, hidden=0)
    taken = {square for square, _ in lying}
    free = [square for square in FREE if square not in taken]
    tried = np.array([(14, free[0]), (23, free[5])])
    ends = layouts.play_on(1, lying, tried, layouts.likes[1], np.random.default_rng(2), Budget())
    assert ends is not None
    for number in range(ends.shape[1]):
        coins, squares = ends[:, number, 0].tolist(), ends[:, number, 1].tolist()
        assert sorted(coins) == list(range(24))
        assert len(set(squares)) == 24
        assert tuple(tried[number % 2]) in zip(coins, squares, strict=True)


def test_the_last_wormhole_leads_from_the_path_to_a_base(layouts: Layouts) -> None:
    """A 5 of Arms leads SE, where the bases of the enemy are."""
    lying = holes([*range(12), *range(12, 23)], seed=5, hidden=0)
    taken = {square for square, _ in lying}
    spots = [(23, square) for square in FREE if square not in taken]
    choice = spots[layouts.place(1, lying, spots, Random(1), Budget())][1]
    ends = layouts.leads[23, choice]
    hopes = layouts.plain[1][:, 0]
    assert hopes[ends].max() > hopes[choice]
