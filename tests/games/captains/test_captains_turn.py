"""The start and a turn (captains S1-S3, T1-T10)."""

from typing import Any

import pytest
from tests.games.captains.conftest import PAIR, Tools

from warpleague.errors import ActionError, PositionError
from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.rules import worth

BOARDS = [
    [6, "B", 1], [2, "A", 2], [5, "A", 2], [7, "A", 5], [3, "B", 5],
    [4, "A", 1], [1, "A", 4], [9, "A", 5], [8, "A", 3],
]  # fmt: skip
BESIDE_BOTH: dict[str, Any] = {"match": {"players": 4, "station": 3, "boards": BOARDS}}
"""A galaxy in which space 158 is beside the station and beside planet 5."""

# In galaxy `first`, spaces 119 and 134 are beside the station, 103 to 106 a row, 106 beside planet 3.


def test_s1_ten_tokens_in_order_and_exploration_tokens(tools: Tools) -> None:
    """Numbered 1, 1, 2, 2, ... 5, 5, then none is left; exploration tokens 1 to 6 are worth 1, 7 to 10 worth 3."""
    state = tools.at(ships=[104, -1], tokens=[[119], []])
    placed = []
    for at in (103, 104, 105, 88):
        state = tools.play(state, f"place {at}")
        placed.append((tools.told[-1]["number"], tools.told[-1]["active"]))
    assert placed == [(1, True), (2, False), (2, True), (3, False)]
    assert [worth(token) for token in range(1, 11)] == [1] * 6 + [3] * 4
    ten = [119, 103, 88, 72, 73, 90, 98, 114, 130, 70]
    nine = tools.at(ships=[104, -1], tokens=[ten[:9], []])
    assert tools.legal(nine, "place")
    assert not tools.legal(tools.at(ships=[104, -1], tokens=[ten, []]), "place")


@pytest.mark.parametrize(("players", "cards", "hands"), [(3, 8, [1, 2, 2]), (5, 10, [1, 2, 2, 3, 3])])
def test_s2_deck_and_hands(tools: Tools, players: int, cards: int, hands: list[int]) -> None:
    """8 cards a planet with up to three players, 10 with more; hands by seat; seat 0 begins."""
    state = tools.deal(players, 3)
    view = GAME.view(state, 0)
    planets = len(view["docks"])
    assert view["hands"] == hands
    assert view["deck"] == cards * planets - sum(hands)
    assert GAME.actors(state) == (0,)


def test_c2_every_card_is_drawn_by_what_the_deck_has_left(tools: Tools) -> None:
    """Dealt seat by seat, in a pick-up, for the black hole and for the AI; hidden hands are gone from it."""
    state = tools.at(stage="deal", seat=0, players=3)
    assert GAME.actors(state) == (CHANCE,)
    assert GAME.chance(state) == ((8,) * 8,)
    state = tools.play(state, "roll 5")
    assert GAME.chance(state) == ((8, 8, 8, 8, 8, 7, 8, 8),)
    state = tools.play(state, "roll 5", "roll 0")
    assert GAME.view(state, 1)["hand"] == tools.counts(p5=1, p0=1)
    assert GAME.view(state, 0)["hand"] == tools.counts(p5=1)
    state = tools.play(state, "roll 1", "roll 1")
    assert GAME.actors(state) == (0,)
    assert GAME.ask(state, 0) == "start"
    here: dict[str, Any] = {"ships": [106, 134], "tokens": [[119], [134]]}
    cards: dict[str, Any] = {"docks": tools.counts(p1=3), "hands": [tools.counts(), tools.counts(p2=1, p5=2)]}
    left = ((8, 5, 7, 8, 8, 6, 8, 8),)
    assert GAME.chance(tools.play(tools.at(**here, **cards), "pickup planet", "draw")) == left
    hole = tools.at("second", **{**here, "ships": [58, 134]}, **cards)
    assert GAME.chance(tools.play(hole, "move 73")) == left
    solo = tools.at(players=1, ships=[106], tokens=[[119], [134]], docks=tools.counts(p1=3))
    assert GAME.chance(tools.play(solo, "end")) == ((8, 5, 8, 8, 8, 8, 8, 8),)


