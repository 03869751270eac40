"""Matches side by side as arrays, for learners; `tests/bridges` compares them with environments of PettingZoo."""

import pytest

from warpleague.errors import BadInput
from warpleague.extras.bridges.pettingzoo import batch


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
    before = list(matches.positions)
    legal = matches.masks().argmax(1).tolist()
    for wrong in ([legal[0], -1], [legal[0], len(matches.actions)], [legal[0], 2000], legal[:1]):
        with pytest.raises(ValueError, match=r"not legal in match 1|there must be 2 actions"):
            matches.step(wrong)
    assert matches.positions == before
    with pytest.raises(BadInput):
        batch("aliens", 2, 3)
