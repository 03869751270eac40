"""Positions of sheets written by hand: what is accepted, and which field is named when not."""

from collections.abc import Callable
from typing import Any

import pytest

from warpleague.errors import PositionError
from warpleague.games.sheets import GAME


def change(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update(changes)


def change_sheet(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["sheets"][1].update(changes)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (change(extra=1), 'position: unknown key "extra"; the keys are round'),
        (lambda data: data.pop("hand"), "hand: is missing"),
        (change(sheets=[]), "sheets: 0 sheets, but 1 to 4 can play"),
        (change(round=8), "round: must be a whole number from 1 to 7, not 8"),
        (change(round=True), "round: must be a whole number from 1 to 7, not true"),
        (change(turn=2), "turn: must be a whole number from 0 to 1"),
        (change(phase="roll"), "actor: must be null in the phase 'roll'"),
        (change(phase="play"), "phase: must be one of roll, keep"),
        (change(actor=1), "actor: in the phase 'keep' the seat of 'turn' must act"),
        (change(retired=[0]), "turn: seat 0 is retired"),
        (change(retired=[1, 1]), "retired[1]: 1 is listed twice"),
        (change(retired=[1, 0]), "phase: must be 'over'"),
        (change(dice={"white": [1]}), "dice.white: must have 2 items, not 1"),
        (change(dice={"green": 1}), 'dice: unknown key "green"; the keys are white'),
        (change(dice={}), "dice: the value of 'white' is missing"),
        (change(hand=["white", "red"]), "hand, kept, offered: must have (2, 2, 2) or (4, 1, 1) or (6, 0, 0)"),
        (change(kept=["white"]), "hand, kept, offered: must have (2, 2, 2) or (4, 1, 1) or (6, 0, 0)"),
        (change(offered=["white"]), "offered[0]: must be one of black-1"),
        (change(taken="red"), "taken: must be null in the phase 'keep'"),
        (change(shared_discards=1), "shared_discards: must be true or false"),
        (change_sheet(edges=[84]), "sheets[1].edges[0]: must be a whole number from 0 to 83"),
        (change_sheet(edges=[1, 1]), "sheets[1].edges[1]: 1 is listed twice"),
        (change_sheet(wormholes=[3]), "sheets[1].wormholes: 1 wormholes, but 0 crossed-out circles"),
        (change_sheet(red=[0]), "sheets[1].red[0]: must be a whole number from 1 to 6"),
        (
            change_sheet(blue=[{"value": 1, "crossed": False}] * 2),
            "sheets[1].blue[1]: 1 stands in an open circle",
        ),
        (change_sheet(blue=[{"value": 1}]), "sheets[1].blue[0].crossed: is missing"),
        (change_sheet(free_lines=11), "sheets[1].free_lines: must be a whole number from 0 to 10"),
        (change_sheet(points=3), 'sheets[1]: unknown key "points"'),
    ],
)
def test_a_wrong_field_is_named(table: Any, damage: Callable[[dict[str, Any]], None], text: str) -> None:
    """PositionError says which field does not fit, and why."""
    data = table.data()
    damage(data)
    with pytest.raises(PositionError) as caught:
        GAME.from_json(data)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"phase": "take", "actor": 1}, "hand, kept, offered: must have (0, 0, 1) or"),
        ({"phase": "take", "actor": 0, "offered": ["red"]}, "actor: in the phase 'take' another seat"),
        ({"phase": "use", "actor": 1}, "taken: must not be null"),
        ({"phase": "use", "actor": 1, "taken": "red", "offered": ["red"]}, "offered: the taken unit"),
        ({"phase": "lines", "actor": 1}, "round: must be 7"),
        ({"phase": "over", "actor": None}, "round: must be 7"),
        ({"phase": "mark", "kept": []}, "hand, kept, offered: must have (0, 1, 3) or"),
        (
            {"phase": "mark", "kept": ["red"], "offered": ["blue"]},
            "hand, kept, offered: must have (0, 1, 3) or",
        ),
        (
            {"phase": "mark", "kept": ["red"], "offered": ["red", "blue", "yellow"]},
            "hand, kept, offered: a unit can be in one",
        ),
    ],
)
def test_dice_and_seats_must_fit_the_phase(table: Any, changes: dict[str, Any], text: str) -> None:
    """Units and actor that the phase cannot have are refused."""
    with pytest.raises(PositionError) as caught:
        table.state(**changes)
    assert str(caught.value).startswith(text)


def test_positions_of_matches_come_back(matches: Any) -> None:
    """Every position of random matches survives to_json and from_json."""
    for playout in matches(2, seed=3):
        for state in playout.states:
            assert GAME.from_json(GAME.to_json(state)) == state
