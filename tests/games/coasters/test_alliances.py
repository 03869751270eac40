"""Alliances, claims and talk (A1 to A4), and what of them is hidden."""

import json
from random import Random
from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

from warpleague.errors import ActionError
from warpleague.games.coasters import GAME

FOUR = "0/0 1/0\n2/0 3/0"
DRAWING = """
 .  .  .   .  .  .
 .  0> .   .  1< .
 .  .  .   .  .  .
 .  .  .   .  .  .
 .  2> .   .  3< .
 .  .  .   .  .  .
"""
GONE = DRAWING.replace("3<", ". ")


def seen(events: Any, seat: Any) -> Any:
    return [form for event in events if (form := event.seen_by(seat)) is not None]


def parse(state: Any, data: Any) -> Any:
    return GAME.parse(state, GAME.actors(state)[0], data)


def test_a1_say_is_free_and_changes_nothing_but_the_talk(desk: Desk) -> None:
    """Messages are kept for one round: a seat still sees in its next turn what was said since its last one."""
    state = desk.turn(DRAWING, FOUR, "3 AIM")
    assert GAME.talk(state, 0) == 8
    after = desk.do(state, "say 1,2 peace?")
    assert (desk.can(after), desk.actor(after)) == (desk.can(state), 0)
    assert (GAME.talk(after, 0), GAME.talk(after, 1)) == (7, 8)
    before, now = GAME.to_json(state), GAME.to_json(after)
    assert now.pop("messages") == [{"turn": 1, "seat": 0, "to": [1, 2], "text": "peace?"}]
    before.pop("messages")
    assert now == before
    state = desk.do(desk.turn(DRAWING, FOUR, "1 TIP"), "say 1 hold still")
    for seat in (1, 2, 3, 0):
        state = desk.do(state, "end", "roll 1 TIP")
        assert desk.see(state)["seat"] == seat
        assert len(desk.see(state, 1)["messages"]) == 1
    state = desk.do(state, "end")
    assert GAME.to_json(state)["messages"] == []


def test_a1_say_is_possible_at_any_own_decision(desk: Desk) -> None:
    """In the set-up, when choosing a colour, in the turn, and when asked for an alliance or a claim."""
    state = GAME.initial(3, GAME.Options(colours=2, free_colour=True))
    asked = []
    moves = [
        "lay 0 0 0", "lay 1 0 0", "lay 2 0 0", "lay 0 1 0", "lay 1 1 0", "lay 2 1 0", "deploy 1 1 R",
        "deploy 3 0 U", "deploy 6 0 U", "deploy 0 3 U", "deploy 3 3 U", "deploy 6 3 U", "choose-colour 0",
        "roll 1 AIM", "invoke 1", "refuse", "end",
    ]  # fmt: skip
    for move in moves:
        if not move.startswith("roll"):
            asked.append(GAME.ask(state, desk.actor(state)))
            state = desk.do(state, f"say {(desk.actor(state) + 1) % 3} hm")
        state = desk.do(state, move)
    assert set(asked) == {"lay", "deploy", "colour", "turn", "ally"}
    state = desk.do(desk.turn(GONE, FOUR, "1 TIP", eliminated=[3]), "claim", "say 0,2 what for?")
    assert (GAME.ask(state, 1), desk.actor(state)) == ("claim", 1)


def test_a1_eight_messages_a_turn_and_seat(desk: Desk) -> None:
    """The next turn, whoever's it is, brings eight new ones; so does each decision of the set-up."""
    state = desk.do(desk.turn(DRAWING, FOUR, "3 AIM"), *["say 1 again"] * 8)
    assert GAME.talk(state, 0) == 0
    with pytest.raises(ActionError, match="only 8 messages a turn"):
        desk.do(state, "say 1 again")
    state = desk.do(state, "invoke 1", *["say 0 no"] * 8, "refuse", "end")
    assert (GAME.talk(state, 0), GAME.talk(state, 1)) == (8, 8)
    state = GAME.initial(3, GAME.Options())
    moves = ["lay 0 0 0", "lay 1 0 0", "lay 2 0 0", "deploy 1 1 U", "deploy 4 1 U", "deploy 7 1 U"]
    for move in moves:
        assert [GAME.talk(state, seat) for seat in range(3)] == [8, 8, 8]
        state = desk.do(state, *[f"say {(desk.actor(state) + 1) % 3} hm"] * 8)
        assert GAME.talk(state, desk.actor(state)) == 0
        state = desk.do(state, move)
    assert GAME.talk(state, 0) == 8


