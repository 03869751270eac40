"""Actions of sheets: what parse accepts, and what it says when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from warpleague.errors import ActionError
from warpleague.games.sheets import GAME


def test_every_action_is_one_shared_object(table: Any) -> None:
    """`parse` gives the very object that legal lists."""
    state = table.marking(
        table.sheet(free_lines=1), table.sheet(), kept=["white", "black-1", "blue"], round=5
    )
    for action in GAME.legal(state, 0):
        assert GAME.parse(state, 0, GAME.action_json(action)) is action


def test_the_canonical_order(table: Any) -> None:
    """Marks by unit and section, then free lines, in ascending numbers; take before reroll before pass."""
    state = table.marking(
        table.sheet(free_lines=1, rerolls=1), table.sheet(), kept=["white", "black-1", "blue"], round=5
    )
    assert table.kinds(state) == ["line", "yellow", "red", "blue", "free-line"]
    solo = table.state(table.sheet(free_lines=1, rerolls=1), phase="take", offered=["black-1", "red", "blue"])
    assert table.kinds(solo) == ["take", "reroll", "free-line", "pass"]
    assert table.kinds(table.state(table.sheet(free_lines=1, rerolls=1))) == ["keep", "reroll", "free-line"]


def test_the_longest_list_of_actions(table: Any) -> None:
    """The most that can be legal at once: white, two wild black dice, and a free line on an empty sheet."""
    state = table.marking(
        table.sheet(free_lines=1, blue=[1, 2]),
        table.sheet(),
        kept=["white", "black-1", "black-2"],
        dice={"white": [1, 2], "black-1": 1, "black-2": 2},
        round=5,
    )
    assert len(GAME.legal(state, 0)) == 8 + 2 * (4 + 11 + 11) + 84 == 144


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "JSON object"),
        ([], "JSON object"),
        ({}, "'do' must be one of keep, reroll"),
        ({"do": ["keep"]}, "'do' must be one of"),
        ({"do": "roll"}, "legal now: line, red"),
        ({"do": "line"}, "lacks the key 'edge'"),
        ({"do": "line", "edge": 1, "box": 2}, "has no key 'box'"),
        ({"do": "line", "edge": True}, "'edge' of 'line' must be an integer"),
        ({"do": "line", "edge": 1.0}, "must be an integer"),
        ({"do": "line", "edge": 83}, '{"do": "line", "edge": 1}'),
        ({"do": "line", "edge": -1}, "this 'line' is not legal now"),
        ({"do": "red", "value": 5, "box": "4", "unit": "red"}, "'box' of 'red' must be an integer or null"),
        ({"do": "red", "value": 5, "box": None, "unit": "red"}, "of this kind are legal"),
        ({"do": "pass"}, "'pass' is not legal now; legal now: line, red"),
    ],
)
def test_parse_says_what_is_wrong(table: Any, data: Any, text: str) -> None:
    """Anything but a legal action is refused with a text that helps."""
    state = table.marking(kept=["white", "red"])
    with pytest.raises(ActionError) as caught:
        GAME.parse(state, 0, data)
    assert text in str(caught.value)
