"""Every rule of aliens, by its number."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from warpleague.games.aliens import GAME
from warpleague.games.aliens.state import Options
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_playout

MAP = """
####......
####......
..####....
..####....
..######..
..######..
....######
....######
..######..
..######..
######....
######....
..######..
..######..
....####..
....####..
......####
......####
"""


def setup() -> dict[str, Any]:
    return GAME.setup(GAME.initial(2, Options()))


def placed(seed: int = 0, options: Options | None = None) -> Any:
    """The states of a random match, and the index of the first turn's roll."""
    playout = random_playout(GAME, 2, options or Options(), random.Random(seed), keep=True)
    states = playout.states
    start = next(i for i, state in enumerate(states) if GAME.to_json(state)["phase"] == "roll")
    return playout, start


# -- the board -------------------------------------------------------------------------------------------


def test_b1_the_galaxy_is_a_spiral_of_92_squares() -> None:
    """The squares are those of the map, point-symmetric under (11-x, 19-y), numbered by y, then x."""
    squares = [tuple(square) for square in setup()["squares"]]
    drawn = [
        (x + 1, 18 - row) for row, line in enumerate(MAP.split()) for x, c in enumerate(line) if c == "#"
    ]
    assert len(squares) == 92
    assert set(squares) == set(drawn)
    assert {(11 - x, 19 - y) for x, y in squares} == set(squares)
    assert squares == sorted(squares, key=lambda square: (square[1], square[0]))


def test_b2_b4_ships_start_on_the_bases_of_their_side() -> None:
    """Two bases at its end of the galaxy, a start of its own for each ship, and (B4) twelve coins, null to 5."""
    state = GAME.initial(2, Options())
    assert GAME.to_json(state)["ships"] == {
        "suns": [10, 1],
        "moons": [10, 2],
        "crowns": [1, 17],
        "arms": [1, 18],
    }
    assert setup()["bases"] == [[[10, 1], [10, 2]], [[1, 17], [1, 18]]]
    assert setup()["ships"] == {"suns": 0, "moons": 0, "crowns": 1, "arms": 1}
    view = GAME.view(GAME.initial(2, Options()), 1)
    assert view["hand"] == {"crowns": [0, 1, 2, 3, 4, 5], "arms": [0, 1, 2, 3, 4, 5]}


def test_b3_each_suit_has_its_axis() -> None:
    """Suns lead N/S, Moons E/W, and the option exchanges the diagonals of Crowns and Arms."""
    swapped = GAME.setup(GAME.initial(2, Options(diagonals="swapped")))
    assert setup()["axes"] == {
        "suns": ["N", "S"],
        "moons": ["E", "W"],
        "crowns": ["NE", "SW"],
        "arms": ["SE", "NW"],
    }
    assert swapped["axes"]["crowns"] == ["SE", "NW"]
    assert swapped["axes"]["arms"] == ["NE", "SW"]
    assert list(setup()["ways"]) == ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
    assert setup()["ways"]["NE"] == [1, 1]


# -- the set-up ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "placer", "suit"), [("place", 1, "arms"), ("move", 0, "suns")])
def test_p1_the_higher_roll_chooses(position: Callable[..., Any], first: str, placer: int, suit: str) -> None:
    """Ties roll again; the higher sum chooses to place or to move first, and the other does the other."""
    table = position("opening-roll", None, turn=0)
    assert GAME.chance(table.state) == (6, 6, 6, 6)
    before = table.state
    table.roll(3, 2, 0, 5)
    assert table.state == before
    assert position("opening-roll", None, turn=0).roll(2, 2, 3, 0).actor == 0
    table.roll(0, 0, 1, 0)
    assert table.actor == 1
    assert table.legal() == [{"do": "order", "first": "place"}, {"do": "order", "first": "move"}]
    assert table.act("order", first=first).actor == placer
    assert table.json()["turn"] == table.act("place", suit=suit, value=0, at=[5, 5]).json()["turn"] == 0
    while table.json()["phase"] == "place":
        table.step(GAME.legal(table.state, table.actor)[0])
    assert table.json()["to_move"] == 1 - placer
    assert table.json()["turn"] == 0


def test_p2_coins_are_placed_in_turn_on_free_squares(position: Callable[..., Any]) -> None:
    """Twelve coins on 88 squares, listed without writing them out; each is placed once, by its owner, alternately."""
    table = position("place", 0, turn=0, holes=[("suns", 3, 5, 5), ("arms", 0, 5, 6)])
    legal = table.legal()
    assert len(legal) == 11 * (92 - 4 - 2)
    assert legal[0] == {"do": "place", "suit": "suns", "value": 0, "at": [7, 1]}
    assert {"do": "place", "suit": "suns", "value": 3, "at": [7, 1]} not in legal
    assert not any(action["at"] in ([5, 5], [5, 6], [10, 1], [1, 17]) for action in legal)
    assert table.act("place", suit="moons", value=0, at=[3, 5]).actor == 1
    assert len(GAME.legal(GAME.initial(2, Options()), 0)) == 0
    legal = GAME.legal(position("place", 1, turn=0).state, 1)
    assert len(legal) == 1056
    assert GAME.action_json(legal[-1]) == {"do": "place", "suit": "arms", "value": 5, "at": [4, 18]}
    assert legal[1055] is legal[-1]
    assert [*legal[3:5]] == [legal[3], legal[4]]
    with pytest.raises(IndexError):
        legal[1056]


