"""How a game ends, who ranks where, and bots that are out (E1 to E5)."""

from random import Random
from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

from warpleague.games.coasters import GAME

THREE = "0/0 1/0 2/0"


def row(*words: str) -> str:
    """A drawing with `words` in the middle row."""
    return f"{'. ' * len(words)}\n{' '.join(words)}\n{'. ' * len(words)}"


def test_e1_the_last_seat_with_a_ship_wins(desk: Desk) -> None:
    """Destroying the last other ship ends the game within the shot: no turn follows."""
    state = desk.turn(row(".", "0>", ".", "1^1", ".", "."), "0/0 1/0", "1 TIP")
    state = desk.do(state, "fire")
    assert [event["event"] for event in desk.events] == ["fired", "destroyed", "eliminated", "over"]
    assert desk.events[-1] == {"event": "over", "why": "last-ship", "winners": [0]}
    assert GAME.actors(state) == ()
    outcome = GAME.outcome(state)
    assert (outcome.ranks, outcome.scores, outcome.why) == ((1, 2), (1, 0), "last-ship")
    assert outcome.breakdown == {"E1 last ship": (1, 0)}


def test_e2_a_confirmed_claim_shares_the_first_place(desk: Desk) -> None:
    """The place after two winners is the third; it outlives that one of them is retired afterwards."""
    state = desk.turn(row(".", "0>", ".", ".", "1^", ".", ".", ".", "."), THREE, "1 TIP", eliminated=[2])
    state = desk.do(state, "claim", "agree")
    outcome = GAME.outcome(state)
    assert (outcome.ranks, outcome.scores) == ((1, 1, 3), (0.5, 0.5, 0))
    assert outcome.breakdown == {"E2 claim confirmed": (0.5, 0.5, 0)}
    state = desk.turn(row(".", "0>", ".", ".", "1^", ".", ".", ".", "."), THREE, "1 TIP", eliminated=[2])
    state = desk.retire(desk.do(state, "claim", "agree"), 1)
    assert GAME.outcome(state).ranks == (1, 3, 2)
    assert GAME.from_json(GAME.to_json(state)) == state


def test_e3_after_the_last_round_the_survivors_share(desk: Desk) -> None:
    """A round is one turn of every survivor; the last one is completed."""
    drawing = row(".", "0>", ".", ".", ".", ".", "2v", ".", ".")
    state = desk.position(drawing, THREE, eliminated=[1], round=2, options={"max_rounds": 3})
    state = desk.do(state, "roll 1 TIP", "end", "roll 1 TIP", "end")
    assert (desk.see(state)["round"], desk.see(state)["seat"]) == (3, 0)
    state = desk.do(state, "roll 1 TIP", "end")
    assert GAME.actors(state) == (-1,)
    state = desk.do(state, "roll 1 TIP", "end")
    outcome = GAME.outcome(state)
    assert (outcome.ranks, outcome.why) == ((1, 3, 1), "max-rounds")
    assert outcome.breakdown == {"E3 last round played": (0.5, 0, 0.5)}
    assert GAME.Options().max_rounds == 200


def test_e4_later_elimination_ranks_higher(desk: Desk) -> None:
    """Seats 2 and 1 fall in this order: ranks 4 and 3 behind two survivors who agree."""
    drawing = row(".", "0>", ".", "2^1", ".", "1^1", ".", ".", ".", ".", "3v", ".")
    state = desk.do(desk.turn(drawing, "0/0 1/0 2/0 3/0", "1 TIP"), "fire")
    state = desk.do(state, "roll 1 TIP", "end", "roll 1 TIP", "end", "roll 1 TIP", "fire")
    assert desk.see(state)["eliminated"] == [2, 1]
    state = desk.do(state, "roll 1 TIP", "claim", "agree")
    assert GAME.outcome(state).ranks == (1, 3, 4, 1)


def test_e5_a_retired_seats_ship_leaves_and_its_home_opens(desk: Desk) -> None:
    """The coaster stays; its turn ends; a question to it counts as refused, without that alliance."""
    drawing = row(".", "0>", ".", ".", "1^", ".", ".", "2v", ".")
    state = desk.retire(desk.turn(drawing, THREE, "2 AIM"), 1)
    assert desk.events == [{"event": "retired", "seat": 1}]
    view = desk.see(state)
    assert (view["ships"][1], view["retired"], view["seat"]) == (None, [1], 0)
    assert view["systems"][1] is not None
    assert "warp 1" in desk.can(state)
    assert "warp 2" not in desk.can(state)
    drawing = row(".", "0>", ".", ".", "1^", ".", ".", "2v", ".")
    state = desk.retire(desk.turn(drawing, THREE, "2 AIM"), 0)
    assert (GAME.actors(state), desk.see(state)["seat"], desk.see(state)["round"]) == ((-1,), 1, 1)
    drawing = row(".", "0>", ".", ".", "1^", ".", ".", "2v", ".")
    state = desk.retire(desk.do(desk.turn(drawing, THREE, "2 AIM"), "invoke 1"), 1)
    assert (desk.actor(state), GAME.ask(state, 0), desk.see(state)["agreed"]) == (0, "turn", [])
    assert "invoke 1" not in desk.can(state)
    refused = desk.retire(desk.do(desk.turn(drawing, THREE, "2 AIM"), "invoke 1", "refuse"), 1)
    assert desk.see(refused)["refused"] == []


