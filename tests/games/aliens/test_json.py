"""Actions and positions of aliens as they come from outside: what is taken, and what is said to what is not."""

from collections.abc import Callable
from typing import Any

import pytest

from warpleague.errors import ActionError, PositionError
from warpleague.games.aliens import GAME

TURN = {"dice": {"suns": 1, "moons": 0}, "ships": {"suns": [5, 5], "crowns": [5, 6]}}
SENT = {
    "phase": "send", "ships": {"suns": [5, 5], "crowns": [5, 5]}, "holes": [("arms", 1, 6, 6)],
    "pending": {"ship": "crowns", "sends": 16, "then": None},
}  # fmt: skip
PLACED = {"phase": "place", "turn": 0, "holes": [("suns", 1, 5, 5), ("arms", 1, 5, 6)]}


@pytest.mark.parametrize(
    ("where", "action", "message"),
    [
        (TURN, 0, r'an action is an object such as {"do": "move"}, not 0'),
        (TURN, {}, r"no action is called null; possible: move \(ship suns, way N\), .*; stay moons$"),
        (TURN, {"do": "send", "to": [1, 1]}, r"send \[1, 1\] is not possible now; possible: move"),
        (TURN, {"do": "move", "ship": "suns"}, r'move has exactly the keys do, ship, way, not \["do", "ship"\]'),
        (TURN, {"do": "move", "ship": "arms", "way": "N"}, "not possible now: your ships are suns and moons"),
        (TURN, {"do": "move", "ship": "suns", "way": "up"}, 'move: way must be one of N, .*, NW, not "up"'),
        (TURN, {"do": "stay", "ship": "suns"}, "stay suns is not possible now: the die of suns is 1; possible: move"),
        (TURN, {"do": "move", "ship": "moons", "way": "N"}, "the die of moons is null; possible: .*; stay moons$"),
        (TURN, {"do": "decline", "ship": "moons"}, "the die of moons is null; possible: .*; stay moons$"),
        ({"dice": {"suns": 1}}, {"do": "stay", "ship": "moons"}, "moons has no die to use"),
        (SENT, {"do": "send", "to": [1, 1]}, r"send \[1, 1\] is not possible now: there is no such square"),
        (SENT, {"do": "send", "to": [5, 5]}, r"send \[5, 5\] is not possible now: there is a ship on this square"),
        (SENT, {"do": "send", "to": [6, 6]}, "after 16 sends of one die no wormhole may be chosen"),
        (PLACED, {"do": "place", "suit": "arms", "value": 2, "at": [4, 5]}, "your suits are suns and moons"),
        (PLACED, {"do": "place", "suit": "suns", "value": 1, "at": [4, 5]}, "of suns you have 0, 2, 3, 4, 5"),
        (PLACED, {"do": "place", "suit": "suns", "value": True, "at": [4, 5]}, "must be a whole number, not true"),
        (PLACED, {"do": "place", "suit": "suns", "value": 2, "at": [5, 6]}, "the square has a base or a wormhole"),
        (PLACED, {"do": "place", "suit": "suns", "value": 2, "at": [1, 18]}, "the square has a base or a wormhole"),
        (PLACED, {"do": "place", "suit": "suns", "value": 2, "at": [4.0, 5]}, r"at\[0\] must be a whole number"),
        ({"phase": "order", "turn": 0}, {"do": "order", "first": "go"}, "first must be one of place, move"),
    ],
)  # fmt: skip
def test_an_action_that_is_not_legal_is_refused_with_what_would_be(
    position: Callable[..., Any], where: dict[str, Any], action: Any, message: str
) -> None:
    """`ActionError` names the key that is wrong and the values that would be right."""
    with pytest.raises(ActionError, match=message):
        GAME.parse(position(**where).state, 0, action)


def test_a_jump_is_refused_with_the_ways_there_are(position: Callable[..., Any]) -> None:
    """Only the wormhole's own ways count."""
    table = position(dice={"suns": 1}, ships={"suns": [5, 5]}, holes=[("moons", 3, 5, 6)])
    table.act("move", ship="suns", way="N")
    with pytest.raises(ActionError, match=r"jump W is not possible now; possible: jump E$"):
        GAME.parse(table.state, 0, {"do": "jump", "way": "W"})
    with pytest.raises(ActionError, match="another seat is to act"):
        GAME.parse(table.state, 1, {"do": "jump", "way": "E"})