def test_c4_each_seat_has_its_own_cards(tools: Tools) -> None:
    """Dealt and drawn cards are of the seat; those of the black hole and of the AI are apart; so is each place."""
    assert GAME.address(GAME.initial(2, GAME.Options())) == "place 0"
    large = GAME.initial(4, GAME.Options())
    assert GAME.address(large) == "station"
    assert GAME.address(GAME.apply(GAME.apply(large, (2,))[0], (3, 0, 0))[0]) == "place 1"
    dealing = tools.at(stage="deal", seat=0, players=3)
    assert [GAME.address(dealing), GAME.address(tools.play(dealing, "roll 5"))] == ["seat 0", "seat 1"]
    here: dict[str, Any] = {"ships": [106, 134], "tokens": [[119], [134]]}
    assert GAME.address(tools.play(tools.at(**here), "pickup planet", "draw")) == "seat 0"
    hole = tools.at("second", **{**here, "ships": [58, 134]})
    assert GAME.address(tools.play(hole, "move 73")) == "seat 0 black hole"
    solo = tools.at(players=1, ships=[106], tokens=[[119], [134]])
    assert GAME.address(tools.play(solo, "end")) == "AI"


def test_s3_the_first_turn_starts_beside_the_station(tools: Tools) -> None:
    """On an empty space, with an inactive token and 3 energy; if none is empty, one with a ship will do (Ruling)."""
    state = tools.at(stage="start")
    assert tools.legal(state) == [f"start {at}" for at in (119, 120, 134, 136, 143, 144)]
    state = tools.play(state, "start 120")
    assert {"event": "place", "owner": 0, "at": 120, "number": 1, "active": False} in tools.told
    assert state.ships == (120, -1)
    assert (state.energy, state.steps) == (3, 1)
    state = tools.play(state, "end")
    assert "start 120" not in tools.legal(state)
    assert len(tools.legal(state)) == 5
    state = tools.play(tools.at(stage="start"), "start 120", "move 134", "end")
    assert tools.legal(state) == [f"start {at}" for at in (119, 136, 143, 144)]
    with pytest.raises(ActionError):
        tools.play(state, "start 134")
    station = {"station": [[0, 0]], "obstacle": [[0, -1], [-1, 0], [1, -1]]}
    match = {
        "players": 3,
        "galaxy_file": {**PAIR, "station": {"small": station}},
        "pattern": "pair",
        "station": 0,
    }
    state = GAME.from_json({"match": {**match, "boards": [[1, "A", 0], [2, "A", 0]]}, "stage": "start"})
    one, two, three = [action.at for action in GAME.legal(state, 0)]
    state = tools.play(state, f"start {three}", f"move {two}", "end")
    assert tools.legal(state) == [f"start {one}"], "the only empty one"
    state = tools.play(state, f"start {one}", "end")
    assert tools.legal(state) == [f"start {two}"]


def test_s3_a_start_beside_a_planet_counts_as_any_token_and_place(tools: Tools) -> None:
    """There the first token explores (T4) and bars a second one (T3); what is picked up is the station's (T7)."""
    state = GAME.from_json({**BESIDE_BOTH, "stage": "start"})
    state = tools.play(state, "start 158")
    assert {"event": "explore", "owner": 0, "planet": 5, "token": 1, "worth": 1} in tools.told
    galaxy = state.table.galaxy
    around = [space for space in galaxy.adjacent[158] if galaxy.takes_token[space]]
    assert any(galaxy.beside_planet[space] == 5 for space in around)
    assert all(galaxy.beside_planet[space] == 5 or galaxy.beside_station[space] for space in around)
    assert tools.legal(state, "place") == []
    assert tools.legal(state, "pickup") == ["pickup station"]


def test_t1_a_move_costs_one_energy_and_ends_with_it(tools: Tools) -> None:
    """Energy is not saved; from an orbit space every other one of the same orbit is one move, and none of another."""
    state = tools.at(ships=[103, 134], tokens=[[119], [134]])
    assert "move 104" in tools.legal(state)
    state = tools.play(state, "move 104", "move 105", "move 104")
    assert tools.legal(state, "move") == []
    with pytest.raises(ActionError, match=r"no energy left; possible: .*end"):
        tools.play(state, "move 105")
    state = tools.play(state, "end", "end")
    assert state.energy == 3
    state = tools.play(state, "end", "end")
    assert state.energy == 3
    state = tools.at(ships=[119, 134], tokens=[[119], [134]])
    galaxy = state.table.galaxy
    station = [space for space, orbit in enumerate(galaxy.orbit) if orbit == 0]
    moves = [int(move.split()[1]) for move in tools.legal(state, "move")]
    assert set(station) - {119} <= set(moves)
    assert set(moves) - set(station) == set(galaxy.adjacent[119]) - set(station)
    assert tools.play(state, "move 144").energy == 2