@pytest.mark.parametrize(
    ("to", "text", "misfit"),
    [
        ([], "x", "at least one seat"),
        ([0], "x", "distinct other seats"),
        ([1, 1], "x", "distinct other seats"),
        ([4], "x", "distinct other seats"),
        ([True], "x", r"say: to\[0\] must be a whole number, not true"),
        ("1", "x", "say: to must be a list, each item a whole number"),
        ([1], "", "1 to 280"),
        ([1], "x" * 281, "1 to 280"),
        ([1], "\N{SNOWMAN}" * 281, "1 to 280"),
        ([1], 5, "say: text must be a text, not 5"),
        ([1], "a\nb", r"control character U\+000A"),
        ([1], "a\x7f", r"control character U\+007F"),
        ([1], "\x85", r"control character U\+0085"),
        ([1], "\ud800", r"lone surrogate U\+D800"),
    ],
)
def test_a1_what_may_not_be_said(desk: Desk, to: Any, text: str, misfit: Any) -> None:
    """Addressees and text are checked, and the error says what is wrong."""
    with pytest.raises(ActionError, match=misfit):
        parse(desk.turn(DRAWING, FOUR, "3 AIM"), {"do": "say", "to": to, "text": text})


def test_a1_what_may_be_said(desk: Desk) -> None:
    """280 code points of any plane, to eliminated seats too."""
    state = desk.turn(GONE, FOUR, "1 TIP", eliminated=[3])
    text = "\N{ROCKET}" * 280
    action = parse(state, {"do": "say", "to": [3, 1], "text": text})
    assert GAME.action_json(action) == {"do": "say", "to": [3, 1], "text": text}
    assert action == parse(state, {"do": "say", "to": [3, 1], "text": text})
    assert action not in GAME.legal(state, 0)


def test_hidden_a_message_is_private_to_sender_and_addressees(desk: Desk) -> None:
    """Others learn nothing: no event, the same view, the same decision, and no trace in their own talk limit."""
    state = desk.turn(DRAWING, FOUR, "3 AIM")
    spoken, events = GAME.apply(state, parse(state, {"do": "say", "to": [2], "text": "now!"}))
    assert seen(events, 0) == seen(events, 2) == [{"event": "said", "seat": 0, "to": [2], "text": "now!"}]
    assert seen(events, 1) == seen(events, 3) == []
    for seat in (1, 3):
        assert json.dumps(GAME.view(spoken, seat)) == json.dumps(GAME.view(state, seat))
        assert GAME.talk(spoken, seat) == GAME.talk(state, seat)
    assert desk.see(spoken, 2)["messages"] == [{"turn": 1, "seat": 0, "to": [2], "text": "now!"}]
    assert desk.see(spoken, 0)["messages_left"] == 7


def test_hidden_private_talk_never_shows_in_what_follows(desk: Desk, rng: Random) -> None:
    """Two games alike but for talk between seats 0 and 2 stay identical for seats 1 and 3 to the end."""
    plain = talking = GAME.initial(4, GAME.Options(max_rounds=15))
    while actors := GAME.actors(plain):
        assert GAME.actors(talking) == actors
        actor = actors[0]
        if actor in (0, 2):
            for _ in range(rng.randrange(min(3, GAME.talk(talking, actor) + 1))):
                said = GAME.parse(talking, actor, {"do": "say", "to": [2 - actor], "text": "psst"})
                talking, events = GAME.apply(talking, said)
                assert seen(events, 1) == seen(events, 3) == []
        if actor == -1:
            move = rng.randrange(6), rng.randrange(6)
        else:
            legal = GAME.legal(plain, actor)
            assert list(GAME.legal(talking, actor)) == list(legal)
            move = rng.choice(legal)
        (plain, events), (talking, others) = GAME.apply(plain, move), GAME.apply(talking, move)
        for seat in (1, 3):
            assert json.dumps(seen(events, seat)) == json.dumps(seen(others, seat))
            assert json.dumps(GAME.view(plain, seat)) == json.dumps(GAME.view(talking, seat))
            assert GAME.scene(plain, seat) == GAME.scene(talking, seat)
    assert GAME.outcome(plain) == GAME.outcome(talking)


