"""Positions as JSON, options, actions from JSON, and the lines events are told in."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.games.captains.conftest import Tools

from warpleague.errors import ActionError, OptionsError, PositionError
from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import Options


def test_a_hand_made_position_needs_only_the_galaxy(tools: Tools) -> None:
    """Of a position only match and ships with tokens must be given: the rest has its value at the start."""
    state = tools.at(ships=[119, -1], tokens=[[119], []])
    fields = tools.fields(state)
    assert (fields["stage"], fields["energy"], fields["round"], fields["last_round"]) == ("turn", 3, 1, 200)
    assert state.cards.left == 64
    assert fields["known"][0] == {"sure": [0] * 8, "slots": [], "spent": []}
    assert GAME.from_json(json.loads(json.dumps(fields))) == state


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A function that sets the field at `path` ("hands.0.3") of a position."""

    def edit(fields: dict[str, Any]) -> None:
        *way, last = path.split(".")
        part: Any = fields
        for step in way:
            part = part[int(step)] if isinstance(part, list) else part[step]
        if isinstance(part, list):
            part[int(last)] = value
        else:
            part[last] = value

    return edit


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("stage", "turning", "stage: must be one of"),
        ("match.players", 6, r"match\.players: must be a whole number from 1 to 5"),
        ("match.pattern", "geotria-7", "match: pattern: 'geotria-7' is for 4 to 5 players"),
        ("match.station", 1, r"match\.station: must be a whole number from 0 to 0"),
        ("match.boards.0", [1, "C", 0], r'match\.boards\[0\]\[1\]: must be one of A, B, not "C"'),
        ("match.boards.0", [2, "A", 0], r"match\.boards\[1\]\[0\]: board 2 is laid already"),
        ("match.boards.4", [5, "A", 0], r"match\.boards\[4\]: so turned, a planet is less than 3 spaces"),
        ("match.boards", [], r"match\.boards: must have 7 items, not 0"),
        ("match.max_rounds", True, r"match\.max_rounds: must be a whole number"),
        ("match.colour", 1, 'match: unknown key "colour"; the keys are players'),
        ("seat", 2, "seat: must be a whole number from 0 to 1"),
        ("round", 0, "round: must be a whole number from 1 to 200"),
        ("last_round", 100, "last_round: must be 200"),
        ("why", "explored", "why: not every planet is explored"),
        ("why", "retired", "why: is 'retired' exactly when every seat is"),
        ("energy", 4, "energy: must be a whole number from 0 to 3"),
        ("warped", 1, "warped: must be true or false"),
        ("ships.0", 135, r"ships\[0\]: no ship can be on space 135 \(station\)"),
        ("ships.0", -1, r"ships\[0\]: is -1 exactly as long as the seat has no token"),
        ("ships.0", 152, r"ships\[0\]: must be a whole number from -1 to 151"),
        ("tokens.0.1", 87, r"tokens\[0\]\[1\]: no token can be on space 87: cannon takes no token"),
        ("tokens.0.1", 134, r"tokens\[0\]\[1\]: no token can be on space 134: the owner has"),
        ("tokens.1", [119], r"tokens\[1\]\[0\]: no token can be on space 119: there is a token already"),
        ("tokens.0", [106], r"tokens\[0\]\[0\]: the first token must be beside the station"),
        ("hands.0.0", 5, r"hands\[0\]: 6 cards; a hand holds at most 4"),
        ("hands.0.0", 9, r"hands\[0\]\[0\]: must be a whole number from 0 to 8"),
        ("docks.3", 8, "hands: with docks and delivered, there are 9 cards of planet 3"),
        ("known.0.slots", [[], []], r"known\[0\]: does not fit the hand"),
        ("known.0.slots", [[3]], r"known\[0\]: does not fit the hand"),
        ("known.0.slots", [[5, 1]], r"known\[0\]\.slots\[0\]: must ascend"),
        ("known.0.sure", [0] * 7, r"known\[0\]\.sure: must have 8 items, not 7"),
        ("explorers", [0, 1], "explorers: names 2 owners, but 1 planets have a token"),
        ("points", [0], "points: must have 2 items, not 1"),
        ("retired", [0], "seat: seat 0 is retired and cannot have the turn"),
        ("retired", [0, 1], "why: is 'retired' exactly when every seat is"),
        ("stage", "start", "stage: seat 0 has started already"),
        ("stage", "pickup-station", "stage: the ship is not beside the station"),
        ("stage", "pickup-planet", "picked: must be true in stage 'pickup-planet'"),
        ("stage", "blackhole", "stage: the ship is not in a black hole"),
        ("stage", "ai-place", "stage: 'ai-place' is of the solo game only"),
        ("stage", "deal", r"hands\[0\]: 1 cards cannot be|stage: 'deal' is before"),
        ("stage", "over", "stage: the game is not over"),
        ("stage", "galaxy", r"match\.boards: all boards are laid: the stage can no longer be galaxy"),
        ("taken", [1], "taken: is of the stage 'pickup-station' only"),
        ("focus", 2, "focus: must be -1 in stage 'turn'"),
        ("shield", 1, 'position: unknown key "shield"; the keys are match, stage'),
    ],
)
def test_a_bad_position_is_refused_by_field(tools: Tools, path: str, value: Any, text: str) -> None:
    """The error names the field and what would do."""
    good = tools.fields(
        tools.at(
            ships=[106, 134], tokens=[[119, 106], [134]], explorers=[0], hands=[tools.counts(p3=1), [0] * 8]
        )
    )
    GAME.from_json(json.loads(json.dumps(good)))
    change(path, value)(good)
    with pytest.raises(PositionError, match=text):
        GAME.from_json(good)