def test_t1_moves_from_a_nebula_are_free(tools: Tools) -> None:
    """Entering one from elsewhere costs 1, and so does a move onto the cannon, from a nebula, too."""
    state = tools.at(ships=[54, 134], tokens=[[119], [134]], energy=1)
    state = tools.play(state, "move 69")
    assert state.energy == 0
    state = tools.play(state, "move 83", "move 69", "move 70")
    assert state.energy == 0
    assert tools.legal(state, "move") == []
    state, nebula, cannon = beside_the_cannon(energy=1)
    assert tools.play(state, f"move {cannon}").energy == 0
    other = next(space for space in state.table.galaxy.adjacent[nebula] if space != cannon)
    assert tools.play(state, f"move {other}").energy == 1
    state, _, cannon = beside_the_cannon(energy=0)
    assert f"move {other}" in tools.legal(state)
    assert f"move {cannon}" not in tools.legal(state)
    with pytest.raises(ActionError, match="no energy left"):
        tools.play(state, f"move {cannon}")


NEBULA_AND_CANNON = {"planet": [[0, 0]], "nebula": [[-1, -1]], "cannon": [[-2, 0]]}
"""A board on which the cannon lies beside a nebula."""


def beside_the_cannon(energy: int) -> tuple[Any, int, int]:
    """A position with the ship in the nebula and so much energy, and the spaces of nebula and cannon."""
    boards = [PAIR["board"][0], {"number": 2, "A": NEBULA_AND_CANNON, "B": NEBULA_AND_CANNON}]
    match = {"players": 2, "galaxy_file": {**PAIR, "board": boards}, "pattern": "pair", "station": 0}
    laid = {"match": {**match, "boards": [[1, "A", 0], [2, "A", 0]]}, "stage": "start"}
    galaxy = GAME.from_json(laid).table.galaxy
    nebula, cannon = galaxy.kinds.index("nebula"), galaxy.kinds.index("cannon")
    one, two = [start.at for start in galaxy.starts][:2]
    ships = {"ships": [nebula, two], "tokens": [[one], [two]], "energy": energy, "stage": "turn"}
    return GAME.from_json({**laid, **ships}), nebula, cannon


def test_t2_free_actions_need_no_energy(tools: Tools) -> None:
    """Without energy placing, warping, delivering and picking up are still legal."""
    state = tools.at(
        energy=0,
        ships=[106, 134],
        tokens=[[119, 106], [134]],
        explorers=[0],
        hands=[tools.counts(p3=1), tools.counts()],
    )
    kinds = {move.split()[0] for move in tools.legal(state)}
    assert kinds == {"deliver", "pickup", "place", "warp", "end"}


def test_t3_where_a_token_may_be_placed(tools: Tools) -> None:
    """On or next to the ship, on a free blank or orbit space, once a planet and station; often at the big ring."""
    state = tools.at(ships=[106, 105], tokens=[[119, 105], [134, 91]], explorers=[1])
    # space 91 (beside planet 3) is the other owner's, 105 has a token; 106, 122 and 123 are beside planet 3
    near = {106, *state.table.galaxy.adjacent[106]}
    offered = {int(move.split()[1]) for move in tools.legal(state, "place")}
    assert offered == {at for at in near if state.table.galaxy.takes_token[at]} - {91, 105, 120}
    state = tools.play(state, "place 106")
    assert not {"place 92", "place 122"} & set(tools.legal(state, "place"))
    with pytest.raises(
        ActionError, match="place 122 is not possible now: a token of yours is already beside"
    ):
        tools.play(state, "place 122")
    state = tools.at(ships=[120, 134], tokens=[[119], [134]])
    offered = {int(move.split()[1]) for move in tools.legal(state, "place")}
    assert offered == {104, 105, 121}
    with pytest.raises(ActionError, match="already beside the planet or station"):
        tools.play(state, "place 136")
    state = tools.at(ships=[35, 134], tokens=[[119], [134]])
    state = tools.play(state, "place 35", "place 36", "move 52", "place 52")
    assert state.tokens.stacks[0] == (119, 35, 36, 52)
    assert state.explorers == (0,)