def test_a2_an_invocation_is_answered_at_once_and_publicly(desk: Desk) -> None:
    """The asked seat decides out of turn; its word holds for this turn, and it is asked once."""
    state = desk.do(desk.turn(DRAWING, FOUR, "3 AIM"), "invoke 2")
    assert (desk.actor(state), GAME.ask(state, 2), desk.can(state)) == (2, "ally", ["refuse", "agree"])
    state, events = GAME.apply(state, parse(state, {"do": "agree"}))
    desk.events = [event.data for event in events]
    assert all(event.seats is None for event in events)  # told to all
    assert (desk.see(state)["halves"], desk.see(state)["flux_used"]) == (6, False)
    assert desk.events == [{"event": "answered", "seat": 2, "answer": "agree"}]
    assert desk.actor(state) == 0
    assert (desk.see(state, 3)["agreed"], desk.see(state, 3)["refused"]) == ([2], [])
    assert [words for words in desk.can(state) if "invoke" in words] == ["invoke 1", "invoke 3"]
    with pytest.raises(ActionError, match="has not answered in this turn"):
        desk.do(state, "invoke 2")
    state = desk.do(state, "invoke 3", "refuse")
    assert desk.see(state)["refused"] == [3]
    assert [words for words in desk.can(state) if "invoke" in words] == ["invoke 1"]
    state = desk.do(state, "end", "roll 1 TIP")
    assert (desk.see(state)["agreed"], desk.see(state)["refused"]) == ([], [])


def test_a2_only_other_survivors_are_invoked(desk: Desk) -> None:
    """Not the eliminated or retired; one yes holds for all homes of a seat."""
    state = desk.turn(GONE, FOUR, "1 TIP", eliminated=[3])
    assert [words for words in desk.can(state) if "invoke" in words] == ["invoke 1", "invoke 2"]
    assert [w for w in desk.can(desk.retire(state, 2)) if "invoke" in w] == ["invoke 1"]
    drawing = """
     .  .  .   .  .  .   .  .  .
     .  0> .   .  .  .   .  .  .
     .  .  .   1^ .  .   2^ .  .
     .  .  .   .  .  .   .  .  .
     .  .  .   .  .  .   .  .  .
     3^ .  .   .  .  .   5^ .  .
    """
    lie = "0/0 1/0 2/0\n3/0 4/0 5/0"
    state = desk.turn(drawing, lie, "1 AIM", players=3, options={"colours": 2})
    state = desk.do(state, "invoke 1", "agree")
    assert [words for words in desk.can(state) if "warp" in words] == ["warp 1", "warp 3", "warp 4"]


def test_a3_a_claim_needs_a_lost_ship(desk: Desk) -> None:
    """Any ship will do, in a tag team also one whose seat has another; then all can win together."""
    state = desk.turn(DRAWING, FOUR, "1 TIP")
    assert "claim" not in desk.can(state)
    with pytest.raises(ActionError, match="once a ship is gone"):
        desk.do(state, "claim")
    assert "claim" in desk.can(desk.retire(state, 2))
    assert "claim" in desk.can(desk.turn(GONE, FOUR, "1 TIP", eliminated=[3]))
    drawing = ". . . . . . . . .\n. 0> . . 1> . . 2> .\n. . . . . . . . .\n"
    drawing += ". . . . . . . . .\n. 3> . . 4> . . . .\n. . . . . . . . ."
    options = {"colours": 2}
    state = desk.turn(drawing, "0/0 1/0 2/0\n3/0 4/0 5/0", "1 TIP", players=3, options=options)
    assert "claim" in desk.can(state)
    assert GAME.outcome(desk.do(state, "claim", "agree", "agree")).ranks == (1, 1, 1)
    whole = drawing.replace("4> . . . .", "4> . . 5> .")
    state = desk.turn(whole, "0/0 1/0 2/0\n3/0 4/0 5/0", "1 TIP", players=3, options=options)
    assert "claim" not in desk.can(state)