def test_p2_the_value_is_told_to_the_placer_only(position: Callable[..., Any]) -> None:
    """The other side learns suit and square; the placer keeps its value in view for the whole game."""
    table = position("place", 0, turn=0)
    action = GAME.parse(table.state, 0, {"do": "place", "suit": "suns", "value": 4, "at": [5, 5]})
    state, (event,) = GAME.apply(table.state, action)
    assert event.seen_by(0) == {"event": "place", "seat": 0, "suit": "suns", "at": [5, 5], "value": 4}
    assert event.seen_by(1) == {"event": "place", "seat": 0, "suit": "suns", "at": [5, 5]}
    assert GAME.view(state, 0)["wormholes"][0]["value"] == 4
    assert GAME.view(state, 1)["wormholes"][0]["value"] is None
    assert GAME.view(state, 0)["hand"]["suns"] == [0, 1, 2, 3, 5]
    playout, _ = placed()
    kept = [
        hole for hole in GAME.view(playout.states[-2], 0)["wormholes"] if hole["suit"] in ("suns", "moons")
    ]
    assert sorted(hole["value"] for hole in kept) == sorted([*range(6)] * 2)


# -- a turn ----------------------------------------------------------------------------------------------


def test_t1_a_ship_moves_exactly_its_die_in_a_straight_line_on_the_board(
    position: Callable[..., Any],
) -> None:
    """Only ways whose every square is on the board are legal: from (8,6) with a 3, (7,7) and (8,7) bar NW and N."""
    table = position(dice={"suns": 3}, ships={"suns": [5, 5]})
    assert table.ways("move", ship="suns") == ["N", "E", "SE", "NW"]
    table.act("move", ship="suns", way="N")
    assert table.at("suns") == [5, 8]
    squares = setup()["squares"]
    assert [5, 9] in squares
    assert [8, 9] in squares
    assert [7, 7] not in squares
    assert [8, 7] not in squares
    table = position(dice={"suns": 3}, ships={"suns": [8, 6]})
    assert table.ways("move") == ["S", "SW", "W"]


def test_t1_a_ship_passes_over_anything_and_never_ends_on_an_own_ship(position: Callable[..., Any]) -> None:
    """A move activates nothing on its way; the way onto an enemy is legal, the way to the sister is not."""
    ships = {"suns": [5, 5], "moons": [5, 6], "crowns": [5, 7]}
    table = position(dice={"suns": 3}, ships=ships, holes=[("suns", 2, 5, 6), ("arms", 0, 5, 7)])
    table.act("move", ship="suns", way="N")
    assert table.at("suns") == [5, 8]
    assert not table.told("activate")
    ships = {"suns": [5, 5], "moons": [5, 8], "crowns": [8, 5]}
    table = position(dice={"suns": 3}, ships=ships)
    assert table.ways("move") == ["E", "SE", "NW"]


def test_t1_t9_dice_are_used_in_any_order(position: Callable[..., Any]) -> None:
    """After one, the other is left, then the turn passes (T9), and the count of turns goes up by one."""
    table = position(dice={"suns": 1, "moons": 0})
    assert table.legal()[-1] == {"do": "stay", "ship": "moons"}
    assert {action["ship"] for action in table.legal()} == {"suns", "moons"}
    table.act("stay", ship="moons")
    assert {action["ship"] for action in table.legal()} == {"suns"}
    table.act("move", ship="suns", way="W")
    assert table.actor == CHANCE
    assert table.json()["to_move"] == 1
    table = position(dice={"suns": 0, "moons": 0}).act("stay", ship="suns").act("stay", ship="moons")
    assert table.actor == CHANCE
    assert (table.json()["to_move"], table.json()["turn"]) == (1, 11)


def test_t1_a_ship_that_cannot_move_is_not_asked(position: Callable[..., Any]) -> None:
    """The turn ends by itself; what the sister does first may make a die usable or unusable."""
    table = position("roll", 1, ships={"arms": [4, 14]})
    table.roll(5, 5)
    assert table.actor == CHANCE
    assert table.json()["to_move"] == 0
    assert table.json()["turn"] == 11
    assert position("roll", 1, ships={"arms": [4, 14]}).roll(5, 4).ways("move", ship="crowns") == []
    # Moons at (10,2) with a 3 can go W, SW is off, NW to (7,5) passes (9,3), which is off.
    blocked = {"suns": [7, 2], "moons": [10, 2]}
    table = position(dice={"suns": 1, "moons": 3}, ships=blocked)
    assert table.ways("move", ship="moons") == []
    table.act("move", ship="suns", way="N")
    assert table.ways("move", ship="moons") == ["W"]
    table = position(dice={"suns": 1, "moons": 3}, ships={"suns": [7, 1], "moons": [10, 2]})
    assert table.ways("move", ship="moons") == ["W"]
    table.act("move", ship="suns", way="N")
    assert table.actor == CHANCE