def test_t3_the_second_of_a_number_makes_the_pair_active(tools: Tools) -> None:
    """An inactive token leads nowhere; when its twin is placed both do."""
    state = tools.at(ships=[104, 134], tokens=[[119, 90, 104], [134]])
    assert tools.legal(state, "warp") == []
    state = tools.play(state, "place 103")
    assert tools.told[-1]["active"] is True
    assert tools.legal(state, "warp") == ["warp 103"]


def test_t4_the_first_token_beside_a_planet_explores_it(tools: Tools) -> None:
    """The first owner gets the next exploration token, a second owner none."""
    state = tools.at(ships=[106, 91], tokens=[[119], [134]])
    state = tools.play(state, "place 106")
    assert tools.told[-1] == {"event": "explore", "owner": 0, "planet": 3, "token": 1, "worth": 1}
    state = tools.play(state, "end", "place 91")
    assert state.explorers == (0,)
    assert GAME.view(state, 0)["scores"] == [1, 0]
    state = tools.play(tools.at(ships=[100, 91], tokens=[[119], [134]]), "place 100")
    assert tools.told[-1]["planet"] == 0
    state = tools.play(tools.at(ships=[104, 91], tokens=[[119], [134]]), "place 104")
    assert [event["event"] for event in tools.told] == ["place"], "beside no planet"


def test_t5_warp_through_anothers_wormhole_pays_its_owner(tools: Tools) -> None:
    """The owner of the pair gets a point; one's own wormhole pays nobody."""
    state = tools.at(ships=[104, 103], tokens=[[119, 70, 103, 88], [134, 90, 104, 106]], explorers=[1])
    state = tools.play(state, "warp 106")
    assert tools.told[-1]["point_to"] == 1
    assert state.points == (0, 1)
    state = tools.play(state, "end", "end", "move 105", "end", "move 104", "warp 106")
    assert tools.told[-1]["point_to"] is None
    assert state.points == (0, 1)


def test_t5_two_warps_need_another_action_between(tools: Tools) -> None:
    """A place, a move, the end of the turn, a pick-up (Ruling) or a delivery will do."""
    state = tools.at(ships=[119, 134], tokens=[[119, 104], [134]])
    state = tools.play(state, "warp 104")
    assert tools.legal(state, "warp") == []
    with pytest.raises(ActionError, match="another action must come between two warps"):
        tools.play(state, "warp 119")
    assert tools.legal(tools.play(state, "place 105"), "warp") == ["warp 119"]
    assert tools.legal(tools.play(state, "move 103", "move 104"), "warp") == ["warp 119"]
    assert tools.legal(tools.play(state, "end", "end"), "warp") == ["warp 119"]
    state = tools.at(ships=[104, 134], tokens=[[119, 104], [134]])
    state = tools.play(state, "warp 119", "pickup station", "done")
    assert tools.legal(state, "warp") == ["warp 104"]
    hands = [tools.counts(p3=1), tools.counts()]
    state = tools.at(ships=[119, 134], tokens=[[119, 106], [134]], explorers=[0], hands=hands)
    state = tools.play(state, "warp 106")
    assert tools.legal(state, "warp") == []
    assert tools.legal(tools.play(state, "deliver 3"), "warp") == ["warp 119"]


def test_t5_wild_wormholes_serve_own_pairs_of_their_number(tools: Tools) -> None:
    """From an own active 3 to the wild 3 and back to either; not with others' tokens, nor inactive ones."""
    mine = [119, 70, 54, 56, 104, 90]
    state = tools.at(ships=[104, 134], tokens=[mine, [134]])
    assert tools.legal(state, "warp") == ["warp 90", "warp 111"]
    state = tools.play(state, "warp 111")
    assert state.points == (0, 0)
    assert tools.legal(state, "warp") == []
    state = tools.play(state, "move 110", "move 111")
    assert tools.legal(state, "warp") == ["warp 90", "warp 104"]
    assert tools.legal(tools.at(ships=[54, 134], tokens=[mine, [134]]), "warp") == ["warp 56"]
    assert tools.legal(tools.at(ships=[111, 134], tokens=[mine[:5], [134]]), "warp") == []
    other = tools.at(seat=1, ships=[119, 104], tokens=[mine, [134]])
    assert tools.legal(other, "warp") == ["warp 90"]


