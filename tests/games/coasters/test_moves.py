"""Ships, movement and flux (S1, T1 to T6) on drawn positions."""

from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

from warpleague.errors import ActionError

SIDE = "0/0 1/0"
"""Two coasters side by side, not turned; the arrows of both:

    URD RDL URL | URD RDL URL
    URL URD URD | URL URD URD
    RDL all URL | RDL all URL
"""

EMPTY = """
 .  .  .   .  .  .
 .  0> .   .  .  .
 .  .  .   .  .  1<
"""


def test_s1_no_two_ships_stand_on_one_square(desk: Desk) -> None:
    """A step, a hop and a dig onto a ship are not possible. Ships start with three hit points."""
    state = desk.do(desk.game.initial(2, desk.game.Options()), "lay 0 0 0", "lay 1 0 0")
    state = desk.do(state, "deploy 0 0 U", "deploy 3 0 U")
    assert [ship["hits"] for ship in desk.see(state)["ships"]] == [3, 3]
    drawing = """
     .  .  .   .  .  .
     .  0> 1<  .  .  .
     .  .  .   .  .  .
    """
    assert "step" not in desk.can(desk.turn(drawing, SIDE, "6 AIM"))
    assert "step" in desk.can(desk.turn(drawing.replace("1<  .", ".  1<"), SIDE, "6 AIM"))
    assert "hop R" not in desk.can(desk.turn(drawing, SIDE, "6 HOP"))
    assert "dig" not in desk.can(desk.turn(drawing, SIDE, "6 DIG"))


@pytest.mark.parametrize(("d6", "halves"), [(1, 2), (4, 8), (6, 12)])
def test_t1_the_d6_gives_two_halves_a_pip(desk: Desk, d6: Any, halves: Any) -> None:
    """A roll of n gives n movement points, 2n halves."""
    state = desk.do(desk.position(EMPTY, SIDE), f"roll {d6} TIP")
    assert desk.see(state)["halves"] == halves
    assert desk.told("rolled") == [{"event": "rolled", "seat": 0, "colour": 0, "d6": d6, "flux": "TIP"}]


STEPS = [
    # facing, may step, halves left of 4: the home of seat 0 is the left coaster
    ("0> in its home", " .  .  .   .  .  .\n .  0> .   .  .  .\n .  .  .   .  .  1<", "2 1 R", 3),
    ("out of its home", " .  .  .   .  .  .\n .  .  0>  .  .  .\n .  .  .   .  .  1<", "3 1 R", 2),
    ("abroad", " .  .  .   .  .  .\n .  .  .   .  0> .\n .  .  .   .  .  1<", "5 1 R", 2),
    ("into its home", " .  .  .   .  .  .\n .  .  .   0< .  .\n .  .  .   .  .  1<", "2 1 L", 3),
    ("no arrow", " .  .  .   .  .  .\n .  0< .   .  .  .\n .  .  .   .  .  1<", None, 4),
    ("out of the galaxy", " .  .  .   .  .  .\n 0< .  .   .  .  .\n .  .  .   .  .  1<", None, 4),
]


@pytest.mark.parametrize(("what", "drawing", "to", "left"), STEPS, ids=[case[0] for case in STEPS])
def test_t2_a_step_follows_an_arrow_and_costs_by_the_square_entered(
    desk: Desk, what: Any, drawing: str, to: Any, left: Any
) -> None:
    """1 half into the own home, 2 elsewhere; without an arrow or a square ahead there is no step."""
    state = desk.turn(drawing, SIDE, "2 AIM")
    assert ("step" in desk.can(state)) == (to is not None)
    if to:
        state = desk.do(state, "step")
        assert (desk.at(state, 0), desk.see(state)["halves"]) == (to, left)


@pytest.mark.parametrize(("x", "left"), [(1, 3), (4, 2)])
def test_t2_a_turn_costs_by_the_square_stood_on(desk: Desk, x: Any, left: Any) -> None:
    """90 degrees cost 1 half at home and 2 abroad."""
    state = desk.turn(EMPTY, SIDE, "2 TIP")
    if x == 4:
        state = desk.turn(" . . . . . .\n . . . . 0> .\n . . . . . 1<", SIDE, "2 TIP")
    assert desk.at(desk.do(state, "turn left"), 0) == f"{x} 1 U"
    after = desk.do(state, "turn right")
    assert (desk.at(after, 0), desk.see(after)["halves"]) == (f"{x} 1 D", left)