def test_t2_a_null_keeps_the_ship_where_it_is(position: Callable[..., Any]) -> None:
    """Stay activates the wormhole under the ship; another die that cannot be used leaves that alone."""
    table = position(dice={"suns": 0}, ships={"suns": [5, 5]}, holes=[("moons", 2, 5, 5)])
    assert table.legal() == [{"do": "stay", "ship": "suns"}]
    table.act("stay", ship="suns")
    assert table.told("activate")
    assert table.ways("jump") == ["E", "W"]
    assert table.json()["pending"] == {"ship": "suns", "sends": 0, "then": None}
    table = position(dice={"suns": 0}, ships={"suns": [5, 5]}).act("stay", ship="suns")
    assert not table.told("activate")
    assert table.json()["to_move"] == 1
    table = position("roll", 1, ships={"arms": [4, 14]}, holes=[("suns", 2, 4, 14)])
    table.roll(5, 5)
    assert table.json()["to_move"] == 0
    assert not table.told("activate")
    assert GAME.view(table.state, 1)["wormholes"][0]["value"] is None


def test_t3_landing_on_a_wormhole_makes_its_value_public(position: Callable[..., Any]) -> None:
    """The coin is flipped, both sides see it, and the event says that it was news to the mover."""
    table = position(dice={"suns": 2}, ships={"suns": [5, 5]}, holes=[("arms", 1, 5, 7)])
    move = GAME.parse(table.state, 0, {"do": "move", "ship": "suns", "way": "N"})
    state, events = GAME.apply(table.state, move)
    assert [event.data["event"] for event in events] == ["move", "activate"]
    assert events[1].reveals
    assert events[1].seats is None
    assert GAME.view(state, 0)["wormholes"] == [
        {"at": [5, 7], "suit": "arms", "value": 1, "public": True, "up": "value"}
    ]
    own = position(dice={"suns": 2}, ships={"suns": [5, 5]}, holes=[("suns", 1, 5, 7)])
    assert not any(event.reveals for event in GAME.apply(own.state, move)[1])


def test_t3_a_null_is_a_black_hole(position: Callable[..., Any]) -> None:
    """The ship loses its next turn: it has no die then, its sister has."""
    table = position(dice={"suns": 2}, ships={"suns": [5, 5]}, holes=[("arms", 0, 5, 7)])
    table.act("move", ship="suns", way="N")
    assert table.json()["lost"] == ["suns"]
    table.roll(0, 0).act("stay", ship="crowns").act("stay", ship="arms")
    assert GAME.chance(table.state) == (6,)
    table.roll(3)
    assert table.json()["dice"] == {"moons": 3}
    assert table.json()["lost"] == []
    assert table.told("roll")[-1] == {"event": "roll", "seat": 0, "dice": {"moons": 3}, "loses": ["suns"]}


@pytest.mark.parametrize("suit", ["suns", "moons", "crowns", "arms"])
def test_t3_the_null_of_every_suit_is_a_black_hole(position: Callable[..., Any], suit: str) -> None:
    """By a die (T3), by a null (T2), after an enemy there was sent (T7), and for a ship that is sent there (T6)."""
    hole = [(suit, 0, 5, 7)]
    table = position(dice={"suns": 2}, ships={"suns": [5, 5]}, holes=hole).act("move", ship="suns", way="N")
    assert table.json()["lost"] == ["suns"]
    table = position(dice={"suns": 0}, ships={"suns": [5, 7]}, holes=hole).act("stay", ship="suns")
    assert table.json()["lost"] == ["suns"]
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    table = position(dice={"suns": 2}, ships=ships, holes=hole)
    table.act("move", ship="suns", way="N").act("send", to=[3, 5])
    assert table.json()["lost"] == ["suns"]
    table = position(dice={"suns": 1}, ships={"suns": [5, 5], "crowns": [5, 6]}, holes=hole)
    table.act("move", ship="suns", way="N").act("send", to=[5, 7])
    assert table.json()["lost"] == ["crowns"]