def test_t6_all_cards_of_the_planet_are_delivered(tools: Tools) -> None:
    """A delivery takes every card of the planet beside the ship, and only those."""
    hands = [tools.counts(p3=2, p1=1), tools.counts()]
    state = tools.at(ships=[106, 134], tokens=[[119], [134]], hands=hands)
    assert tools.legal(state, "deliver") == ["deliver 3"]
    state = tools.play(state, "deliver 3")
    assert tools.told == [{"event": "deliver", "seat": 0, "planet": 3, "cards": 2}]
    assert state.cards.hands[0] == tuple(tools.counts(p1=1))
    assert state.cards.piles[0] == tuple(tools.counts(p3=2))
    assert tools.legal(state, "deliver") == []


def test_t7_pickup_at_a_planet_fills_the_hand_from_the_deck(tools: Tools) -> None:
    """Cards of the planet itself go to the Docks and are replaced; a full hand discards first."""
    hands = [tools.counts(p1=3), tools.counts()]
    state = tools.at(ships=[106, 134], tokens=[[119], [134]], hands=hands)
    state = tools.play(state, "pickup planet")
    assert tools.legal(state) == ["discard 1", "draw"]
    state = tools.play(state, "discard 1", "draw", "roll 3", "roll 2", "roll 3", "roll 3", "roll 1")
    assert state.cards.hands[0] == tuple(tools.counts(p1=3, p2=1))
    assert state.cards.docks == tuple(tools.counts(p3=3, p1=1))
    assert state.cards.left == 64 - 8
    assert tools.legal(state, "pickup") == []
    with pytest.raises(ActionError, match="once a turn"):
        tools.play(state, "pickup planet")
    state = tools.play(state, "end", "end")
    assert tools.legal(state, "pickup") == ["pickup planet"]
    hands = [tools.counts(p1=3, p2=1), tools.counts()]
    state = tools.at(ships=[106, 134], tokens=[[119], [134]], hands=hands)
    state = tools.play(state, "pickup planet")
    assert tools.legal(state) == ["discard 1", "discard 2"]
    assert tools.legal(tools.play(state, "discard 2")) == ["discard 1", "draw"]
    docks = [8] * 8
    state = tools.at(ships=[106, 119], tokens=[[119], [134]], docks=docks)
    assert tools.legal(state, "pickup") == []
    state = tools.at(seat=1, ships=[106, 119], tokens=[[119], [134]], docks=docks)
    assert tools.legal(state, "pickup") == ["pickup station"]


def test_t7_nothing_is_drawn_from_the_deck_beside_the_station(tools: Tools) -> None:
    """On a space beside both a planet and the station passengers are delivered, but picked up from the Docks."""
    both = {
        **BESIDE_BOTH,
        "ships": [158, 159, 169, 171],
        "tokens": [[158], [159], [169], [171]],
        "explorers": [0],
        "hands": [tools.counts(10, p5=1), *[[0] * 10] * 3],
    }
    state = GAME.from_json(both)
    assert GAME.setup(state)["spaces"][158]["planet"] == 5
    assert GAME.setup(state)["spaces"][158]["station"]
    assert tools.legal(state, "deliver") == ["deliver 5"]
    assert tools.legal(state, "pickup") == ["pickup station"]
    with pytest.raises(ActionError, match="where nothing is drawn from the deck"):
        GAME.parse(state, 0, {"do": "pickup", "at": "planet"})
    with pytest.raises(PositionError, match="stage: beside the station nothing is drawn"):
        GAME.from_json({**both, "stage": "pickup-planet", "focus": 5, "picked": True})