def test_e5_a_seat_left_alone_wins_at_once(desk: Desk) -> None:
    """In the turn, while asked, and in the set-up too."""
    duel = desk.turn(row(".", "0>", ".", ".", "1^", "."), "0/0 1/0", "1 TIP")
    assert GAME.outcome(desk.retire(duel, 0)).ranks == (2, 1)
    setting_up = desk.do(GAME.initial(2, GAME.Options()), "lay 0 0 0")
    assert GAME.outcome(desk.retire(setting_up, 0)).ranks == (2, 1)
    at_once = desk.retire(GAME.initial(2, GAME.Options()), 1)
    assert GAME.outcome(at_once).ranks == (1, 2)
    assert GAME.from_json(GAME.to_json(at_once)) == at_once


def test_e5_in_the_set_up_laid_coasters_stay_and_others_never_come(desk: Desk) -> None:
    """A ship put down leaves; if no coaster lies, the next seat lays at the origin."""
    state = desk.do(GAME.initial(4, GAME.Options()), "lay 0 0 0")
    state = desk.retire(desk.retire(state, 0), 2)
    state = desk.do(state, "lay 1 0 0", "lay 2 0 0")
    assert (GAME.ask(state, 1), desk.actor(state)) == ("deploy", 1)
    state = desk.do(state, "deploy 4 1 R", "deploy 7 1 L")
    assert [system is not None for system in desk.see(state)["systems"]] == [True, True, False, True]
    assert (desk.see(state)["seat"], GAME.actors(state)) == (1, (-1,))
    state = desk.do(state, "roll 1 AIM")
    assert "warp 0" in desk.can(state)
    state = desk.do(GAME.initial(4, GAME.Options()), "lay 0 0 0", "lay 1 0 0", "lay 2 0 0", "lay 3 0 0")
    state = desk.retire(desk.do(state, "deploy 1 1 R"), 0)
    assert (desk.actor(state), desk.see(state)["ships"][0]) == (1, None)
    state = desk.retire(state, 1)
    assert (desk.actor(state), GAME.ask(state, 2)) == (2, "deploy")
    state = desk.do(state, "deploy 7 1 R", "deploy 10 1 R")
    assert (GAME.actors(state), desk.see(state)["seat"]) == ((-1,), 2)
    assert [ship is not None for ship in desk.see(state)["ships"]] == [False, False, True, True]
    state = desk.retire(GAME.initial(3, GAME.Options()), 0)
    assert desk.actor(state) == 1
    assert desk.can(state) == ["lay 0 0 0", "lay 0 0 1", "lay 0 0 2", "lay 0 0 3"]


def test_e5_all_ships_of_a_tag_team_leave(desk: Desk) -> None:
    """Both colours are gone at once, and both homes are open to the others."""
    drawing = ". . . . . . . . .\n. 0> . . 1> . . 2> .\n. . . . . . . . .\n"
    drawing += ". . . . . . . . .\n3> . . 4> . . 5> . .\n. . . . . . . . ."
    state = desk.turn(drawing, "0/0 1/0 2/0\n3/0 4/0 5/0", "1 AIM", players=3, options={"colours": 2})
    state = desk.retire(state, 1)
    assert [ship is None for ship in desk.see(state)["ships"]] == [False, True, False, False, True, False]
    assert [words for words in desk.can(state) if "warp" in words] == ["warp 1", "warp 3", "warp 4"]


def test_e5_retired_seats_rank_below_all_others(desk: Desk) -> None:
    """Below the eliminated, the later retired above the earlier; an eliminated seat, and after the end, too."""
    drawing = row(".", "0>", ".", ".", "1^", ".", ".", "2v", ".", ".", ".", ".")
    state = desk.turn(drawing, "0/0 1/0 2/0 3/0", "1 TIP", eliminated=[3])
    assert GAME.outcome(desk.retire(desk.retire(state, 2), 1)).ranks == (1, 3, 4, 2)
    assert GAME.outcome(desk.retire(desk.retire(desk.retire(state, 2), 3), 1)).ranks == (1, 2, 4, 3)
    state = desk.retire(desk.retire(GAME.initial(3, GAME.Options()), 0), 1)
    assert desk.events[-1] == {"event": "over", "why": "last-ship", "winners": [2]}
    state = desk.retire(state, 2)
    assert desk.events == [{"event": "retired", "seat": 2}]
    outcome = GAME.outcome(state)
    assert (outcome.ranks, outcome.scores) == ((3, 2, 1), (0, 0, 0))
    assert GAME.from_json(GAME.to_json(state)) == state
    assert GAME.determinize(GAME.view(state, 2), 2, Random(1)) == state
    assert GAME.scene(state, None).caption == "Over: nobody won: no enemy is left"


@pytest.mark.parametrize("end", ["fire", "claim", "round", "retire"])
def test_at_the_end_no_seat_is_named(desk: Desk, end: Any) -> None:
    """Nobody has the turn or is asked once the game is over, however it ended; a position may still name a seat."""
    whole = row(".", "0>", "1^1", ".", ".", ".", ".", ".", ".")
    state = desk.turn(whole, THREE, "1 TIP", eliminated=[2], options={"max_rounds": 1})
    if end == "retire":
        state = desk.retire(desk.do(state, "claim"), 1)
    else:
        moves = {"fire": ["fire"], "claim": ["claim", "agree"], "round": ["end", "roll 1 TIP", "end"]}
        state = desk.do(state, *moves[end])
    data = GAME.to_json(state)
    assert (data["phase"], data["seat"], data["colour"], data["asked"]) == ("over", None, None, [])
    assert [desk.see(state, seat)["seat"] for seat in range(3)] == [None] * 3
    assert GAME.from_json({**data, "seat": 1}) == GAME.from_json(data) == state
    assert GAME.scene(state, None).panels[0].owner is None