def test_t3_a_lost_turn_is_one_turn_and_stays_wherever_the_ship_goes(position: Callable[..., Any]) -> None:
    """Lost twice it does not count up; a side without a ship skips its turn, which counts; a send changes nothing."""
    table = position(dice={"suns": 0}, ships={"suns": [5, 5]}, holes=[("arms", 0, 5, 5)], lost=["suns"])
    table.act("stay", ship="suns")
    assert table.json()["lost"] == ["suns"]
    table = position(dice={"suns": 0}, lost=["crowns", "arms"])
    table.act("stay", ship="suns")
    assert table.told("skip") == [{"event": "skip", "seat": 1}]
    assert table.json()["to_move"] == 0
    assert table.json()["turn"] == 12
    assert table.json()["lost"] == []
    table = position(
        dice={"suns": 2}, ships={"suns": [5, 5], "crowns": [5, 7]}, holes=[("arms", 0, 5, 7)], lost=["crowns"]
    )
    table.act("move", ship="suns", way="N").act("send", to=[3, 5])
    assert "crowns" in table.json()["lost"]


def test_t3_a_ship_sent_into_a_black_hole_in_its_own_turn_still_uses_its_die(
    position: Callable[..., Any],
) -> None:
    """Moons, sent by an enemy that was itself sent and jumped onto it, keeps its die and loses the next turn."""
    table = position(
        dice={"suns": 2, "moons": 1},
        ships={"suns": [5, 5], "crowns": [5, 7], "moons": [8, 9]},
        holes=[("arms", 0, 6, 8), ("moons", 2, 6, 9)],
    )
    table.act("move", ship="suns", way="N").act("send", to=[6, 9])
    assert table.actor == 1
    table.act("jump", way="E")
    assert table.actor == 1
    table.act("send", to=[6, 8])
    assert table.json()["lost"] == ["moons"]
    assert table.json()["dice"] == {"moons": 1}
    assert table.at("moons") == [6, 8]


def test_t3_the_jump_is_exact_and_its_way_is_chosen(position: Callable[..., Any]) -> None:
    """Along the axis, as far as the value; one legal way is the only action; with none the coin is flipped, too."""
    table = position(dice={"suns": 1}, ships={"suns": [5, 5]}, holes=[("moons", 2, 5, 6)])
    table.act("move", ship="suns", way="N")
    assert table.legal() == [{"do": "jump", "way": "E"}, {"do": "jump", "way": "W"}]
    assert table.json()["pending"] == {"ship": "suns", "sends": 0, "then": None}
    table.act("jump", way="W")
    assert table.at("suns") == [3, 6]
    one = position(dice={"suns": 1}, ships={"suns": [5, 5]}, holes=[("moons", 3, 5, 6)])
    one.act("move", ship="suns", way="N")
    assert one.legal() == [{"do": "jump", "way": "E"}]
    table = position(dice={"suns": 1}, ships={"suns": [5, 5]}, holes=[("moons", 5, 5, 6)])
    table.act("move", ship="suns", way="N")
    assert table.told("activate")[0]["effect"] == "none"
    assert table.json()["to_move"] == 1
    assert table.json()["wormholes"][0]["up"] == "value"


def test_t3_a_jump_never_ends_on_an_own_ship_nor_crosses_squares_off_the_board(
    position: Callable[..., Any],
) -> None:
    """Ruling, as for moves: three N of (8,6) lies (8,9) on the board, but (8,7) does not; and the other way round."""
    ships = {"suns": [5, 5], "moons": [7, 6]}
    table = position(dice={"suns": 1}, ships=ships, holes=[("moons", 2, 5, 6)]).act(
        "move", ship="suns", way="N"
    )
    assert table.ways("jump") == ["W"]
    ships = {"suns": [5, 5], "moons": [8, 6]}
    table = position(dice={"suns": 1}, ships=ships, holes=[("moons", 3, 5, 6)]).act(
        "move", ship="suns", way="N"
    )
    assert table.json()["to_move"] == 1
    table = position(dice={"suns": 1}, ships={"suns": [8, 5]}, holes=[("suns", 3, 8, 6)])
    table.act("move", ship="suns", way="N")
    assert table.ways("jump") == ["S"]
    table = position(dice={"suns": 1}, ships={"suns": [8, 10]}, holes=[("suns", 3, 8, 9)])
    table.act("move", ship="suns", way="S")
    assert table.ways("jump") == ["N"]


def test_t4_a_jump_onto_a_wormhole_does_not_activate_it(position: Callable[..., Any]) -> None:
    """Only the first one is; Moons, sent and jumped onto another in its own turn, activates that with its null."""
    holes = [("moons", 2, 5, 6), ("moons", 1, 7, 6)]
    table = position(dice={"suns": 1}, ships={"suns": [5, 5]}, holes=holes)
    table.act("move", ship="suns", way="N").act("jump", way="E")
    assert table.at("suns") == [7, 6]
    assert len(table.told("activate")) == 1
    assert table.json()["to_move"] == 1
    table = position(
        dice={"suns": 2, "moons": 0},
        ships={"suns": [5, 5], "crowns": [5, 7], "moons": [8, 9]},
        holes=[("moons", 2, 6, 9), ("suns", 1, 6, 7), ("crowns", 1, 6, 8)],
    )
    table.act("move", ship="suns", way="N").act("send", to=[6, 9]).act("jump", way="E").act("send", to=[6, 7])
    assert table.actor == 0
    table.act("jump", way="N")
    assert table.at("moons") == [6, 8]
    table.act("stay", ship="moons")
    assert table.told("activate")[-1]["suit"] == "crowns"


