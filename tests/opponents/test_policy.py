"""Reference opponents as policies for playouts."""

from random import Random
from typing import Any

import pytest

import warpleague.sim as sim
from warpleague.errors import BadInput
from warpleague.opponents.player import policy

TABLES: list[tuple[str, int, dict[str, Any]]] = [
    ("aliens", 2, {"max_turns": 6, "diagonals": "swapped"}),
    ("captains", 1, {"max_rounds": 6}),
    ("captains", 3, {"max_rounds": 4}),
    ("coasters", 4, {"max_rounds": 3}),
    ("sheets", 2, {}),
]


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize(("game", "players", "options"), TABLES)
def test_a_level_plays_a_match_out(game: str, players: int, options: dict[str, Any], level: int) -> None:
    """Every choice is legal, and equal seeds give equal playouts."""
    table = sim.Simulator(game, players, options)
    start = table.roll_all(table.start(), Random(3))
    ends = [
        table.finish(start, Random(4), policy=policy(game, level), dice=sim.common_dice("x"))
        for _ in range(2)
    ]
    assert table.actor(ends[0]) is None
    assert table.key(ends[0]) == table.key(ends[1])


def test_a_level_beats_random_play() -> None:
    """The third level scores more than random play does at the same table."""
    table = sim.Simulator("captains", 2, {"max_rounds": 15})
    third, random = policy("captains", 3), policy("captains", 1)

    def mixed(state: Any, seat: int, legal: Any, rng: Random) -> Any:
        return (third if seat == 0 else random)(state, seat, legal, rng)

    ends = [table.finish(table.start(), Random(seed), policy=mixed) for seed in range(6)]
    scores = [table.scores(end) for end in ends]
    assert sum(ours for ours, _ in scores) > sum(theirs for _, theirs in scores)


def test_a_level_knows_only_what_its_seat_knows() -> None:
    """In two worlds that look the same to the seat it chooses the same."""
    table, rng = sim.Simulator("captains", 3), Random(2)
    state = table.finish(table.start(), rng, most=40)
    state = table.roll_all(state, rng)
    seat = table.actor(state)
    assert seat is not None
    choose = policy("captains", 4)
    worlds = [table.determinize(table.view(state, seat), seat, rng) for _ in range(4)]
    chosen = {choose(world, seat, table.legal(world), Random(5)) for world in worlds}
    assert len(chosen) == 1


@pytest.mark.parametrize(("game", "level"), [("chess", 2), ("captains", 0), ("captains", 6)])
def test_a_level_that_is_not_there(game: str, level: int) -> None:
    """The error names what there is."""
    with pytest.raises(BadInput, match=r"only aliens, captains|the levels are 1 to 5"):
        policy(game, level)
