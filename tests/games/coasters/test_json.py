"""Actions and positions as JSON: what is read, what is refused, and how the refusal helps."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import attrs
import pytest
from tests.games.coasters.conftest import Desk

from warpleague.errors import ActionError, PositionError
from warpleague.games.coasters import GAME
from warpleague.games.coasters.position import View

THREE = "0/0 1/0 2/0"
DRAWING = ". . . . . . . . .\n. 0> . . 1^ . . 2v2 .\n. . . . . . . . ."


def test_parse_returns_the_one_object_of_each_action(desk: Desk, rng: Random) -> None:
    """What is read from JSON is the very object in the legal list, through a whole random game."""
    state = GAME.initial(3, GAME.Options(max_rounds=6))
    while actors := GAME.actors(state):
        if actors == (-1,):
            move = rng.randrange(6), rng.randrange(6)
        else:
            legal = GAME.legal(state, actors[0])
            forms = [json.dumps(GAME.action_json(action)) for action in legal]
            assert len(set(forms)) == len(forms)
            for action, form in zip(legal, forms, strict=True):
                assert GAME.parse(state, actors[0], json.loads(form)) is action
            move = rng.choice(legal)
        state = GAME.apply(state, move)[0]


WRONG = [
    (None, 'an action is an object such as {"do": "end"}, not null'),
    ([], "an action is an object"),
    ({}, "no action is called null; possible: end; fire; step; turn left, right"),
    ({"do": 5}, "no action is called 5"),
    ({"do": "jump"}, 'no action is called "jump"; possible: end; fire; step'),
    ({"do": "step", "ship": 0}, "has exactly the keys do, not"),
    ({"do": "turn"}, "has exactly the keys do, way"),
    ({"do": "turn", "way": "back"}, "way must be one of left, right"),
    ({"do": "hop", "way": "N"}, "way must be one of U, R, D, L"),
    ({"do": "hop", "way": ["U"]}, "way must be one of U, R, D, L"),
    ({"do": "warp", "to": True}, "warp: to must be a whole number, not true"),
    ({"do": "warp", "to": 1.0}, "to must be a whole number"),
    ({"do": "swap", "with": 10}, "swap 10 is not possible now"),
    ({"do": "swap", "with": 1}, r"swap 1 is not possible now: the flux is HOP \(T6\); possible: end; fire"),
    ({"do": "swap-systems", "systems": [1, 1]}, "the smaller first"),
    ({"do": "swap-systems", "systems": [1, 2, 3]}, "swap-systems: systems must have 2 items, not 3"),
    ({"do": "lay", "at": [0, 99], "rotation": 0}, r"lay \(at \[0, 99\], rotation 0\) is not possible now"),
    ({"do": "lay", "at": [0, 0], "rotation": 0}, "is not possible now; possible: end; fire"),
    ({"do": "deploy", "at": [0, 0], "facing": "U"}, "is not possible now"),
    ({"do": "choose-colour", "colour": 0}, "is not possible now"),
    ({"do": "agree"}, "is not possible now"),
    ({"do": "claim"}, "once a ship is gone"),
    ({"do": "dig"}, "the flux is HOP"),
    ({"do": "say", "to": [1]}, "has exactly the keys do, to, text"),
]


@pytest.mark.parametrize(("data", "misfit"), WRONG)
def test_parse_says_what_is_wrong(desk: Desk, data: Any, misfit: Any) -> None:
    """Unknown actions, keys, types and values, and actions that are not possible now, with the reason."""
    state = desk.turn(DRAWING, THREE, "3 HOP")
    with pytest.raises(ActionError, match=misfit):
        GAME.parse(state, 0, data)


REASONS = [
    ("3 HOP", {}, "hop R", r"no empty square lies there \(T6\)"),
    ("3 DIG", {}, "dig", r"the square ahead is occupied \(S1\)"),
    ("3 SWAP", {}, "swap 0", r"only with a ship of another seat \(T6\)"),
    ("3 HOP", {}, "swap 1", r"the flux is HOP \(T6\)"),
    ("3 SWAP", {}, "swap-systems 0 1", r"only the option system_swap .* \(V2\)"),
    ("3 SWAP", {"system_swap": True}, "swap 1", r"systems change places, not ships \(V2\)"),
    ("3 WILD", {"system_swap": True}, "swap-systems 0 9", r"no such system is laid \(V2\)"),
    ("3 WILD", {"wild_shot": True}, "aim U", r"gives no flux action \(V3\)"),
    ("3 HOP", {"alliances": False}, "invoke 1", r"no alliances in this game \(A\)"),
    ("3 HOP", {"alliances": False}, "claim", r"no alliances in this game \(A\)"),
    ("3 HOP", {}, "claim", r"once a ship is gone \(A3\)"),
    ("3 HOP", {}, "invoke 0", r"only another survivor .* \(A2\)"),
]


@pytest.mark.parametrize(("roll", "options", "words", "reason"), REASONS)
def test_parse_gives_the_reason_that_holds(
    desk: Desk, roll: str, options: Any, words: Any, reason: str
) -> None:
    """A refused action is told the rule that forbids it here, never one that it keeps."""
    drawing = ". . . . . . . . .\n. . 0> 1^ . . . 2v2 .\n. . . . . . . . ."
    state = desk.turn(drawing, THREE, roll, options=options)
    with pytest.raises(ActionError, match=f"is not possible now: .*{reason}; possible: end"):
        GAME.parse(state, 0, desk.read(words))


def test_a1_talk_is_not_offered_once_it_is_used_up(desk: Desk) -> None:
    """The list of what is possible has `say` up to the eighth message of the turn."""
    state = desk.turn(DRAWING, THREE, "3 HOP")
    for _ in range(8):
        with pytest.raises(ActionError, match=r"possible: .*; say$"):
            GAME.parse(state, 0, {"do": "agree"})
        state = desk.do(state, "say 1 hm")
    with pytest.raises(ActionError, match=r"possible: end.*; invoke 1, 2$"):
        GAME.parse(state, 0, {"do": "agree"})


def test_a_hand_made_position_needs_only_players_systems_and_ships(desk: Desk) -> None:
    """All else has defaults; of an open claim the seats still to answer are the end of the order."""
    position = {
        "players": 2,
        "systems": [{"at": [0, 0], "rotation": 0}, {"at": [0, -1], "rotation": 3}],
        "ships": [{"at": [1, 1], "facing": "U"}, {"at": [2, -3], "facing": "D", "hits": 1}],
    }
    state = GAME.from_json(position)
    written = GAME.to_json(state)
    assert (written["phase"], written["seat"], written["colour"], written["round"]) == ("roll", 0, 0, 1)
    assert [ship["hits"] for ship in written["ships"]] == [3, 1]
    assert GAME.from_json(json.loads(json.dumps(written))) == state
    state = desk.do(desk.turn(DRAWING.replace("1^", ". "), THREE, "3 HOP", eliminated=[1]), "claim")
    data = GAME.to_json(state)
    assert (data["phase"], data["asked"], data["claimed"]) == ("claim", [2], True)
    assert GAME.from_json(data) == state
    with pytest.raises(PositionError, match="all seats still to answer"):
        GAME.from_json({**data, "asked": []})


def misfits() -> Iterator[Any]:
    def put(*path_and_value: Any) -> Any:
        *path, key, value = path_and_value

        def change(data: Any) -> None:
            for step in path:
                data = data[step]
            data[key] = value

        return change

    yield 'position: unknown key "shields"', put("shields", 3)
    yield "players: must be a whole number from 2 to 10", put("players", 11)
    yield r"options: unknown key \"colour\"", put("options", {"colour": 2})
    yield r"options: .*use at most 3", put("options", {"colours": 4})
    yield r"phase: must be one of lay, deploy", put("phase", "fight")
    yield r"phase: must not be colour without", put("phase", "colour")
    yield r"round: must be a whole number from 1 to 200", put("round", 201)
    yield r"position: must have at least two surviving seats", put("retired", [0, 1])
    yield r"eliminated: must leave a seat", lambda data: data.update(phase="over", eliminated=[0, 1, 2])
    yield (
        r"why: must be last-ship where",
        (
            lambda data: data.update(
                phase="over",
                eliminated=[1, 2],
                why="claim",
                ships=[data["ships"][0], None, None],
                d6=None,
                flux=None,
                halves=0,
                colour=None,
                agreed=[],
                messages=[],
            )
        ),
    )
    yield r"seat: must be a surviving seat", put("retired", [0])
    yield r"systems: must have 3 items, not 0", put("systems", [])
    yield r"systems\[2\]: must be laid", put("systems", 2, None)
    yield r"systems\[1\].at: is the place of another", put("systems", 1, "at", [0, 0])
    yield r"systems\[1\].rotation: must be", put("systems", 1, "rotation", 4)
    yield r"systems: must have a coaster at \[0, 0\]", put("systems", 0, "at", [3, 0])
    yield r"systems: must lie side by side", put("systems", 1, "at", [1, 1])
    yield r"ships\[1\].at: is not on a coaster", put("ships", 1, "at", [0, 3])
    yield r"ships\[1\].at: is the square of another ship", put("ships", 1, "at", [1, 1])
    yield r"ships\[1\].facing: must be one of U, R, D, L", put("ships", 1, "facing", "N")
    yield r"ships\[1\].hits: must be a whole number from 1 to 3", put("ships", 1, "hits", 0)
    yield r"ships: must have a ship of seat 1", put("ships", 1, None)
    yield r"ships\[2\]: must be null", put("eliminated", [2])
    yield r"d6: must be a whole number from 1 to 6, not null", put("d6", None)
    yield r"halves: must be a whole number from 0 to 6", put("halves", 7)
    yield r"flux: must be one of TIP", put("flux", "hop")
    yield r"flux_used: must be true or false", put("flux_used", 1)
    yield r"colour: must be a colour of seat 0", put("colour", 1)
    yield r"last\[1\]: must be a colour of seat 1", put("last", [0, 2, None])
    yield r"agreed\[0\]: must not name seat 0", put("agreed", [0])
    yield r"refused\[0\]: must not name seat 1", put("refused", [1])
    yield r"claimed: must be false", put("claimed", True)
    yield r"asked\[0\]: must not name seat 2", put("asked", [2])
    yield r"why: must be null", put("why", "claim")
    yield r"messages\[0\].turn: must be a whole number from 6 to 9", put("messages", 0, "turn", 5)
    yield r"messages\[0\]: does not fit: to must name distinct other", put("messages", 0, "to", [2])
    yield r"messages\[0\].text: is missing", lambda data: data["messages"][0].pop("text")
    yield r"messages\[8\]: is one too many", lambda data: data["messages"].extend(data["messages"] * 8)


@pytest.mark.parametrize(("misfit", "change"), list(misfits()), ids=[text for text, _ in misfits()])
def test_a_position_that_is_none_is_refused_with_the_path(desk: Desk, misfit: Any, change: Any) -> None:
    """One damage to a good position is named by the path of the field."""
    said = {"turn": 9, "seat": 2, "to": [0], "text": "hm"}
    state = desk.turn(DRAWING, THREE, "3 HOP", turn=9, agreed=[1], messages=[said])
    data = copy.deepcopy(GAME.to_json(state))
    assert GAME.from_json(data) == state
    change(data)
    with pytest.raises(PositionError, match=misfit):
        GAME.from_json(data)


def test_the_view_is_the_position_and_who_looks(desk: Desk) -> None:
    """Every field of `View` is there and nothing else; only messages depend on the viewer."""
    said = {"turn": 1, "seat": 2, "to": [0], "text": "hm"}
    state = desk.turn(DRAWING, THREE, "3 HOP", messages=[said])
    views = [GAME.view(state, seat) for seat in range(3)]
    assert [list(view) for view in views] == [[field.name for field in attrs.fields(View)]] * 3
    assert [view["messages"] for view in views] == [[said], [], [said]]
    assert [view["messages_left"] for view in views] == [8, 8, 7]
    for seat, view in enumerate(views):
        assert view["you"] == seat
        state_again = GAME.determinize(view, seat, Random(1))
        assert GAME.view(state_again, seat) == view


def test_the_scene_shows_the_line_of_fire_and_the_viewers_talk(desk: Desk) -> None:
    """From the ship whose turn it is to the first ship met; a message is in the panel of those who know it."""
    said = {"turn": 1, "seat": 2, "to": [0], "text": "hm"}
    state = desk.turn(DRAWING, THREE, "3 HOP", messages=[said])
    scene = GAME.scene(state, 1)
    assert [(link.x1, link.x2) for link in scene.links] == [(1, 2), (2, 3), (3, 4)]
    assert [(piece.x, piece.text, piece.facing) for piece in scene.pieces] == [
        (1, "0:3", "E"), (4, "1:3", "N"), (7, "2:2", "S"),
    ]  # fmt: skip
    assert len(scene.cells) == 27
    assert "Talk" not in [panel.title for panel in scene.panels]
    assert GAME.scene(state, 0).panels[-1].lines == ("turn 1: seat 2 to seat 0: “hm”",)