def test_t7_pickup_at_the_station_takes_from_two_planets(tools: Tools) -> None:
    """At most two, four cards in hand, one just discarded, too, or none; no discard after the first one taken."""
    hands = [tools.counts(p1=2), tools.counts()]
    state = tools.at(
        ships=[119, 134], tokens=[[119], [134]], hands=hands, docks=tools.counts(p4=2, p5=1, p6=1)
    )
    state = tools.play(state, "pickup station")
    assert tools.legal(state) == ["discard 1", "take 4", "take 5", "take 6", "done"]
    state = tools.play(state, "discard 1")
    assert tools.legal(state) == ["discard 1", "take 1", "take 4", "take 5", "take 6", "done"]
    state = tools.play(state, "take 4")
    assert tools.legal(state) == ["take 1", "take 4", "take 5", "take 6", "done"]
    state = tools.play(state, "take 5")
    assert tools.legal(state) == ["take 4", "done"]
    state = tools.play(state, "take 4")
    assert tools.legal(state) == ["done"]
    state = tools.play(state, "done")
    assert state.cards.hands[0] == tuple(tools.counts(p1=1, p4=2, p5=1))
    assert state.cards.docks == tuple(tools.counts(p1=1, p6=1))
    state = tools.at(ships=[119, 134], tokens=[[119], [134]], hands=[tools.counts(p1=1), tools.counts()])
    state = tools.play(state, "pickup station")
    assert tools.legal(state) == ["discard 1", "done"]
    after = tools.play(state, "discard 1", "take 1", "done")
    assert after.cards.hands == state.cards.hands
    assert after.cards.docks == state.cards.docks
    assert tools.play(state, "done").picked


def test_t8_cannon_shoots_two_or_more_spaces_over_anything(tools: Tools) -> None:
    """From the cannon every enterable space in a straight line, two or more away, is free to reach."""
    state = tools.at(ships=[87, 134], tokens=[[119], [134]], energy=0)
    galaxy = state.table.galaxy
    shots = [int(move.split()[1]) for move in tools.legal(state, "cannon")]
    q, r = galaxy.hexes[87]
    lines = [(dq, dr) for dq in (-1, 0, 1) for dr in (-1, 0, 1) if dq != dr or (dq, dr) == (0, 0)]
    expected = {
        space
        for space, (sq, sr) in enumerate(galaxy.hexes)
        for dq, dr in lines
        for steps in range(2, 40)
        if (dq, dr) != (0, 0) and (sq, sr) == (q + steps * dq, r + steps * dr) and galaxy.moves[space]
    }
    assert set(shots) == expected
    assert shots == sorted(shots)
    assert 97 in shots, "the line leaves the boards and comes back"
    assert tools.play(state, "cannon 97").ships == (97, 134)
    assert tools.play(state, "cannon 97").energy == 0


def test_t9_the_black_hole_throws_the_ship_to_a_planet(tools: Tools) -> None:
    """The top card goes to the Docks, and the ship comes out beside its planet; an empty deck closes it (Ruling)."""
    state = tools.at("second", ships=[58, 134], tokens=[[119], [134]])
    state = tools.play(state, "move 73")
    assert GAME.actors(state) == (CHANCE,)
    state = tools.play(state, "roll 2")
    assert state.cards.docks == tuple(tools.counts(p2=1))
    beside = [44, 45, 59, 61, 74, 75]
    assert tools.legal(state) == [f"emerge {at}" for at in beside]
    assert GAME.ask(state, 0) == "emerge"
    state = tools.play(state, "emerge 61")
    assert (state.ships[0], state.energy) == (61, 2)
    assert "pickup planet" in tools.legal(state)
    state = tools.at("second", ships=[58, 134], tokens=[[119], [134]])
    assert "move 73" in tools.legal(state)
    state = tools.at("second", ships=[58, 134], tokens=[[119], [134]], docks=[8] * 8)
    assert "move 73" not in tools.legal(state)


def test_t9_a_shot_into_the_black_hole_enters_it(tools: Tools) -> None:
    """Over a planet too; the ship may come out anywhere beside the card's planet, but not in another black hole."""
    state = tools.at("pair", ships=[19, 46], tokens=[[36], [46]], docks=[8, 7])
    assert {"cannon 22", "cannon 23"} <= set(tools.legal(state, "cannon"))
    state = tools.play(state, "cannon 23")
    assert GAME.actors(state) == (CHANCE,)
    state = tools.play(state, "roll 1")
    assert tools.told == [
        {"event": "revealed", "seat": 0, "planet": 1},
        {"event": "ending", "why": "deck-empty", "last_round": 2},
    ]
    assert tools.legal(state) == [f"emerge {at}" for at in (11, 12, 20, 32, 33)]
    empty = tools.at("pair", ships=[19, 46], tokens=[[36], [46]], docks=[8, 8])
    assert not {"cannon 22", "cannon 23"} & set(tools.legal(empty, "cannon"))
    assert "cannon 24" in tools.legal(empty, "cannon")


