"""Every rule of sheets by its number."""

from random import Random
from typing import Any

import pytest

from warpleague.errors import PositionError
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_move
from warpleague.games.sheets import GAME
from warpleague.games.sheets.geometry import YELLOW_LINES, YELLOW_VALUES, edges_of


def box_edges(*boxes: int) -> list[int]:
    return sorted({edge for box in boxes for edge in edges_of(box)})


# The sheet.


def test_s1_a_box_is_filled_by_its_fourth_edge(table: Any) -> None:
    """An edge counts for the boxes on both of its sides; a wormhole needs no filled box."""
    assert edges_of(0) == (0, 6, 42, 43)
    assert edges_of(1) == (1, 7, 43, 44)
    assert edges_of(6) == (6, 12, 49, 50)
    assert edges_of(35) == (35, 41, 82, 83)
    missing_shared = [edge for edge in box_edges(0, 1) if edge != 43]
    state = table.marking(
        table.sheet(edges=missing_shared), table.sheet(), kept=["white"], dice={"white": [1, 2]}
    )
    after, told = table.told(state, "line", edge=43)
    assert told[0] == {"event": "line", "seat": 0, "edge": 43, "free": False, "filled": [0, 1]}
    assert GAME.view(after, 0)["sheets"][0]["filled"] == [0, 1]
    state = table.marking(table.sheet(blue=[1]), table.sheet(), kept=["blue"])
    after = table.act(state, "blue", value=1, box=30, unit="blue")
    assert GAME.view(after, 0)["sheets"][0]["wormholes"] == [30]
    assert GAME.view(after, 0)["sheets"][0]["filled"] == []


def test_s2_the_triangle() -> None:
    """21 numbers in rows of 6 to 1; 12 lines and the diagonal give 10 free lines and 3 rerolls."""
    assert "".join(map(str, YELLOW_VALUES)) == "123456456122315642315"
    lines = {line.name: line for line in YELLOW_LINES}
    assert [len(lines[f"row {i}"].cells) for i in range(1, 7)] == [6, 5, 4, 3, 2, 1]
    assert [len(lines[f"column {i}"].cells) for i in range(1, 7)] == [6, 5, 4, 3, 2, 1]
    assert [YELLOW_VALUES[cell] for cell in lines["column 1"].cells] == [1, 4, 2, 6, 3, 5]
    assert [YELLOW_VALUES[cell] for cell in lines["diagonal"].cells] == [1, 5, 1]
    rerolls = [line.name for line in YELLOW_LINES if line.reward == "reroll"]
    assert rerolls == ["row 4", "column 4", "diagonal"]
    assert sum(line.reward == "free-line" for line in YELLOW_LINES) == 10


def test_s2_one_number_can_complete_several_lines(table: Any) -> None:
    """Row, column and diagonal; the whole triangle gives ten free lines and three rerolls, in any order."""
    sheet = table.sheet(yellow=[0, 7, 11, 12, 14, 2, 8, 17])
    state = table.marking(sheet, table.sheet(), kept=["yellow"], dice={"yellow": 1})
    after, told = table.told(state, "yellow", cell=13, unit="yellow")
    assert [event["from"] for event in told if event["event"] == "reward"] == [
        "row 3",
        "column 3",
        "diagonal",
    ]
    view = GAME.view(after, 0)["sheets"][0]
    assert (view["free_lines"], view["rerolls"]) == (2, 1)
    for seed in range(5):
        cells = list(range(21))
        Random(seed).shuffle(cells)
        got = {"free-line": 0, "reroll": 0}
        for i, cell in enumerate(cells):
            sheet = table.sheet(yellow=cells[:i])
            state = table.marking(sheet, table.sheet(), kept=["yellow"], dice={"yellow": YELLOW_VALUES[cell]})
            for event in table.told(state, "yellow", cell=cell, unit="yellow")[1]:
                if event["event"] == "reward":
                    got[event["reward"]] += 1
        assert got == {"free-line": 10, "reroll": 3}