def test_a3_all_survivors_agree_and_win_together(desk: Desk) -> None:
    """Asked from the seat after the claimant, to the last yes; after a split play goes on, without a second claim."""
    state = desk.turn(GONE, FOUR, "1 TIP", eliminated=[3], seat=1)
    state = desk.do(state, "claim")
    assert (desk.actor(state), GAME.ask(state, 2), desk.can(state)) == (2, "claim", ["split", "agree"])
    state = desk.do(state, "agree")
    assert desk.actor(state) == 0
    state = desk.do(state, "agree")
    assert GAME.actors(state) == ()
    outcome = GAME.outcome(state)
    assert (outcome.ranks, outcome.why) == ((1, 1, 1, 4), "claim")
    assert outcome.scores == (1 / 3, 1 / 3, 1 / 3, 0)
    state = desk.do(desk.turn(GONE, FOUR, "1 TIP", eliminated=[3]), "claim", "split")
    assert (desk.actor(state), GAME.ask(state, 0)) == (0, "turn")
    assert "claim" not in desk.can(state)
    assert "claim" in desk.can(desk.do(state, "end", "roll 1 TIP"))


def test_a3_an_asked_seat_that_is_out_no_longer_counts(desk: Desk) -> None:
    """The claim goes on to the next, or is confirmed when only agreement is left; a claimant's own is void."""
    claimed = desk.do(desk.turn(GONE, FOUR, "1 TIP", eliminated=[3]), "claim")
    state = desk.retire(claimed, 1)
    assert desk.actor(state) == 2
    state = desk.do(state, "agree")
    assert GAME.outcome(state).ranks == (1, 4, 1, 3)
    state = desk.retire(desk.do(claimed, "agree"), 2)
    assert (GAME.outcome(state).ranks, GAME.outcome(state).why) == ((1, 1, 4, 3), "claim")
    state = desk.retire(desk.do(claimed, "agree"), 1)
    assert desk.actor(state) == 2
    state = desk.retire(claimed, 0)
    assert (GAME.actors(state), desk.see(state)["seat"], desk.see(state)["asked"]) == ((-1,), 1, [])


def test_a4_words_bind_nobody(desk: Desk) -> None:
    """After a promise one may shoot, refuse and split; a break that is announced and not done has no effect."""
    state = desk.do(desk.turn(DRAWING, FOUR, "1 TIP"), "say 1 allies for ever", "invoke 1", "agree", "fire")
    assert desk.see(state)["ships"][1]["hits"] == 2
    state = desk.do(desk.turn(GONE, FOUR, "1 TIP", eliminated=[3]), "invoke 1", "say 0 of course")
    assert desk.see(desk.do(state, "refuse"))["refused"] == [1]
    state = desk.do(state, "agree", "claim", "say 0 as agreed", "split")
    assert (desk.actor(state), GAME.ask(state, 0)) == (0, "turn")
    state = desk.turn(GONE, FOUR, "1 TIP", eliminated=[3])
    state = desk.do(state, "claim", "say 0,2 I leave this alliance", "agree", "agree")
    assert GAME.outcome(state).ranks == (1, 1, 1, 4)


@pytest.mark.parametrize(
    ("lie", "drawing", "options"),
    [("0/0 1/0", ". . . . . .\n. 0> . . 1< .\n. . . . . .", {}), (FOUR, GONE, {"alliances": False})],
)
def test_a_no_talk_with_two_players_or_without_the_option(
    desk: Desk, lie: str, drawing: str, options: Any
) -> None:
    """There is no `say`, no `invoke`, no `claim`."""
    eliminated = [3] if options else []
    state = desk.turn(drawing, lie, "1 TIP", options=options, eliminated=eliminated)
    assert desk.can(state) == ["end", "fire", "turn left", "turn right"]
    assert GAME.talk(state, 0) == 0
    with pytest.raises(ActionError, match="no talk"):
        desk.do(state, "say 1 hello")