def test_t4_t5_each_activation_flips_the_coin(position: Callable[..., Any]) -> None:
    """Value side, suit side, and so on; a null after the lost turn activates the black hole again (T5)."""
    table = position(dice={"suns": 0}, ships={"suns": [5, 5]}, holes=[("arms", 0, 5, 5)])
    table.act("stay", ship="suns").roll(0, 0).act("stay", ship="crowns").act("stay", ship="arms")
    assert table.json()["wormholes"][0]["up"] == "value"
    table.roll(0).act("stay", ship="moons").roll(0, 0).act("stay", ship="crowns").act("stay", ship="arms")
    table.roll(0, 0).act("stay", ship="suns")
    assert table.json()["wormholes"] == [
        {"at": [5, 5], "suit": "arms", "value": 0, "public": True, "up": "suit"}
    ]
    table = position("roll", 0, ships={"suns": [5, 5]}, holes=[("arms", 0, 5, 5)], lost=["suns"])
    table.roll(0).act("stay", ship="moons").roll(0, 0).act("stay", ship="crowns").act("stay", ship="arms")
    assert table.json()["lost"] == []
    table.roll(0, 1).act("stay", ship="suns")
    assert table.json()["lost"] == ["suns"]


def test_t6_an_enemy_landed_on_is_sent_to_any_square_without_ship(position: Callable[..., Any]) -> None:
    """By die or by jump, also to the square that the mover came from; the mover chooses; a base wins nothing then."""
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    table = position(dice={"suns": 2}, ships=ships, holes=[("suns", 2, 6, 6)])
    table.act("move", ship="suns", way="N")
    assert table.actor == 0
    legal = [action["to"] for action in table.legal()]
    assert len(legal) == 92 - 3
    assert [5, 7] not in legal
    assert all(square in legal for square in ([5, 5], [10, 1], [1, 17], [6, 6]))
    assert legal == sorted(legal, key=lambda square: (square[1], square[0]))
    table.act("send", to=[5, 5])
    assert table.at("crowns") == [5, 5]
    assert table.at("suns") == [5, 7]
    ships = {"suns": [5, 5], "crowns": [7, 6]}
    table = position(dice={"suns": 1}, ships=ships, holes=[("moons", 2, 5, 6)])
    table.act("move", ship="suns", way="N").act("jump", way="E")
    assert GAME.ask(table.state, 0) == "send"
    table.act("send", to=[3, 5])
    assert table.at("crowns") == [3, 5]
    table = position(dice={"suns": 2}, ships={"suns": [5, 5], "crowns": [5, 7]})
    table.act("move", ship="suns", way="N").act("send", to=[10, 1])
    assert table.json()["phase"] == "roll"


def test_t6_a_ship_sent_to_a_wormhole_activates_it(position: Callable[..., Any]) -> None:
    """The sent ship's owner chooses the way, out of turn; then the sender's turn goes on."""
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    table = position(dice={"suns": 2, "moons": 0}, ships=ships, holes=[("suns", 2, 6, 9)])
    table.act("move", ship="suns", way="N").act("send", to=[6, 9])
    assert table.actor == 1
    assert GAME.ask(table.state, 1) == "jump"
    assert table.ways("jump") == ["N", "S"]
    table.act("jump", way="N")
    assert table.actor == 0
    assert table.legal() == [{"do": "stay", "ship": "moons"}]


@pytest.mark.parametrize(("suit", "news"), [("moons", False), ("arms", True)])
def test_t6_a_send_tells_the_sender_only_what_it_did_not_know(
    position: Callable[..., Any], suit: str, news: bool
) -> None:
    """The value of a coin of one's own is no news, that of an enemy's is."""
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    table = position(dice={"suns": 2}, ships=ships, holes=[(suit, 1, 6, 9)]).act("move", ship="suns", way="N")
    _, events = GAME.apply(table.state, GAME.parse(table.state, 0, {"do": "send", "to": [6, 9]}))
    assert [(event.data["event"], event.reveals) for event in events] == [("send", False), ("activate", news)]