def test_p2_a_position_set_up_by_hand_keeps_what_it_says(position: Callable[..., Any]) -> None:
    """Through roll, choice and placements public coins stay public and flipped, and lost turns lost."""
    table = position("opening-roll", None, turn=0, lost=["arms"]).roll(5, 5, 0, 0)
    assert table.act("order", first="place").json()["lost"] == ["arms"]
    shown = {"at": [5, 5], "suit": "crowns", "value": 2, "public": True, "up": "value"}
    table = position("place", turn=0, wormholes=[shown], lost=["arms"])
    table.act("place", suit="suns", value=1, at=[5, 6]).act("place", suit="arms", value=1, at=[5, 7])
    assert table.json()["wormholes"][0] == GAME.view(table.state, 0)["wormholes"][0] == shown
    assert table.json()["lost"] == ["arms"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phase": "fly"}, "phase: must be one of"),
        ({"to_move": None}, "to_move: must be null before the opening roll, then a seat"),
        ({"turn": 400}, "turn: must be a whole number from 0 to 399"),
        ({"turn": True}, "turn: must be"),
        ({"ships": {"suns": [10, 2]}}, "ships.suns: shares its square"),
        ({"ships": {"suns": [1, 1]}}, r"ships.suns: must be a square \[x, y\]"),
        ({"dice": {"crowns": 1}}, 'dice: unknown key "crowns"; the keys are suns, moons'),
        ({"dice": {"suns": 6}}, "dice.suns: must be a whole number from 0 to 5"),
        ({"dice": {}}, "none of them can be used"),
        ({"lost": ["suns", "suns"]}, r'lost\[1\]: "suns" is listed twice'),
        ({"holes": [("suns", 1, 10, 1)]}, r"wormholes\[0\].at: a base"),
        ({"holes": [("suns", 1, 5, 5), ("suns", 2, 5, 5)]}, r"wormholes\[1\].at: a second wormhole"),
        ({"holes": [("suns", 1, 5, 5), ("suns", 1, 5, 6)]}, r"wormholes\[1\]: suns 1 is there twice"),
        ({"pending": {}}, "pending.ship: is missing"),
        ({"pending": {"ship": "suns", "sends": 0, "then": None}}, "pending: must be null"),
        ({"result": {"winner": 0, "why": "base"}}, "result: must be null"),
        ({"options": {"both_ships": 1}}, "options.both_ships: must be true or false, not 1"),
        ({"options": {"max_turns": 0}}, "options: max_turns must be a whole number"),
        ({"extra": 1}, 'position: unknown key "extra"'),
        (
            {"phase": "jump", "dice": {}, "pending": {"ship": "suns", "sends": 0, "then": None}},
            "pending.ship",
        ),
        (
            {"phase": "send", "dice": {}, "pending": {"ship": "arms", "sends": 0, "then": None}},
            "pending.ship",
        ),
        ({"phase": "roll", "dice": {}, "lost": ["suns", "moons"]}, "lost: both ships"),
        ({"phase": "end", "dice": {}, "result": {"winner": None, "why": "base"}}, "result.winner"),
        ({"phase": "end", "dice": {}, "result": {"winner": None, "why": "max-turns"}}, "result: max-turns"),
        ({"phase": "place", "turn": 0, "dice": {}, "holes": [("suns", 1, 5, 5)]}, "not its turn"),
        ({"phase": "order", "turn": 0, "dice": {}, "holes": [("suns", 1, 5, 5)]}, "none before the order"),
    ],
)
def test_a_wrong_position_is_named(
    position: Callable[..., Any], changes: dict[str, Any], message: str
) -> None:
    """`PositionError` names the place in the position and what would be right."""
    with pytest.raises(PositionError, match=message):
        position(**{"dice": {"suns": 1}, **changes})