def test_t10_after_100_actions_a_turn_can_only_be_ended(tools: Tools) -> None:
    """Each counts once, free ones and the steps of a pick-up too, cards that chance turns over do not."""
    state = tools.at(ships=[69, 134], tokens=[[119], [134]], steps=1)
    for step in range(99):
        state = tools.play(state, "move 83" if step % 2 == 0 else "move 69")
    assert state.steps == 100
    assert tools.legal(state) == ["end"]
    assert "move 84" in tools.legal(tools.play(state, "end", "end"))
    hands = [tools.counts(p3=1, p1=1), tools.counts()]
    state = tools.at(ships=[106, 134], tokens=[[119, 106], [134]], explorers=[0], hands=hands)
    state = tools.play(state, "deliver 3", "pickup planet", "discard 1", "draw", *["roll 0"] * 4)
    assert state.steps == 4
    assert tools.play(state, "warp 119", "place 103", "move 103").steps == 7
    docks = tools.at(ships=[119, 134], tokens=[[119], [134]], docks=tools.counts(p4=1))
    assert tools.play(docks, "pickup station", "take 4", "done").steps == 3
    hole = tools.at("second", ships=[58, 134], tokens=[[119], [134]])
    assert tools.play(hole, "move 73", "roll 2", "emerge 61").steps == 2
    assert tools.play(tools.at(ships=[87, 134], tokens=[[119], [134]]), "cannon 97").steps == 1
    assert tools.play(state, "end", "end").steps == 0


def test_t10_what_was_begun_can_still_be_finished(tools: Tools) -> None:
    """A pick-up after 100 actions, with discards where the hand is full; and the way out of the black hole."""
    full = [tools.counts(p1=2, p2=2), tools.counts()]
    state = tools.at(ships=[106, 134], tokens=[[119], [134]], steps=99, hands=full)
    state = tools.play(state, "pickup planet")
    assert tools.legal(state) == ["discard 1", "discard 2"]
    state = tools.play(state, "discard 1")
    assert tools.legal(state) == ["draw"]
    state = tools.play(state, "draw", "roll 0")
    assert tools.legal(state) == ["end"]
    state = tools.at(ships=[119, 134], tokens=[[119], [134]], steps=99, docks=tools.counts(p1=2))
    assert tools.legal(tools.play(state, "pickup station")) == ["done"]
    state = tools.at("second", ships=[58, 134], tokens=[[119], [134]], steps=99)
    state = tools.play(state, "move 73", "roll 0")
    assert len(tools.legal(state, "emerge")) == 6
    assert tools.legal(tools.play(state, "emerge 85")) == ["end"]


def test_the_turn_example_of_the_published_rules(tools: Tools) -> None:
    """Own wormhole, delivery, another's wormhole, delivery, pick-up, new wormhole, two more deliveries."""
    state = tools.at(
        round=5,
        ships=[103, 134],
        tokens=[[119, 116, 104, 106, 23], [134, 7, 105, 35]],
        explorers=[0, 0, 1, 1, 0],
        hands=[tools.counts(p3=1, p6=1, p1=2), tools.counts(p0=1)],
    )
    before = GAME.view(state, 0)["scores"]
    state = tools.play(state, "move 104", "warp 106", "deliver 3")
    state = tools.play(state, "move 105", "warp 35")
    assert state.points == (0, 1)
    state = tools.play(state, "deliver 6", "pickup planet", "draw", "roll 6", "roll 5", "roll 0")
    assert sum(state.cards.hands[0]) == 4
    state = tools.play(state, "place 36", "move 36")
    assert state.energy == 0
    state = tools.play(state, "warp 23", "deliver 1")
    assert tools.told[-1]["cards"] == 2
    after = GAME.view(state, 0)["scores"]
    assert [new - old for new, old in zip(after, before, strict=True)] == [8, 1]
    assert GAME.actors(tools.play(state, "end")) == (1,)


def test_canonical_order_of_a_turns_actions(tools: Tools) -> None:
    """Deliveries, pick-up, places, warps, shots, moves, end; each by ascending number."""
    state = tools.at(ships=[106, 134], tokens=[[119, 104], [134]], hands=[tools.counts(p3=1), tools.counts()])
    kinds = [move.split()[0] for move in tools.legal(state)]
    order = ["deliver", "pickup", "place", "warp", "cannon", "move", "end"]
    assert kinds == sorted(kinds, key=order.index)
    for kind in ("place", "move"):
        numbers = [int(move.split()[1]) for move in tools.legal(state, kind)]
        assert numbers == sorted(numbers)