def test_a_pickup_in_a_position_was_begun(tools: Tools) -> None:
    """`picked` must be true, the only one of the turn (captains T7); `focus` names the planet beside the ship."""
    here: dict[str, Any] = {"ships": [119, 134], "tokens": [[119], [134]], "stage": "pickup-station"}
    assert tools.at(**here, picked=True).picked
    with pytest.raises(PositionError, match="picked: must be true in stage 'pickup-station'"):
        tools.at(**here)
    here = {"ships": [106, 134], "tokens": [[119, 106], [134]], "explorers": [0]}
    with pytest.raises(PositionError, match="focus: must be the planet beside the ship"):
        tools.at(**here, stage="pickup-planet", picked=True)


@pytest.mark.parametrize(("ai", "most"), [("echabod-z", 2), ("brood", 3), ("azimuth", -1)])
def test_the_ai_discards_no_more_than_its_cards_in_a_position(tools: Tools, ai: str, most: int) -> None:
    """In stage ai-cards `focus` is at most what that AI discards in a turn (captains A3)."""
    here: dict[str, Any] = {
        "ships": [119],
        "tokens": [[119], [134]],
        "stage": "ai-cards",
        "options": {"ai": ai},
        "players": 1,
    }
    assert tools.at(**here, focus=most).focus == most
    for focus in (0, most + 1, 4):
        with pytest.raises(PositionError, match="focus: must be how many cards the AI discards yet"):
            tools.at(**here, focus=focus)


@pytest.mark.parametrize("data", [None, [], "turn", {}, {"match": 3}, {"match": {}}])
def test_no_position_at_all(data: Any) -> None:
    """What is no position is refused, not crashed on."""
    with pytest.raises(PositionError):
        GAME.from_json(data)


