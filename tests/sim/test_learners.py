"""Matches side by side as arrays, for learners; `tests/bridges` compares them with environments of PettingZoo."""

from random import Random
from typing import Any

import pytest

import warpleague.sim as sim
from warpleague.errors import BadInput
from warpleague.extras.bridges.pettingzoo import batch, encoder
from warpleague.extras.bridges.pettingzoo.encoding import MISSING

TABLES: list[tuple[str, int, dict[str, Any]]] = [
    ("aliens", 2, {"both_ships": True, "max_turns": 40}),
    ("captains", 1, {"pattern": "decapoda-2", "max_rounds": 12}),
    ("captains", 4, {"pattern": "geotria-7", "max_rounds": 12}),
    ("coasters", 2, {"colours": 3, "free_colour": True, "system_swap": True, "max_rounds": 8}),
    ("coasters", 5, {"max_rounds": 4}),
    ("sheets", 3, {"shared_discards": True}),
]


@pytest.mark.parametrize(("game", "players", "options"), TABLES)
def test_every_legal_action_and_view_has_its_numbers(
    game: str, players: int, options: dict[str, Any]
) -> None:
    """In random matches, for actions as objects and as JSON; only messages have none."""
    arrays, table, rng = encoder(game, players, **options), sim.Simulator(game, players, options), Random(5)
    for _ in range(2):
        state = table.roll_all(table.start(), rng)
        while (seat := table.actor(state)) is not None:
            legal = table.legal(state)
            mask = arrays.mask(legal)
            assert mask.sum() == len(legal)
            assert arrays.number(table.json(legal[-1])) == arrays.number(legal[-1])
            assert arrays.observation(table.view(state, seat)).shape == (len(arrays.names),)
            state = table.play(state, rng.choice(legal), rng)


def test_there_are_few_numbers_that_no_position_has() -> None:
    """A mask is for its own table: it is narrow where few systems, boards or dice can be meant."""
    assert len(encoder("coasters", 2).actions) < 250
    assert len(encoder("sheets", 2).actions) < 700
    assert len(encoder("captains", 2).actions) < len(encoder("captains", 5).actions) < 1400


def test_a_set_has_a_place_for_each_member() -> None:
    """What is drawn on a sheet is a row of ones and zeros; nothing stands where a table has no such seat."""
    arrays, table, rng = encoder("sheets", 2), sim.Simulator("sheets", 2), Random(2)
    state = table.roll_all(table.start(), rng)
    for _ in range(60):
        state = table.play(state, rng.choice(table.legal(state)), rng)
    view = table.view(state, 0)
    seen = dict(zip(arrays.names, arrays.observation(view).tolist(), strict=True))
    for seat, sheet in enumerate(view["sheets"]):
        drawn = [edge for edge in range(84) if seen[f"sheets[{seat}].edges.{edge}"] == 1]
        assert drawn == sheet["edges"] != []
        assert seen[f"sheets[{seat}].points"] == sheet["points"]
    assert MISSING in seen.values()
    assert not [name for name in arrays.names if name.startswith("sheets[2]")]
    with pytest.raises(ValueError, match="no action of this table"):
        arrays.number({"do": "line", "edge": 84})


def test_a_match_that_ends_is_replaced_by_the_next() -> None:
    """All matches stay at a decision, and equal seeds give equal series."""
    series = []
    for _ in range(2):
        matches = batch("sheets", 4, 1, seed="x")
        totals = []
        while len(totals) < 12:
            masks = matches.masks()
            assert masks.any(1).all()
            ended, rewards = matches.step(masks.argmax(1))
            totals += rewards[ended].ravel().tolist()
        series.append(totals)
    assert series[0] == series[1]
    assert len(set(series[0])) > 1


def test_wrong_actions_change_nothing() -> None:
    """An action that is not legal, or too few of them, is refused before any match plays on."""
    matches = batch("aliens", 2)
    before = matches.positions
    legal = matches.masks().argmax(1).tolist()
    for wrong in ([legal[0], -1], [legal[0], len(matches.actions)], [legal[0], 2000], legal[:1]):
        with pytest.raises(ValueError, match=r"not legal in match 1|there must be 2 actions"):
            matches.step(wrong)
    assert matches.positions == before
    with pytest.raises((TypeError, AttributeError)):
        matches.positions[0] = before[1]  # type: ignore[index]
    with pytest.raises(BadInput):
        batch("aliens", 2, 3)