def test_t7_an_enemy_in_a_wormhole_is_sent_first_then_the_wormhole_activated(
    position: Callable[..., Any],
) -> None:
    """The sent ship's own wormhole comes first, too; the send that made room is the first that T8 counts."""
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    holes = [("suns", 2, 6, 9), ("moons", 1, 5, 7)]
    table = position(dice={"suns": 2}, ships=ships, holes=holes)
    table.act("move", ship="suns", way="N").act("send", to=[6, 9])
    assert table.json()["pending"] == {"ship": "crowns", "sends": 1, "then": {"ship": "suns", "at": [5, 7]}}
    table.act("jump", way="N")
    assert table.actor == 0
    assert [event["at"] for event in table.told("activate")] == [[6, 9], [5, 7]]
    assert table.ways("jump") == ["E", "W"]
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    table = position(dice={"suns": 2}, ships=ships, holes=[("moons", 1, 5, 7)])
    table.act("move", ship="suns", way="N").act("send", to=[3, 5])
    assert table.json()["pending"] == {"ship": "suns", "sends": 1, "then": None}


def test_t7_the_mover_activates_only_if_it_stands_there(position: Callable[..., Any]) -> None:
    """Sent away by the ship it sent, it does not, unless it jumps back; and who came by jump never does."""
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    holes = [("suns", 1, 5, 8), ("moons", 1, 5, 7)]
    table = position(dice={"suns": 2}, ships=ships, holes=holes)
    table.act("move", ship="suns", way="N").act("send", to=[5, 8]).act("jump", way="S")
    assert table.actor == 1
    table.act("send", to=[3, 5])
    assert [event["at"] for event in table.told("activate")] == [[5, 8]]
    assert table.json()["to_move"] == 1
    assert table.at("crowns") == [5, 7]
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    holes = [("suns", 1, 5, 8), ("moons", 1, 5, 7), ("suns", 2, 5, 9)]
    table = position(dice={"suns": 2}, ships=ships, holes=holes)
    table.act("move", ship="suns", way="N").act("send", to=[5, 8]).act("jump", way="S")
    table.act("send", to=[5, 9])
    assert table.actor == 0
    table.act("jump", way="S").act("send", to=[8, 9])
    assert [event["at"] for event in table.told("activate")] == [[5, 8], [5, 9], [5, 7]]
    ships = {"suns": [5, 5], "crowns": [7, 6]}
    holes = [("moons", 2, 5, 6), ("suns", 1, 7, 6)]
    table = position(dice={"suns": 1}, ships=ships, holes=holes)
    table.act("move", ship="suns", way="N").act("jump", way="E").act("send", to=[3, 5])
    assert [event["at"] for event in table.told("activate")] == [[5, 6]]


def test_t8_a_sent_ship_that_jumps_onto_an_enemy_sends_it(position: Callable[..., Any]) -> None:
    """The sent ship's owner is the sender then."""
    ships = {"suns": [5, 5], "crowns": [5, 7], "moons": [8, 9]}
    table = position(dice={"suns": 2}, ships=ships, holes=[("moons", 2, 6, 9)])
    table.act("move", ship="suns", way="N").act("send", to=[6, 9]).act("jump", way="E")
    assert table.actor == 1
    assert table.json()["pending"] == {"ship": "moons", "sends": 1, "then": None}
    table.act("send", to=[1, 17])
    assert table.at("moons") == [1, 17]
    assert table.json()["phase"] == "roll"


def test_t8_a_cascade_ends(position: Callable[..., Any]) -> None:
    """From the 17th send of one die use on, wormholes may not be chosen; the next die use counts anew."""
    ships = {"suns": [5, 5], "crowns": [5, 7]}
    pending = {"ship": "crowns", "sends": 15, "then": None}
    holes = [("suns", 1, 5, 8), ("moons", 1, 6, 9)]
    table = position("send", ships={**ships, "suns": [5, 7]}, holes=holes, pending=pending)
    assert len(table.legal()) == 89
    table.act("send", to=[5, 8]).act("jump", way="S")
    legal = [action["to"] for action in table.legal()]
    assert len(legal) == 89 - 2
    assert [5, 8] not in legal
    assert [6, 9] not in legal
    ships = {"suns": [5, 7], "moons": [8, 9], "crowns": [5, 7], "arms": [8, 10]}
    pending = {"ship": "crowns", "sends": 16, "then": None}
    table = position("send", dice={"moons": 1}, ships=ships, holes=[("suns", 1, 5, 8)], pending=pending)
    assert {"do": "send", "to": [5, 8]} not in table.legal()
    table.act("send", to=[3, 5]).act("move", ship="moons", way="N")
    assert table.json()["pending"] == {"ship": "arms", "sends": 0, "then": None}
    assert {"do": "send", "to": [5, 8]} in table.legal()


# -- the end ---------------------------------------------------------------------------------------------


