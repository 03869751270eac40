"""Actions of sheets: what parse accepts, and what it says when it does not."""

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
    """Marks by unit and section, then free lines; take before reroll before pass. The longest list has 144 actions."""
    state = table.marking(
        table.sheet(free_lines=1, rerolls=1), table.sheet(), kept=["white", "black-1", "blue"], round=5
    )
    assert table.kinds(state) == ["line", "yellow", "red", "blue", "free-line"]
    solo = table.state(table.sheet(free_lines=1, rerolls=1), phase="take", offered=["black-1", "red", "blue"])
    assert table.kinds(solo) == ["take", "reroll", "free-line", "pass"]
    assert table.kinds(table.state(table.sheet(free_lines=1, rerolls=1))) == ["keep", "reroll", "free-line"]
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
        (None, 'an action is an object such as {"do": "line"}, not null'),
        ([], "an action is an object"),
        ({}, "no action is called null; possible: line (8 ways); red (11 ways)"),
        ({"do": ["keep"]}, 'no action is called ["keep"]'),
        ({"do": "roll"}, "possible: line (8 ways); red (11 ways)"),
        ({"do": "line"}, 'line has exactly the keys do, edge, not ["do"]'),
        ({"do": "line", "edge": 1, "box": 2}, 'keys do, edge, not ["do", "edge", "box"]'),
        ({"do": "line", "edge": True}, "line: edge must be a whole number, not true"),
        ({"do": "line", "edge": 1.0}, "edge must be a whole number, not 1.0"),
        (
            {"do": "line", "edge": 83},
            "line 83 is not possible now; possible: line 1, 6, 7, 12, 43, 44, 49, 50; red",
        ),
        ({"do": "line", "edge": -1}, "line -1 is not possible now"),
        (
            {"do": "red", "value": 5, "box": "4", "unit": "red"},
            'red: box must be a whole number or null, not "4"',
        ),
        (
            {"do": "red", "value": 5, "box": None, "unit": "red"},
            "red (value 5, box 4, unit red), (value 5, box 10",
        ),
        ({"do": "red", "value": 5, "box": 4, "unit": "pink"}, "red: unit must be one of white, black-1"),
        ({"do": "pass"}, "pass is not possible now; possible: line (8 ways); red (11 ways)"),
    ],
)
def test_parse_says_what_is_wrong(table: Any, data: Any, text: str) -> None:
    """Anything but a legal action is refused with a text that helps."""
    state = table.marking(kept=["white", "red"])
    with pytest.raises(ActionError) as caught:
        GAME.parse(state, 0, data)
    assert text in str(caught.value)


def test_a_seat_that_is_not_to_act_has_no_actions(table: Any) -> None:
    """Its list is empty, and nothing can be parsed for it."""
    state = table.marking(kept=["white", "red"])
    assert GAME.legal(state, 1) == ()
    with pytest.raises(ActionError, match="another seat is to act"):
        GAME.parse(state, 1, {"do": "line", "edge": 1})