def test_t2_a_last_half_serves_at_home_only(desk: Desk) -> None:
    """With 1 half left a ship may step within its home, but neither step out of it nor turn abroad."""
    inside = desk.turn(EMPTY, SIDE, "1 AIM", halves=1)
    assert {"step", "turn left"} <= set(desk.can(inside))
    border = desk.turn(" . . . . . .\n . . 0> . . .\n . . . . . 1<", SIDE, "1 AIM", halves=1)
    assert "step" not in desk.can(border)
    abroad = desk.turn(" . . . . . .\n . . . . 0> .\n . . . . . 1<", SIDE, "1 AIM", halves=1)
    assert desk.can(abroad)[:3] == ["end", "fire", "aim U"]
    with pytest.raises(ActionError, match="it costs 2 halves and 1 are left"):
        desk.do(abroad, "turn left")


THREE = "0/0 1/0 2/0"
IN_THREE = """
 .  .  .   .  .  .   .  .  .
 .  .  .   .  0> .   .  .  .
 2^ .  .   .  .  .   .  .  1<
"""


def test_t3_an_allys_home_counts_double_once_confirmed(desk: Desk) -> None:
    """Steps into it, turns within it; one of an eliminated player does not, nor once the ally is out."""
    state = desk.turn(IN_THREE, THREE, "3 AIM")
    assert desk.see(desk.do(state, "step"))["halves"] == 4
    assert desk.see(desk.do(state, "invoke 1", "agree", "step"))["halves"] == 5
    assert desk.see(desk.do(state, "invoke 1", "refuse", "step"))["halves"] == 4
    assert desk.see(desk.do(state, "invoke 2", "agree", "step"))["halves"] == 4
    gone = desk.retire(state, 1)
    assert desk.see(desk.do(gone, "step"))["halves"] == 4
    last = desk.retire(desk.turn(IN_THREE, THREE, "3 AIM", halves=1), 1)
    assert not {"step", "turn left", "turn right"} & set(desk.can(last))
    turned = desk.do(desk.turn(IN_THREE, THREE, "1 AIM"), "invoke 1", "agree", "turn left", "turn left")
    assert (desk.at(turned, 0), desk.see(turned)["halves"]) == ("4 1 L", 0)
    outside = desk.turn(IN_THREE.replace("0> .", ". 0>"), THREE, "1 AIM")
    assert desk.see(desk.do(outside, "step"))["halves"] == 0
    entered = desk.do(outside, "invoke 2", "agree", "step", "turn right")
    assert (desk.at(entered, 0), desk.see(entered)["halves"]) == ("6 1 D", 0)
    state = desk.retire(desk.do(desk.turn(IN_THREE, THREE, "3 AIM"), "invoke 1", "agree"), 1)
    assert desk.see(state)["agreed"] == []
    assert desk.see(desk.do(state, "step"))["halves"] == 4


FOUR = "0/0 1/0 2/0 3/0"
CENTRED = """
 .  .  .   .  .  .   .  .  .   .  .  .
 .  0> .   .  .  .   .  .  .   .  .  .
 1^ .  .   2^ .  .   3^ .  .   .  .  .
"""


def test_t4_a_warp_joins_own_and_confirmed_homes(desk: Desk) -> None:
    """From the own centre to an empty one of each seat that said yes, for 1 half; homes of the dead are open."""
    state = desk.turn(CENTRED, FOUR, "1 AIM")
    assert "warp" not in " ".join(desk.can(state))
    state = desk.do(state, "invoke 2", "agree", "invoke 3", "refuse", "invoke 1", "agree")
    assert [words for words in desk.can(state) if words.startswith("warp")] == ["warp 1", "warp 2"]
    state = desk.do(state, "warp 2")
    assert (desk.at(state, 0), desk.see(state)["halves"]) == ("7 1 R", 1)
    assert [words for words in desk.can(state) if words.startswith("warp")] == ["warp 0", "warp 1"]
    drawing = """
     .  .  .   .  .  .   .  .  .
     .  0> .   .  2v .   .  .  .
     1^ .  .   .  .  .   .  .  .
    """
    state = desk.do(desk.turn(drawing, THREE, "2 AIM"), "invoke 1", "agree", "invoke 2", "agree")
    assert [words for words in desk.can(state) if words.startswith("warp")] == ["warp 2"]
    state = desk.do(state, "step")
    assert "warp" not in " ".join(desk.can(state))
    with pytest.raises(ActionError, match="not on the centre"):
        desk.do(state, "warp 2")
    drawing = """
     .  .  .   .  .  .   .  .  .   .  .  .
     .  0> .   .  .  .   .  .  .   .  .  .
     3^ .  .   .  .  .   .  .  .   .  .  .
    """
    state = desk.turn(drawing, FOUR, "1 AIM", eliminated=[2], retired=[1])
    assert [words for words in desk.can(state) if words.startswith("warp")] == ["warp 1", "warp 2"]
    state = desk.do(state, "warp 1", "warp 2")
    assert (desk.at(state, 0), desk.see(state)["halves"]) == ("7 1 R", 0)
    assert "warp" not in " ".join(desk.can(state))