def test_e1_landing_on_an_enemy_base_wins_at_once(position: Callable[..., Any]) -> None:
    """By die, before an enemy there is sent; by jump; by a jump after being sent; an own base wins nothing."""
    table = position(dice={"suns": 1, "moons": 2}, ships={"suns": [2, 17]})
    table.act("move", ship="suns", way="W")
    outcome = GAME.outcome(table.state)
    assert (outcome.ranks, outcome.scores, outcome.why) == ((1, 2), (1.0, 0.0), "base")
    assert table.actor is None
    assert not table.told("send")
    ships = {"crowns": [8, 3], "moons": [3, 5]}
    table = position(dice={"crowns": 1}, to_move=1, ships=ships, holes=[("moons", 2, 8, 2)])
    table.act("move", ship="crowns", way="S").act("jump", way="E")
    assert GAME.outcome(table.state).ranks == (2, 1)
    ships = {"suns": [5, 5], "crowns": [5, 7], "moons": [3, 5]}
    table = position(dice={"suns": 2}, ships=ships, holes=[("moons", 1, 9, 2)])
    table.act("move", ship="suns", way="N").act("send", to=[9, 2])
    table.act("jump", way="E")
    assert table.told("end") == [{"event": "end", "winner": 1, "why": "base"}]
    assert GAME.outcome(table.state).ranks == (2, 1)
    table = position(dice={"suns": 1}, ships={"suns": [9, 1], "moons": [5, 5]}).act(
        "move", ship="suns", way="E"
    )
    assert table.json()["phase"] == "roll"


def test_e1_an_enemy_landed_on_is_drawn_under_the_ship_that_landed(position: Callable[..., Any]) -> None:
    """The last piece drawn on a square is the winner on the base, or the ship that sends; of all ships one piece."""
    won = position(dice={"suns": 1}, ships={"suns": [2, 17]}).act("move", ship="suns", way="W")
    sends = position(dice={"suns": 1}, ships={"suns": [5, 5], "arms": [5, 6]}).act(
        "move", ship="suns", way="N"
    )
    for table, under in ((won, "crowns"), (sends, "arms")):
        drawn = [piece.kind for piece in GAME.scene(table.state, None).pieces]
        assert sorted(drawn) == ["arms", "crowns", "moons", "suns"]
        assert drawn.index(under) < drawn.index("suns")


BOTH = {"both_ships": True}


def test_e1_both_ships_must_stand_on_enemy_bases(position: Callable[..., Any]) -> None:
    """The second to land wins before an enemy there is sent; a ship that was sent away no longer counts."""
    ships = {"suns": [2, 17], "moons": [2, 18], "crowns": [5, 5], "arms": [5, 7]}
    table = position(dice={"suns": 1, "moons": 1}, ships=ships, options=BOTH)
    table.act("move", ship="suns", way="W")
    assert table.json()["phase"] == "turn"
    table.act("move", ship="moons", way="W")
    assert table.json()["result"] == {"winner": 0, "why": "base"}
    ships = {"suns": [2, 17], "moons": [2, 18]}
    table = position(dice={"suns": 1, "moons": 1}, ships=ships, options=BOTH)
    table.act("move", ship="suns", way="W").act("send", to=[5, 5])
    table.act("move", ship="moons", way="W")
    assert table.json()["result"] == {"winner": 0, "why": "base"}
    assert table.at("arms") == table.at("moons") == [1, 18]
    ships = {"suns": [1, 17], "moons": [2, 18], "crowns": [1, 18], "arms": [3, 17]}
    table = position("turn", 1, dice={"arms": 2}, ships=ships, options=BOTH)
    table.act("move", ship="arms", way="W").act("send", to=[5, 5])
    table.roll(0, 1).act("stay", ship="suns").act("move", ship="moons", way="W")
    assert table.json()["phase"] == "send"


@pytest.mark.parametrize(("moons", "won"), [([1, 17], True), ([5, 7], False)])
def test_e1_with_both_ships_a_jump_wins_if_the_sister_stands_there(
    position: Callable[..., Any], moons: list[int], won: bool
) -> None:
    """Landing by jump counts as landing by die does."""
    ships = {"suns": [3, 17], "moons": moons, "crowns": [5, 5], "arms": [3, 5]}
    table = position(dice={"suns": 1}, ships=ships, holes=[("moons", 2, 3, 18)], options=BOTH)
    table.act("move", ship="suns", way="N").act("jump", way="W")
    assert table.at("suns") == [1, 18]
    assert table.json()["result"] == ({"winner": 0, "why": "base"} if won else None)


def test_e1_a_ship_sent_onto_the_second_base_wins_only_when_its_sister_lands_again(
    position: Callable[..., Any],
) -> None:
    """Both ships on enemy bases by a send is no win; with one sent there, the landing of the other is."""
    ships = {"suns": [1, 17], "moons": [5, 7], "crowns": [5, 5], "arms": [3, 17]}
    table = position("turn", 1, dice={"crowns": 2}, ships=ships, options=BOTH)
    table.act("move", ship="crowns", way="N").act("send", to=[1, 18])
    assert table.json()["phase"] == "roll"
    ships = {"suns": [2, 17], "moons": [5, 7], "crowns": [5, 5], "arms": [3, 17]}
    table = position("turn", 1, dice={"crowns": 2}, ships=ships, options=BOTH)
    table.act("move", ship="crowns", way="N").act("send", to=[1, 18])
    table.roll(1, 0).act("move", ship="suns", way="W")
    assert table.json()["result"] == {"winner": 0, "why": "base"}