def test_stages_of_chance_survive_json(tools: Tools) -> None:
    """A position in the middle of a draw, a black hole or a deal is saved and loaded as it is."""
    drawing = tools.play(
        tools.at(ships=[106, 134], tokens=[[119], [134]]), "pickup planet", "draw", "roll 3", "roll 1"
    )
    hole = tools.play(tools.at("second", ships=[58, 134], tokens=[[119], [134]]), "move 73")
    laying = GAME.apply(GAME.initial(4, Options()), (3,))[0]
    for state in (drawing, hole, laying):
        again = GAME.from_json(json.loads(json.dumps(GAME.to_json(state))))
        assert again == state
        assert GAME.chance(again) == GAME.chance(state)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (7, 'an action is an object such as {"do": "pickup"}, not 7'),
        (
            {"do": "fly"},
            r'no action is called "fly"; possible: pickup planet; place \(6 ways\); move \(5 ways\); end$',
        ),
        ({"do": "move"}, r'move has exactly the keys do, to, not \["do"\]'),
        ({"do": "move", "to": 104, "fast": 1}, r'keys do, to, not \["do", "to", "fast"\]'),
        ({"do": "move", "to": 104.0}, "move: to must be a whole number, not 104.0"),
        ({"do": "move", "to": True}, "move: to must be a whole number, not true"),
        ({"do": "move", "to": 300}, "there is no space 300, only 0 to 151"),
        ({"do": "move", "to": 24}, r"space 24 \(planet\) cannot be entered from space 106"),
        ({"do": "place", "at": 119}, "space 119 has a token already"),
        ({"do": "place", "at": 135}, r"space 135 \(station\) takes no token"),
        ({"do": "place", "at": 0}, "space 0 is neither the ship's space 106 nor beside it"),
        ({"do": "warp", "to": 3}, "no wormhole leads from space 106 to space 3"),
        ({"do": "cannon", "to": 3}, r"no shot from space 106 \(blank\) reaches space 3"),
        ({"do": "deliver", "planet": 2}, "no card of that planet in hand"),
        ({"do": "deliver", "planet": 10}, "deliver 10 is not possible now: no card of that planet in hand"),
        ({"do": "pickup", "at": "docks"}, 'pickup: at must be one of planet, station, not "docks"'),
        ({"do": "pickup", "at": "station"}, "space 106 is not beside it"),
        ({"do": "draw"}, "draw is not possible now; possible: pickup planet"),
        ({"do": "start", "at": 119}, "start 119 is not possible now"),
    ],
)
def test_a_bad_action_is_refused_with_a_reason(tools: Tools, data: Any, text: str) -> None:
    """The error says why and lists what is legal."""
    state = tools.at(ships=[106, 134], tokens=[[119], [134]], energy=2)
    with pytest.raises(ActionError, match=text):
        GAME.parse(state, 0, data)


def test_what_is_used_up_is_said(tools: Tools) -> None:
    """With all tokens placed, and with all actions of a turn taken, the error says so."""
    ten = [119, 103, 88, 72, 73, 90, 98, 114, 130, 70]
    with pytest.raises(
        ActionError, match="place 104 is not possible now: all tokens are placed; possible: move"
    ):
        GAME.parse(tools.at(ships=[104, 134], tokens=[ten, [134]]), 0, {"do": "place", "at": 104})
    with pytest.raises(ActionError, match="after 100 actions a turn can only be ended; possible: end"):
        GAME.parse(tools.at(ships=[104, 134], tokens=[[119], [134]], steps=100), 0, {"do": "move", "to": 105})


@pytest.mark.parametrize(
    "options",
    [
        {"galaxy": "half"},
        {"ai": "hal"},
        {"max_rounds": 0},
        {"max_rounds": True},
        {"pattern": 3},
        {"galaxy_file": []},
    ],
)
def test_options_are_validated(options: dict[str, Any]) -> None:
    """A value that no option takes is refused when the options are made."""
    with pytest.raises((ValueError, TypeError)):
        Options(**options)


def test_options_that_do_not_fit_are_refused() -> None:
    """An AI with two players; values that TOML knows and JSON does not."""
    with pytest.raises(OptionsError, match="ai: 'brood' is for one player"):
        GAME.check_options(2, Options(ai="brood"))
    with pytest.raises(OptionsError, match="galaxy_file: holds a value"):
        GAME.check_options(2, Options(galaxy_file={"board": dt.date(2024, 1, 1)}))


def test_scene_hides_other_hands(tools: Tools) -> None:
    """A seat's scene shows its own hand only; without a viewer all are shown."""
    state = tools.at(
        ships=[106, 134],
        tokens=[[119, 106], [134]],
        explorers=[0],
        hands=[tools.counts(p1=2), tools.counts(p2=1)],
    )
    lines = {
        viewer: [panel.lines[3] for panel in GAME.scene(state, viewer).panels[:2]] for viewer in (None, 0)
    }
    assert lines[None] == ["hand: P1×2", "hand: P2"]
    assert lines[0] == ["hand: P1×2", "hand: 1 of 4 cards"]
    scene = GAME.scene(state, 0)
    assert [(link.kind, link.owner) for link in scene.links] == [("wormhole", 0)]
    assert {piece.text for piece in scene.pieces} == {"a1", "b1?", "A", "B"}