def test_t5_unused_movement_is_lost(desk: Desk) -> None:
    """And nothing leaves the galaxy: at the rim, facing out, neither step nor dig nor hop goes on."""
    state = desk.do(desk.position(EMPTY, SIDE), "roll 6 AIM", "end", "roll 1 AIM")
    assert desk.see(state)["halves"] == 2
    state = desk.turn(" 0^ . . . . .\n . . . . . .\n . . . . . 1<", SIDE, "6 WILD")
    assert not {"step", "dig", "hop U", "hop L"} & set(desk.can(state))
    with pytest.raises(ActionError, match="no square lies ahead"):
        desk.do(state, "step")


FLUX = {
    "TIP": set(),
    "SWAP": {"swap 1"},
    "HOP": {"hop U", "hop R", "hop D", "hop L"},
    "AIM": {"aim U", "aim R", "aim D", "aim L"},
    "DIG": {"dig"},
    "WILD": {
        "swap 1", "hop U", "hop R", "hop D", "hop L", "aim U", "aim R", "aim D", "aim L", "dig",
    },
}  # fmt: skip


@pytest.mark.parametrize("flux", FLUX)
def test_t6_each_face_gives_its_flux_actions_once(desk: Desk, flux: Any) -> None:
    """The actions of the face are there before and after movement, and gone once one was used."""
    moves = {"end", "fire", "turn left", "turn right"}
    state = desk.turn(EMPTY, SIDE, f"6 {flux}")
    assert moves <= set(desk.can(state))  # the flux is optional, SWAP too
    assert set(desk.can(state)) - {"step"} - moves == FLUX[flux]
    assert set(desk.can(desk.do(state, "turn left"))) - {"step"} - moves == FLUX[flux]
    for action in FLUX[flux]:
        after = desk.do(state, action)
        assert not set(desk.can(after)) & FLUX["WILD"]
        assert desk.see(after)["halves"] == 12


def test_t6_tip_only_turns(desk: Desk) -> None:
    """After TIP there is neither step nor warp; firing and talk stay."""
    drawing = """
     .  .  .   .  .  .   .  .  .
     .  0> .   .  2v .   .  .  .
     .  .  .   .  .  .   .  .  .
    """
    state = desk.turn(drawing, THREE, "6 TIP", eliminated=[1])
    assert desk.can(state) == ["end", "fire", "turn left", "turn right", "invoke 2", "claim"]
    with pytest.raises(ActionError, match="after TIP the ship only turns"):
        desk.do(state, "step")


def test_t6_what_each_flux_action_does(desk: Desk) -> None:
    """SWAP keeps facings, HOP ignores arrows and facing, AIM may keep the facing, DIG needs no arrow."""
    state = desk.do(desk.turn(EMPTY, SIDE, "1 SWAP"), "swap 1")
    assert (desk.at(state, 0), desk.at(state, 1)) == ("5 2 R", "1 1 L")
    state = desk.do(desk.turn(EMPTY, SIDE, "1 HOP"), "hop L")
    assert desk.at(state, 0) == "0 1 R"
    for way in "URDL":
        state = desk.do(desk.turn(EMPTY, SIDE, "1 AIM"), f"aim {way}")
        assert (desk.at(state, 0), desk.see(state)["halves"]) == (f"1 1 {way}", 2)
    state = desk.do(desk.turn(EMPTY, SIDE, "3 HOP"), "step", "hop D", "step")
    assert (desk.at(state, 0), desk.see(state)["halves"]) == ("3 2 R", 3)
    state = desk.turn(" . . . 0< . .\n . . . . . .\n . . . . . 1<", SIDE, "1 DIG")
    assert "step" not in desk.can(state)
    state = desk.do(state, "dig")
    assert (desk.at(state, 0), desk.see(state)["halves"]) == ("2 0 L", 2)