def test_e1_a_ship_on_an_enemy_base_may_decline_its_die(position: Callable[..., Any]) -> None:
    """A usable one, a null too, with the option only; a ship that cannot use its die is not asked at all."""
    ships = {"suns": [1, 17], "crowns": [5, 5]}
    table = position(dice={"suns": 0, "moons": 1}, ships=ships, options=BOTH)
    kinds = [(action["do"], action["ship"]) for action in table.legal()]
    assert kinds[:2] == [("stay", "suns"), ("decline", "suns")]
    assert ("decline", "moons") not in kinds
    table.act("decline", ship="suns")
    assert table.json()["dice"] == {"moons": 1}
    assert "decline" not in {action["do"] for action in position(dice={"suns": 0}, ships=ships).legal()}
    ships = {"suns": [1, 17], "crowns": [5, 5], "moons": [10, 2]}
    table = position("roll", 0, ships=ships, options=BOTH).roll(5, 4)
    assert table.json()["phase"] == "roll"
    assert table.json()["to_move"] == 1


def test_e2_after_max_turns_the_game_is_drawn(position: Callable[..., Any]) -> None:
    """Half a point each; a turn lost by both ships counts."""
    table = position(dice={"suns": 0}, turn=399).act("stay", ship="suns")
    outcome = GAME.outcome(table.state)
    assert (outcome.ranks, outcome.scores, outcome.why) == ((1, 1), (0.5, 0.5), "max-turns")
    table = position(dice={"suns": 0}, turn=398, lost=["crowns", "arms"]).act("stay", ship="suns")
    assert [event["event"] for event in table.events] == ["stay", "skip", "end"]
    assert table.json()["turn"] == 400


def test_c1_each_ship_that_rolls_has_a_die_of_six(position: Callable[..., Any]) -> None:
    """Outcome k is the die's value k, in the order of the ships."""
    table = position("roll", 1)
    assert GAME.chance(table.state) == (6, 6)
    assert table.roll(2, 3).json()["dice"] == {"crowns": 2, "arms": 3}
    one = position("roll", 1, lost=["arms"])
    assert GAME.chance(one.state) == (6,)
    assert one.roll(2).json()["dice"] == {"crowns": 2}


@pytest.mark.parametrize("first", [0, 1])
def test_c2_a_sides_turns_have_their_own_addresses(first: int) -> None:
    """The n-th turn of a side has the same address whichever side moves first; ties repeat that of the opening."""
    rng = random.Random(5)
    state = GAME.initial(2, Options())
    assert GAME.address(state) == "opening"
    tied, _ = GAME.apply(state, (1, 2, 3, 0))
    assert GAME.address(tied) == "opening"
    state, _ = GAME.apply(tied, (5, 5, 0, 0) if first else (0, 0, 5, 5))
    state, _ = GAME.apply(state, GAME.legal(state, 1 - first)[0])  # it places the first wormhole
    match = random_playout(GAME, 2, Options(), rng, start=state, keep=True)
    turns = [state for state in match.states if GAME.actors(state) == (CHANCE,)]
    assert turns[0].seat == first
    wanted = [f"seat {state.seat} turn {1 + state.turn // 2}" for state in turns]
    assert [GAME.address(state) for state in turns] == wanted
    assert wanted[0] == f"seat {first} turn 1"
    assert len(set(wanted)) == len(wanted)


# -- bots that drop out, and guesses ---------------------------------------------------------------------


def test_a_retired_seat_loses(position: Callable[..., Any]) -> None:
    """At any moment, out of turn too, the other side wins."""
    for table in (position("opening-roll", None, turn=0), position("roll", 0), position(dice={"suns": 0})):
        state, events = GAME.retire(table.state, 0)
        assert [event.data["event"] for event in events] == ["retired", "end"]
        outcome = GAME.outcome(state)
        assert (outcome.ranks, outcome.scores, outcome.why) == ((2, 1), (0.0, 1.0), "retired")
        assert GAME.to_json(state)["dice"] == table.json()["dice"]
        assert GAME.from_json(GAME.to_json(state)) == state


def test_guesses_deal_the_unknown_values_evenly() -> None:
    """Each hidden coin shows each value that its suit has left, about equally often."""
    playout, start = placed(3)
    view = GAME.view(playout.states[start], 0)
    rng = random.Random(1)
    guesses = [GAME.to_json(GAME.determinize(view, 0, rng))["wormholes"] for _ in range(600)]
    for at, hole in enumerate(view["wormholes"]):
        if hole["value"] is None:
            counts = [sum(guess[at]["value"] == value for guess in guesses) for value in range(6)]
            assert all(60 < count < 145 for count in counts)
        else:
            assert {guess[at]["value"] for guess in guesses} == {hole["value"]}
