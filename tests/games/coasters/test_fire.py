"""Torpedoes (T7, V3) on drawn positions: what they meet, and how they end."""

from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

SIDE = "0/0 1/0"
"""    URD RDL URL | URD RDL URL
       URL URD URD | URL URD URD
       RDL all URL | RDL all URL    """

BENT = "0/1 1/3"
"""    UDL  URD RDL | UDL URL UDL
       all  RDL UDL | URD URL all
       URD  RDL URD | URL UDL URD    """

SHOTS = [
    # id, lie, drawing, hit colour or None, path, how
    (
        "along the row onto the next coaster",
        SIDE,
        ". . . . . .\n. 0> . . 1^ .\n. . . . . .",
        1,
        [[2, 1], [3, 1], [4, 1]],
        "hit",
    ),
    (
        "no arrow in the shooter's own square",
        SIDE,
        ". . . . . .\n1^ 0< . . . .\n. . . . . .",
        None,
        [],
        "edge",
    ),
    (
        "the whole row",
        SIDE,
        ". . . . . .\n. . . . . .\n. 1^ . . . 0<",
        1,
        [[4, 2], [3, 2], [2, 2], [1, 2]],
        "hit",
    ),
    (
        "an edge before the target",
        "1/0\n0/0",
        ". . .\n. . .\n. 1^ .\n. . .\n. . .\n. 0^ .",
        None,
        [[1, 4], [1, 3]],
        "edge",
    ),
    ("out of the galaxy", SIDE, ". . . . . .\n1^ . . . 0> .\n. . . . . .", None, [[5, 1]], "left"),
    (
        "over the corner square's missing arrow",
        SIDE,
        ". . 1^ 0< . .\n. . . . . .\n. . . . . .",
        None,
        [],
        "edge",
    ),
    (
        "the first of two ships",
        "0/0 1/0 2/0",
        ". . . . . . . . .\n. 0> . . 2^ . 1^ . .\n. . . . . . . . .",
        2,
        [[2, 1], [3, 1], [4, 1]],
        "hit",
    ),
]


@pytest.mark.parametrize(("what", "lie", "drawing", "hit", "path", "how"), SHOTS, ids=[s[0] for s in SHOTS])
def test_t7_a_torpedo_goes_straight_until_an_edge_a_ship_or_the_rim(
    desk: Desk, what: Any, lie: str, drawing: str, hit: Any, path: Any, how: Any
) -> None:
    """It needs an arrow in each square it leaves, the shooter's included; the first ship is hit."""
    state = desk.turn(drawing, lie, "1 TIP")
    before = desk.see(state)["ships"]
    after = desk.do(state, "fire")
    (fired,) = desk.told("fired")
    assert (fired["path"], fired["how"], fired.get("hit")) == (path, how, hit)
    hits = [ship["hits"] for ship in desk.see(after)["ships"]]
    assert hits == [ship["hits"] - (colour == hit) for colour, ship in enumerate(before)]


def test_t7_firing_ends_the_turn_and_end_does_without(desk: Desk) -> None:
    """After either the next seat rolls; with no movement and no flux left the seat still chooses between the two."""
    drawing = " . . . . . .\n . 0> . . . .\n . . . . . 1<"
    for word in ("fire", "end"):
        after = desk.do(desk.turn(drawing, SIDE, "6 WILD"), word)
        assert desk.game.actors(after) == (-1,)
        assert (desk.see(after)["seat"], desk.see(after)["halves"], desk.see(after)["d6"]) == (1, 0, None)
    state = desk.turn(" . . . . . .\n . 0> . . . .\n . . . . . 1<", SIDE, "1 TIP", halves=0)
    assert desk.can(state) == ["end", "fire"]


def test_t7_the_third_hit_destroys(desk: Desk) -> None:
    """Large shield, medium shield, hull: a ship with one hit point left is taken off, one with two is not."""
    drawing = ". . . . . . . . .\n. 0> . . 1^1 . 2^ . .\n. . . . . . . . ."
    state = desk.do(desk.turn(drawing.replace("1^1", "1^2"), "0/0 1/0 2/0", "1 TIP"), "fire")
    assert desk.see(state)["ships"][1]["hits"] == 1
    assert not desk.told("destroyed")
    state = desk.do(desk.turn(drawing, "0/0 1/0 2/0", "1 TIP"), "fire")
    assert desk.see(state)["ships"][1] is None
    assert [event["event"] for event in desk.events] == ["fired", "destroyed", "eliminated", "turn"]
    assert desk.see(state)["eliminated"] == [1]


WILD = [
    (
        "turns right at each edge and hits",
        ". . 0^ . . .\n. . . . . .\n. . 1^ . . .",
        1,
        [[3, 0], [3, 1], [3, 2], [2, 2]],
        "hit",
    ),
    (
        "comes back to the shooter",
        ". . 0^ . . .\n. . . . . .\n. . . . . 1^",
        0,
        [[3, 0], [3, 1], [3, 2], [2, 2], [2, 1], [2, 0]],
        "hit",
    ),
    (
        "goes in circles until it destroys itself",
        ". 0> . . . .\n. . . . . .\n. . . . . 1^",
        None,
        [[2, 0], [3, 0], [3, 1], [3, 2], [2, 2], [2, 1], [2, 0]],
        "loop",
    ),
    ("goes straight out where arrows lead", ". . . . . .\n. . . . . 0>\n. . 1^ . . .", None, [], "left"),
]


@pytest.mark.parametrize(("what", "drawing", "hit", "path", "how"), WILD, ids=[w[0] for w in WILD])
def test_v3_a_wild_shot_turns_right_where_it_cannot_go_on(
    desk: Desk, what: Any, drawing: str, hit: Any, path: Any, how: Any
) -> None:
    """It may hit any ship, the shooter's too; in a square and direction it already had, it ends harmlessly."""
    state = desk.turn(drawing, BENT, "1 WILD", options={"wild_shot": True})
    before = desk.see(state)["ships"]
    after = desk.do(state, "fire")
    (fired,) = desk.told("fired")
    assert (fired["wild"], fired["path"], fired["how"], fired.get("hit")) == (True, path, how, hit)
    hits = [ship["hits"] for ship in desk.see(after)["ships"]]
    assert hits == [ship["hits"] - (colour == hit) for colour, ship in enumerate(before)]


def test_v3_a_wild_shot_can_destroy_its_own_ship_and_lose_the_game(desk: Desk) -> None:
    """The shooter's last hit point goes: the other seat has the last ship."""
    state = desk.turn(WILD[1][1].replace("0^", "0^1"), BENT, "1 WILD", options={"wild_shot": True})
    state = desk.do(state, "fire")
    assert desk.game.outcome(state).ranks == (2, 1)


def test_v3_with_wild_there_is_no_flux_action(desk: Desk) -> None:
    """The face serves the shot alone, without the variation it gives any of the four; other faces fire straight."""
    drawing = WILD[0][1]
    moves = ["end", "fire", "turn left", "turn right"]
    assert desk.can(desk.turn(drawing, BENT, "6 WILD", options={"wild_shot": True})) == moves
    flux = desk.can(desk.turn(drawing, BENT, "6 WILD"))[len(moves) :]
    assert [words.split()[0] for words in flux] == ["swap", *["hop"] * 3, *["aim"] * 4]
    desk.do(desk.turn(WILD[0][1], BENT, "6 AIM", options={"wild_shot": True}), "fire")
    assert desk.told("fired")[0] == {
        "event": "fired", "seat": 0, "colour": 0, "wild": False, "path": [], "how": "edge",
    }  # fmt: skip