def test_s3_red_completes_a_box_of_the_row_or_column(table: Any) -> None:
    """All missing edges of a box in row or column v are drawn, which may fill a neighbour, too."""
    state = table.marking(table.sheet(edges=box_edges(1)), table.sheet(), kept=["red"], dice={"red": 2})
    boxes = [action["box"] for action in table.legal(state)]
    assert boxes == [6, 7, 8, 9, 10, 11, 13, 19, 25, 31]  # row 2 and column 2, without box 1, filled
    after = table.act(state, "red", value=2, box=7, unit="red")
    view = GAME.view(after, 0)["sheets"][0]
    assert view["edges"] == box_edges(1, 7)
    assert view["red"] == [2]
    edges = [edge for edge in box_edges(0) if edge != 43]
    state = table.marking(table.sheet(edges=edges), table.sheet(), kept=["red"], dice={"red": 2})
    after, told = table.told(state, "red", value=2, box=1, unit="red")
    assert told[0]["filled"] == [0, 1]
    assert GAME.view(after, 0)["sheets"][0]["filled"] == [0, 1]


def test_s3_a_red_value_is_marked_once(table: Any) -> None:
    """Then such a die has no use; with all boxes of row and column filled it is marked with box null."""
    state = table.state(table.sheet(), table.sheet(red=[5]), phase="take", actor=1, offered=["red", "blue"])
    assert table.legal(state) == [{"do": "take", "unit": "blue"}, {"do": "pass"}]
    state = table.state(table.sheet(), table.sheet(red=[4]), phase="take", actor=1, offered=["red", "blue"])
    assert {"do": "take", "unit": "red"} in table.legal(state)
    state = table.marking(table.sheet(red=[3]), table.sheet(), kept=["black-1"], dice={"black-1": 3}, round=3)
    assert table.kinds(state) == ["yellow"]
    boxes = [box for box in range(36) if box // 6 == 4 or box % 6 == 4]
    state = table.marking(table.sheet(edges=box_edges(*boxes)), table.sheet(), kept=["red"])
    assert table.legal(state) == [{"do": "red", "value": 5, "box": None, "unit": "red"}]
    assert GAME.view(table.act(state, "red", value=5, box=None, unit="red"), 0)["sheets"][0]["red"] == [5]


def test_s4_a_value_is_written_then_crossed_out(table: Any) -> None:
    """A value in an open circle must be crossed out, with a wormhole in row or column v, and may be written again."""
    state = table.marking(kept=["blue"])
    assert table.legal(state) == [{"do": "blue", "value": 1, "box": None, "unit": "blue"}]
    after = table.act(state, "blue", value=1, box=None, unit="blue")
    assert GAME.view(after, 0)["sheets"][0]["blue"] == [{"value": 1, "crossed": False}]
    sheet = table.sheet(blue=[-1, 4, 1], wormholes=[0])
    state = table.marking(sheet, table.sheet(), kept=["blue"])
    boxes = [action["box"] for action in table.legal(state)]
    assert boxes == [1, 2, 3, 4, 5, 6, 12, 18, 24, 30]
    after = table.act(state, "blue", value=1, box=6, unit="blue")
    view = GAME.view(after, 0)["sheets"][0]
    assert view["wormholes"] == [0, 6]
    assert [circle["crossed"] for circle in view["blue"]] == [True, False, True]
    state = table.marking(table.sheet(blue=[-1], wormholes=[0]), table.sheet(), kept=["blue"])
    after = table.act(state, "blue", value=1, box=None, unit="blue")
    assert len(GAME.view(after, 0)["sheets"][0]["blue"]) == 2


def test_s4_with_seven_circles_written_only_open_values_are_of_use(table: Any) -> None:
    """No eighth is written; two dice of one value write and cross out the last one, of two values one is lost."""
    full = table.sheet(blue=[-2, -2, -3, -3, 4, 5, 6], wormholes=[0, 1, 2, 3])
    with pytest.raises(PositionError, match="no use"):
        table.marking(full, table.sheet(), kept=["blue"], dice={"blue": 1})
    state = table.marking(full, table.sheet(), kept=["blue"], dice={"blue": 4})
    assert all(action["box"] is not None for action in table.legal(state))
    state = table.marking(full, table.sheet(), kept=["black-1"], dice={"black-1": 1}, round=5)
    assert table.kinds(state) == ["yellow", "red"]
    six = table.sheet(blue=[-2, -2, -3, -3, 4, 5], wormholes=[0, 1, 2, 3], red=[1, 6], yellow=list(range(21)))
    for value, after in ((1, ["black-1"]), (6, [])):
        state = table.marking(
            six, table.sheet(), kept=["black-1", "blue"], dice={"black-1": value, "blue": 1}, round=5
        )
        state = table.act(state, "blue", value=1, box=None, unit="blue")
        assert GAME.view(state, 0)["kept"] == after


@pytest.mark.parametrize("round_", range(2, 8))
def test_s5_rerolls_come_at_the_start_of_the_own_turn(table: Any, round_: int) -> None:
    """Rounds 4, 6 and 7 give one reroll to the seat whose turn starts, and to no other."""
    state = table.state(phase="take", actor=0, turn=1, offered=["red"], round=round_ - 1)
    after, told = table.told(state, "pass")
    reward = {"event": "reward", "seat": 0, "reward": "reroll", "from": f"round {round_}"}
    assert (reward in told) == (round_ in (4, 6, 7))
    assert [sheet.rerolls for sheet in after.sheets] == [int(round_ in (4, 6, 7)), 0]


# The turn.


def test_t1_three_rolls_each_keep_one_and_discard_one(table: Any) -> None:
    """The white pair is never discarded: at the last roll, still in hand, it must be kept."""
    state = GAME.initial(2, GAME.Options())
    state = table.roll(state, 1, 2, 3, 4, 5, 6, 1)
    assert GAME.ask(state, 0) == "keep"
    state = table.act(state, "keep", unit="white", discard="blue")
    state = table.roll(state, 1, 1, 6, 6)
    state = table.act(state, "keep", unit="black-1", discard="red")
    state = table.roll(state, 2, 4)
    assert table.legal(state) == [
        {"do": "keep", "unit": "black-2", "discard": "yellow"},
        {"do": "keep", "unit": "yellow", "discard": "black-2"},
    ]
    state = table.act(state, "keep", unit="yellow", discard="black-2")
    view = GAME.view(state, 0)
    assert view["kept"] == ["white", "black-1", "yellow"]
    assert view["offered"] == ["black-2", "red", "blue"]
    assert view["dice"] == {"white": [1, 2], "black-1": 1, "black-2": 2, "red": 6, "yellow": 4, "blue": 1}
    state = table.state(hand=["white", "red"], kept=["black-1", "yellow"], offered=["black-2", "blue"])
    assert table.legal(state) == [{"do": "keep", "unit": "white", "discard": "red"}]
    first = table.legal(table.state())
    assert len(first) == 25
    assert all(action["discard"] != "white" for action in first)
    four = table.legal(
        table.state(hand=["white", "red", "yellow", "blue"], kept=["black-1"], offered=["black-2"])
    )
    assert len(four) == 9
    assert sum(action["unit"] == "white" for action in four) == 3


def test_t1_a_reroll_rolls_all_dice_in_hand(table: Any) -> None:
    """Any number of rerolls may be spent before choosing; each rolls every die in hand."""
    state = table.state(
        table.sheet(rerolls=2),
        table.sheet(),
        hand=["white", "red", "yellow", "blue"],
        kept=["black-1"],
        offered=["black-2"],
    )
    state = table.act(state, "reroll")
    assert GAME.chance(state) == (6,) * 5
    state = table.act(table.roll(state, 6, 6, 6, 6, 6), "reroll")
    state = table.roll(state, 2, 2, 2, 2, 2)
    assert "reroll" not in table.kinds(state)
    assert GAME.view(state, 0)["dice"] == {
        "white": [2, 2], "black-1": 3, "black-2": 4, "red": 2, "yellow": 2, "blue": 2,
    }  # fmt: skip


def test_t2_units_are_marked_in_any_order(table: Any) -> None:
    """Each once; white names a box either way round; yellow any unmarked cell of its value."""
    state = table.marking(kept=["white", "red", "blue"])
    assert table.kinds(state) == ["line", "red", "blue"]
    state = table.act(state, "blue", value=1, box=None, unit="blue")
    assert table.kinds(state) == ["line", "red"]
    state = table.act(state, "line", edge=1)
    assert table.kinds(state) == ["red"]
    state = table.marking(kept=["white"], dice={"white": [1, 2]})
    assert [action["edge"] for action in table.legal(state)] == box_edges(1, 6)
    state = table.marking(kept=["white"], dice={"white": [3, 3]})
    assert [action["edge"] for action in table.legal(state)] == box_edges(14)
    state = table.marking(table.sheet(edges=[2, 44]), table.sheet(), kept=["white"], dice={"white": [2, 1]})
    assert [action["edge"] for action in table.legal(state)] == sorted({*box_edges(1, 6)} - {44})
    state = table.marking(table.sheet(yellow=[5]), table.sheet(), kept=["yellow"], dice={"yellow": 6})
    assert [action["cell"] for action in table.legal(state)] == [8, 15]


@pytest.mark.parametrize("round_", range(1, 8))
def test_t2_black_is_wild_by_round(table: Any, round_: int) -> None:
    """Rounds 1-2 yellow; 3-4 yellow or red; 5-7 yellow, red or blue."""
    state = table.marking(kept=["black-1"], round=round_)
    expected = ["yellow", "red", "blue"][: 1 if round_ < 3 else 2 if round_ < 5 else 3]
    assert table.kinds(state) == expected
    assert {action["unit"] for action in table.legal(state)} == {"black-1"}


def test_t2_units_without_use_are_lost(table: Any) -> None:
    """There is no pass while marking; what has no use any more, also after a free line, leaves without an action."""
    assert "pass" not in table.kinds(table.marking(table.sheet(free_lines=1), table.sheet(), kept=["red"]))
    full = [cell for cell, value in enumerate(YELLOW_VALUES) if value == 5]
    state = table.marking(
        table.sheet(yellow=full), table.sheet(), kept=["black-1", "red"], dice={"black-1": 5}, round=3
    )
    after, told = table.told(state, "red", value=5, box=24, unit="red")
    assert told[1] == {"event": "lost", "seat": 0, "units": ["black-1"]}
    assert GAME.ask(after, 1) == "take"
    state = table.state(
        table.sheet(red=[5], blue=[1]),
        table.sheet(),
        hand=["white", "yellow"],
        kept=["red", "blue"],
        offered=["black-1", "black-2"],
    )
    after, told = table.told(state, "keep", unit="white", discard="yellow")
    assert told[-1] == {"event": "lost", "seat": 0, "units": ["red"]}
    assert GAME.view(after, 0)["kept"] == ["white", "blue"]
    edges = [edge for edge in box_edges(14) if edge != 14]
    state = table.marking(
        table.sheet(edges=edges, free_lines=1), table.sheet(), kept=["white"], dice={"white": [3, 3]}
    )
    after, told = table.told(state, "free-line", edge=14)
    assert [event["event"] for event in told] == ["line", "lost"]
    assert (after.phase, after.actor) == ("take", 1)


def test_t3_others_take_from_the_left_and_a_taken_die_is_gone(table: Any) -> None:
    """Unless discards are shared; a die without a use for the seat is not offered to it, and it can always pass."""
    state = table.state(
        *[table.sheet() for _ in range(4)], phase="take", turn=2, actor=3, offered=["red", "yellow", "blue"]
    )
    assert table.legal(state) == [
        {"do": "take", "unit": "red"},
        {"do": "take", "unit": "yellow"},
        {"do": "take", "unit": "blue"},
        {"do": "pass"},
    ]
    state = table.act(state, "take", unit="red")
    assert (state.phase, state.actor) == ("use", 3)
    assert table.kinds(state) == ["red"]
    state = table.act(state, "red", value=5, box=4, unit="red")
    assert (state.phase, state.actor) == ("take", 0)
    assert {action.get("unit") for action in table.legal(state)} == {"yellow", "blue", None}
    state = table.act(state, "pass")
    assert state.actor == 1
    state = table.act(table.act(state, "take", unit="blue"), "blue", value=1, box=None, unit="blue")
    assert (state.phase, state.seat, state.actor) == ("roll", 3, CHANCE)
    view = GAME.view(state, 3)
    assert (view["dice"], len(view["hand"]), view["kept"], view["offered"]) == ({}, 6, [], [])
    state = table.state(
        *[table.sheet() for _ in range(3)], phase="take", actor=1, offered=["red"], shared_discards=True
    )
    state = table.act(table.act(state, "take", unit="red"), "red", value=5, box=4, unit="red")
    assert state.actor == 2
    assert {"do": "take", "unit": "red"} in table.legal(state)
    state = table.state(table.sheet(), table.sheet(red=[5]), phase="take", actor=1, offered=["red"])
    assert table.legal(state) == [{"do": "pass"}]
    state = table.state(*[table.sheet() for _ in range(4)], phase="take", actor=1, offered=["red"])
    state = table.act(table.act(state, "take", unit="red"), "red", value=5, box=4, unit="red")
    assert (state.phase, state.seat) == ("roll", 1)


@pytest.mark.parametrize(
    ("round_", "kinds"), [(2, ["yellow"]), (4, ["yellow", "red"]), (5, ["yellow", "red", "blue"])]
)
def test_t3_a_taken_black_die_follows_the_active_players_round(
    table: Any, round_: int, kinds: list[str]
) -> None:
    """Black is wild by the round of the turn in which it was discarded."""
    state = table.state(phase="take", actor=1, offered=["black-2"], round=round_)
    assert table.kinds(table.act(state, "take", unit="black-2")) == kinds


def test_t4_solo_the_discarded_dice_are_rolled_again(table: Any) -> None:
    """Rerolls may be spent, one die may be used; with more players rerolls do not change the discards of others."""
    state = table.marking(table.sheet(rerolls=1), kept=["white"])
    state = table.act(state, "line", edge=1)
    assert GAME.actors(state) == (CHANCE,)
    assert GAME.chance(state) == (6, 6, 6)
    state = table.roll(state, 6, 6, 6)
    assert GAME.view(state, 0)["dice"] == {
        "white": [1, 2], "black-1": 6, "black-2": 6, "red": 6, "yellow": 6, "blue": 1,
    }  # fmt: skip
    assert table.kinds(state) == ["take", "reroll", "pass"]
    state = table.roll(table.act(state, "reroll"), 1, 2, 3)
    state = table.act(table.act(state, "take", unit="red"), "red", value=3, box=2, unit="red")
    assert (state.phase, state.round, state.actor) == ("roll", 2, CHANCE)
    again = {"phase": "take", "offered": ["red", "yellow", "blue"]}
    state = table.act(table.state(table.sheet(), **again), "pass")
    assert (state.phase, state.round, state.actor) == ("roll", 2, CHANCE)
    last = table.state(table.sheet(free_lines=1), **again, round=7)
    state = table.act(table.act(last, "take", unit="blue"), "blue", value=1, box=None, unit="blue")
    assert (state.phase, state.actor) == ("lines", 0)
    assert GAME.actors(table.act(table.act(state, "free-line", edge=3), "pass")) == ()
    state = table.state(table.sheet(), table.sheet(rerolls=3), phase="take", actor=1, offered=["red"])
    assert "reroll" not in table.kinds(state)


@pytest.mark.parametrize("phase", ["keep", "mark", "take", "use", "lines"])
def test_t5_free_lines_at_every_own_decision(table: Any, phase: str) -> None:
    """Every missing edge is on offer as a free line, whatever the seat is asked."""
    all_changes: dict[str, dict[str, Any]] = {
        "keep": {},
        "mark": {"kept": ["red"], "offered": ["black-1", "black-2", "blue"]},
        "take": {"actor": 1, "offered": ["red"]},
        "use": {"actor": 1, "taken": "red"},
        "lines": {"actor": 1, "round": 7},
    }
    sheets = [table.sheet(edges=[0, 83], free_lines=2) for _ in range(2)]
    state = table.state(*sheets, phase=phase, **all_changes[phase])
    free = [action["edge"] for action in table.legal(state) if action["do"] == "free-line"]
    assert free == list(range(1, 83))
    after = table.act(state, "free-line", edge=40)
    assert (after.phase, after.actor) == (state.phase, state.actor)
    assert after.sheets[state.actor].free_lines == 1
    assert after.dice == state.dice


def test_t5_the_last_lines_go_by_seat_until_pass(table: Any) -> None:
    """Seats with free lines and a missing edge are asked in order; each ends with a pass."""
    full = list(range(84))
    state = table.state(
        table.sheet(free_lines=1),
        table.sheet(),
        table.sheet(free_lines=1, edges=full),
        table.sheet(free_lines=2),
        phase="take",
        turn=3,
        actor=2,
        offered=["red"],
        round=7,
    )
    state = table.act(state, "pass")
    assert (state.phase, state.actor) == ("lines", 0)
    state = table.act(state, "free-line", edge=5)
    assert table.legal(state) == [{"do": "pass"}]
    state = table.act(state, "pass")
    assert (state.phase, state.actor) == ("lines", 3)
    state = table.act(state, "pass")
    assert GAME.actors(state) == ()
    assert state.sheets[3].free_lines == 2


# The end.


def test_e1_the_game_ends_after_seven_rounds(matches: Any, table: Any) -> None:
    """Seven turns of each seat, and the offer after the last seat's marking; only then all is over."""
    for playout in matches(1):
        players = len(playout.states[0].sheets)
        turns = {(state.round, state.seat) for state in playout.states if state.phase == "keep"}
        assert turns == {(round_, seat) for round_ in range(1, 8) for seat in range(players)}
    state = table.state(
        phase="mark", turn=1, actor=1, kept=["red"], offered=["black-1", "yellow", "blue"], round=7
    )
    state = table.act(state, "red", value=5, box=4, unit="red")
    assert (state.phase, state.actor) == ("take", 0)
    state = table.act(table.act(state, "take", unit="yellow"), "yellow", cell=8, unit="yellow")
    assert GAME.actors(state) == ()
    assert GAME.view(state, 0)["sheets"][0]["yellow"] == [8]


def test_e1_the_scoring_example_of_the_source(table: Any) -> None:
    """7 boxes, 4 with a wormhole, 3 connections: 24; pairs count in empty boxes, not past the end of a row."""
    holes = [0, 1, 2, 8]  # 0-1, 1-2, 2-8
    sheet = table.sheet(
        edges=box_edges(*holes, 14, 15, 16, 17, 23, 29, 35), wormholes=holes, blue=[-1, -2, -3, -4]
    )
    state = table.state(sheet, phase="over", actor=None, round=7)
    outcome = GAME.outcome(state)
    assert outcome.breakdown == {"boxes": (7,), "boxes with wormhole": (8,), "connections": (9,)}
    assert outcome.scores == (24,)
    assert outcome.ranks == (1,)
    assert outcome.why == "completed"
    sheet = table.sheet(wormholes=[5, 6, 11, 12], blue=[-1, -2, -3, -4])
    view = GAME.view(table.state(sheet, table.sheet()), 0)["sheets"][0]
    assert view["connections"] == 2  # 5-11 and 6-12
    assert view["points"] == 6
    square = table.sheet(wormholes=[14, 15, 20, 21], blue=[-3, -3, -4, -4])
    view = GAME.view(table.state(square, table.sheet()), 0)["sheets"][0]
    assert (view["connections"], view["points"]) == (4, 12)


def test_e2_a_tie_goes_to_more_connections_else_is_shared(table: Any) -> None:
    """3 points by a connection beat 3 points by boxes; equal in both is a shared rank."""
    boxes = table.sheet(edges=box_edges(0, 2, 4))
    linked = table.sheet(wormholes=[0, 1], blue=[-1, -2])
    state = table.state(boxes, linked, boxes, phase="over", actor=None, round=7)
    assert GAME.outcome(state).scores == (3, 3, 3)
    assert GAME.outcome(state).ranks == (2, 1, 2)
    state = table.state(linked, boxes, table.sheet(), linked, phase="over", actor=None, round=7)
    assert GAME.outcome(state).ranks == (1, 3, 4, 1)


# Retirement.


def test_retired_before_its_turn_a_seat_is_left_out(table: Any) -> None:
    """A retired seat neither rolls nor is asked for discards."""
    state, events = GAME.retire(GAME.initial(3, GAME.Options()), 1)
    assert [event.data for event in events] == [{"event": "retired", "seat": 1}]
    rng = Random(1)
    while actors := GAME.actors(state):
        assert actors != (1,)
        assert (state.phase, state.seat) != ("roll", 1)
        move: Any = (
            tuple(rng.randrange(n) for n in GAME.chance(state))
            if actors == (CHANCE,)
            else rng.choice(GAME.legal(state, actors[0]))
        )
        state, _ = GAME.apply(state, move)
    assert GAME.outcome(state).ranks[1] == 3
    assert GAME.outcome(state).why == "completed"


def test_retired_in_its_own_turn_its_discards_are_still_offered(table: Any) -> None:
    """Unmarked dice are lost; without discards, at the first roll, the next turn comes at once."""
    state = table.state(hand=["white", "red", "yellow", "blue"], kept=["black-1"], offered=["black-2"])
    after, _ = GAME.retire(state, 0)
    assert (after.phase, after.actor) == ("take", 1)
    assert GAME.view(after, 1)["offered"] == ["black-2"]
    assert after.sheets[0].yellow == 0
    after, _ = GAME.retire(GAME.initial(2, GAME.Options()), 0)
    assert (after.phase, after.seat) == ("roll", 1)


def test_retired_out_of_turn_the_offer_goes_on(table: Any) -> None:
    """A taken die stays gone, decisions of others stand, seats that were asked are not asked again."""
    state = table.state(
        *[table.sheet() for _ in range(3)], phase="use", actor=1, taken="red", offered=["blue", "yellow"]
    )
    after, _ = GAME.retire(state, 1)
    assert (after.phase, after.actor) == ("take", 2)
    assert GAME.view(after, 2)["offered"] == ["yellow", "blue"]
    state = table.state()
    after, _ = GAME.retire(state, 1)
    assert table.legal(after) == table.legal(state)
    state = table.state(
        *[table.sheet() for _ in range(4)], phase="take", actor=2, offered=["blue", "yellow"], round=3
    )
    after, told = GAME.retire(state, 0)
    assert [event.data["event"] for event in told] == ["retired"]
    assert (after.phase, after.actor) == ("take", 2)
    after = table.act(table.act(after, "pass"), "pass")
    assert (after.phase, after.seat) == ("roll", 1)


def test_retired_solo_the_game_ends(table: Any) -> None:
    """So does the last seat's retirement; in the last lines a retired seat is passed over."""
    state, _ = GAME.retire(GAME.initial(1, GAME.Options()), 0)
    assert GAME.actors(state) == ()
    assert GAME.outcome(state).why == "retired"
    both, _ = GAME.retire(GAME.retire(GAME.initial(2, GAME.Options()), 1)[0], 0)
    assert GAME.actors(both) == ()
    assert GAME.outcome(both).ranks == (1, 2)  # the later retired above the earlier
    sheets = [table.sheet(free_lines=1) for _ in range(3)]
    state = table.state(*sheets, phase="lines", actor=0, round=7)
    after, _ = GAME.retire(GAME.retire(state, 1)[0], 0)
    assert (after.phase, after.actor) == ("lines", 2)


# Chance.


def test_c1_a_six_for_each_die_in_hand(table: Any) -> None:
    """Seven dice in the order white, white, black-1, black-2, red, yellow, blue; outcome k is k + 1."""
    state = GAME.initial(2, GAME.Options())
    assert GAME.chance(state) == (6,) * 7
    state, events = GAME.apply(state, (0, 1, 2, 3, 4, 5, 0))
    assert events[0].data["dice"] == {
        "white": [1, 2], "black-1": 3, "black-2": 4, "red": 5, "yellow": 6, "blue": 1,
    }  # fmt: skip
    state = table.act(state, "keep", unit="white", discard="black-1")
    assert GAME.chance(state) == (6,) * 4
    state, events = GAME.apply(state, (5, 4, 3, 2))
    assert events[0].data["dice"] == {"black-2": 6, "red": 5, "yellow": 4, "blue": 3}


def test_c2_an_address_names_seat_round_and_roll(table: Any) -> None:
    """Rolls are counted by what was kept, so a reroll repeats the address; so has the roll of what was discarded."""
    state = table.state(table.sheet(rerolls=1), table.sheet(), round=4)
    again = table.act(state, "reroll")
    assert GAME.address(again) == "seat 0 round 4 roll 1"
    second = table.act(table.roll(again, *range(1, 7), 1), "keep", unit="white", discard="black-1")
    assert GAME.address(second) == "seat 0 round 4 roll 2"
    third = table.act(table.roll(second, 1, 2, 3, 4), "keep", unit="red", discard="black-2")
    assert GAME.address(third) == "seat 0 round 4 roll 3"
    other = table.act(table.roll(again, *range(1, 7), 1), "keep", unit="red", discard="blue")
    assert GAME.address(other) == "seat 0 round 4 roll 2"
    solo = GAME.initial(1, GAME.Options())
    found = []
    rng = Random(1)
    while GAME.actors(solo):
        if GAME.actors(solo) == (CHANCE,):
            found.append(GAME.address(solo))
        solo = GAME.apply(solo, random_move(GAME, solo, rng))[0]
    assert "seat 0 round 1 discarded" in found
    assert {address.split()[3] for address in found} == set("1234567")
