"""Tag team (V1) and system swap (V2); the wild shot (V3) is tested with the other torpedoes."""

from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

from warpleague.errors import ActionError, OptionsError
from warpleague.games.coasters import GAME

SQUARE = "0/0 1/0\n2/0 3/0"
TEAMS = """
 .  .  .   .  .  .
 .  0> .   .  1< .
 .  .  .   .  .  .
 .  .  .   .  .  .
 2> .  .   .  .  3<
 .  .  .   .  .  .
"""


def team(desk: Desk, drawing: Any = TEAMS, **options: Any) -> Any:
    return desk.position(drawing, SQUARE, players=2, options={"colours": 2, **options})


def test_v1_all_coasters_first_then_all_ships_colour_by_colour(desk: Desk) -> None:
    """Colour c of seat s is c x seats + s, the order of the set-up and of turns; destroyed ones are skipped."""
    state = GAME.initial(2, GAME.Options(colours=2))
    order = []
    for move in ("lay 0 0 0", "lay 1 0 0", "lay 0 1 0", "lay 1 1 0"):
        order.append((desk.actor(state), desk.see(state)["colour"]))
        state = desk.do(state, move)
    for move in ("deploy 0 0 U", "deploy 3 0 U", "deploy 0 3 U", "deploy 3 3 U"):
        order.append((desk.actor(state), desk.see(state)["colour"]))
        state = desk.do(state, move)
    assert order == [(0, 0), (1, 1), (0, 2), (1, 3)] * 2
    state, played = team(desk), []
    for _ in range(6):
        played.append((desk.see(state)["seat"], desk.see(state)["colour"]))
        state = desk.do(state, "roll 1 TIP", "end")
    assert played == [(0, 0), (1, 1), (0, 2), (1, 3), (0, 0), (1, 1)]
    state, colours = team(desk, TEAMS.replace("2>", ". ")), []
    for _ in range(6):
        colours.append(desk.see(state)["colour"])
        state = desk.do(state, "roll 1 TIP", "end")
    assert colours == [0, 1, 0, 3, 0, 1]


def test_v1_own_colours_need_no_confirmation(desk: Desk) -> None:
    """Own homes are open, a dead colour's too; to others it opens when its seat is out; no swap with own ships."""
    state = desk.do(team(desk, TEAMS.replace("2>", ". ")), "roll 1 SWAP")
    assert "warp 2" in desk.can(state)
    assert [words for words in desk.can(state) if "swap" in words] == ["swap 1", "swap 3"]
    both = desk.do(team(desk), "roll 1 SWAP")
    assert [words for words in desk.can(both) if "swap" in words] == ["swap 1", "swap 3"]
    state = desk.do(state, "warp 2", "turn left")
    assert desk.see(state)["halves"] == 0
    state = desk.do(team(desk, TEAMS.replace("3<", ". ")), "roll 1 AIM")
    assert "warp" not in " ".join(desk.can(state)).replace("warp 2", "")
    three = desk.turn(
        ". . . . . . . . .\n. 0> . . . . . . .\n. . . 1> . . . . .\n"
        ". . . . . . . . .\n. . . . . . 5> . .\n3> . . . . . . . .",
        "0/0 1/0 2/0\n3/0 4/0 5/0", "1 AIM", players=3, options={"colours": 2},
    )  # fmt: skip
    assert [words for words in desk.can(three) if "warp" in words] == ["warp 3"]
    gone = desk.retire(three, 1)
    assert [words for words in desk.can(gone) if "warp" in words] == ["warp 1", "warp 3", "warp 4"]


def test_v1_a_seat_is_out_with_its_last_ship(desk: Desk) -> None:
    """One destroyed ship does not eliminate; a torpedo may hit an own colour."""
    state = desk.do(team(desk, TEAMS.replace("1<", "1<1")), "roll 1 TIP", "fire")
    assert (desk.see(state)["ships"][1], desk.see(state)["eliminated"]) == (None, [])
    last = TEAMS.replace("1<", "1<1").replace("3<", ". ")
    state = desk.do(team(desk, last), "roll 1 TIP", "fire")
    assert GAME.outcome(state).ranks == (1, 2)
    own = TEAMS.replace("0> .   .  1<", "0> .   2^ 1<").replace(" 2> .", " .  .")
    state = desk.do(team(desk, own), "roll 1 TIP", "fire")
    assert desk.told("fired")[0]["hit"] == 2


def test_v1_with_a_free_colour_the_seat_chooses_before_the_roll(desk: Desk) -> None:
    """Any living colour, each turn, the same again too; then the dice."""
    state = desk.position(
        TEAMS, SQUARE, players=2, phase="colour", options={"colours": 2, "free_colour": True}
    )
    assert (GAME.ask(state, 0), desk.can(state)) == ("colour", ["choose-colour 0", "choose-colour 2"])
    state = desk.do(state, "choose-colour 2")
    assert GAME.actors(state) == (-1,)
    state = desk.do(state, "roll 1 TIP", "end", "choose-colour 3", "roll 1 TIP", "end")
    assert desk.can(state) == ["choose-colour 0", "choose-colour 2"]
    lost = desk.position(
        TEAMS.replace("0>", ". "),
        SQUARE,
        players=2,
        phase="colour",
        options={"colours": 2, "free_colour": True},
    )
    assert desk.can(lost) == ["choose-colour 2"]


@pytest.mark.parametrize(("players", "colours"), [(2, 6), (4, 3), (6, 2), (10, 2)])
def test_v1_at_most_ten_colours(players: int, colours: int) -> None:
    """Colours times players beyond ten is refused, and the error says how many go."""
    with pytest.raises(OptionsError, match=f"use at most {10 // players}"):
        GAME.check_options(players, GAME.Options(colours=colours))
    GAME.check_options(players, GAME.Options(colours=10 // players))


@pytest.mark.parametrize(
    "wrong", [{"colours": 0}, {"colours": True}, {"max_rounds": 0}, {"max_rounds": 1.5}, {"alliances": 1}]
)
def test_options_refuse_wrong_values(wrong: Any) -> None:
    """Whole numbers of at least 1, and true or false."""
    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
        GAME.Options(**wrong)


def test_v2_swap_lets_two_systems_change_places_with_their_ships(desk: Desk) -> None:
    """Rotations and facings are kept; lines and steps follow; homes of the dead may be moved, none that never came."""
    drawing = """
     .  .  .   .  .  .   .  .  .
     .  0> .   .  .  .   .  .  .
     .  .  .   1^ .  .   .  .  2v
    """
    state = desk.turn(drawing, "0/0 1/1 2/2", "1 SWAP", options={"system_swap": True})
    swaps = [words for words in desk.can(state) if "swap" in words]
    assert swaps == ["swap-systems 0 1", "swap-systems 0 2", "swap-systems 1 2"]
    state = desk.do(state, "swap-systems 0 2")
    assert [(system["at"], system["rotation"]) for system in desk.see(state)["systems"]] == [
        ([2, 0], 0), ([1, 0], 1), ([0, 0], 2),
    ]  # fmt: skip
    assert [desk.at(state, colour) for colour in range(3)] == ["7 1 R", "3 2 U", "2 2 D"]
    assert "swap" not in " ".join(desk.can(state))
    drawing = """
     .  .  .   .  .  .   .  .  .
     .  0> .   .  .  .   .  .  .
     .  .  .   1^ .  .   .  2v .
    """
    lie = "0/0 1/0 2/0"
    state = desk.turn(drawing, lie, "6 WILD", options={"system_swap": True})
    missed = desk.do(state, "turn right", "fire")
    assert desk.told("fired")[0]["how"] == "left"
    assert desk.see(missed)["ships"][2]["hits"] == 3
    state = desk.do(state, "swap-systems 0 1", "step")
    assert desk.at(state, 0) == "5 1 R"
    assert desk.at(state, 1) == "0 2 U"
    drawing = ". . . . . . . . .\n. 0> . . 1> . . . .\n. . . . . . . . ."
    state = desk.turn(drawing, "0/0 1/0 2/0", "1 SWAP", eliminated=[2], options={"system_swap": True})
    assert "swap-systems 1 2" in desk.can(state)
    never = GAME.from_json(
        {
            "players": 3, "options": {"system_swap": True}, "phase": "turn", "d6": 1, "flux": "SWAP",
            "systems": [{"at": [0, 0], "rotation": 0}, {"at": [1, 0], "rotation": 0}, None],
            "ships": [{"at": [1, 1], "facing": "R"}, {"at": [4, 1], "facing": "R"}, None], "retired": [2],
        }
    )  # fmt: skip
    assert [words for words in desk.can(never) if "swap" in words] == ["swap-systems 0 1"]
    with pytest.raises(ActionError, match="the smaller first"):
        GAME.parse(never, 0, {"do": "swap-systems", "systems": [1, 0]})
