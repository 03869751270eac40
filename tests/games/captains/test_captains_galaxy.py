"""Galaxies: geometry, dealing, patterns and galaxy files (captains G1-G8, C1, C3)."""

import copy
import json
import tomllib
from importlib.resources import files
from random import Random
from typing import Any

import pytest
from tests.games.captains.conftest import Tools

from warpleague.errors import OptionsError
from warpleague.games.captains import GAME
from warpleague.games.captains.boards import builtin, distance, rotate
from warpleague.games.captains.dealing import PATTERNS, Dealing, Options, draws, first_deal, lay, plan, settle
from warpleague.games.captains.geometry import Layout, misfit
from warpleague.games.playout import random_roll

PLAYERS = dict(zip(PATTERNS, (1, 2, 3, 4, 5, 5), strict=True))


def boards_table() -> dict[str, Any]:
    """The built-in boards as a galaxy file would hold them."""
    return tomllib.loads(
        files("warpleague.games.captains").joinpath("boards.toml").read_text(encoding="utf-8")
    )


def dealt(players: int, seed: int, **options: Any) -> Any:
    rng, made = Random(seed), plan(players, Options(**options))
    dealing: Any = first_deal(made)
    while isinstance(dealing, Dealing):
        dealing, _ = lay(dealing, random_roll(draws(dealing), rng))
    return made.galaxy(dealing)


def test_g1_rotation_turns_by_sixty_degrees(tools: Tools) -> None:
    """One step maps (q, r) to (-r, q + r); a space has six neighbours, over the edges of boards, too."""
    assert rotate((2, -1), 1) == (1, 1)
    assert rotate((2, -1), 2) == (-1, 2)
    assert rotate((2, -1), 6) == (2, -1)
    assert distance((0, 0), rotate((2, -1), 3)) == 2
    galaxy = tools.at("first", stage="start").table.galaxy
    six = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
    number = {at: space for space, at in enumerate(galaxy.hexes)}
    for (q, r), near in zip(galaxy.hexes, galaxy.adjacent, strict=True):
        if near:
            around = {number.get((q + dq, r + dr), -1) for dq, dr in six} - {-1}
            assert set(near) == {space for space in around if galaxy.adjacent[space]}
    assert 105 in galaxy.adjacent[104], "of the station's board and of another"
    assert set(galaxy.adjacent[58]) == {42, 43, 59, 72, 73}, "57 is an obstacle"


def test_g2_closed_spaces_cannot_be_entered(tools: Tools) -> None:
    """Nothing leads onto a planet, the station or an obstacle, or out of one."""
    galaxy = tools.at("first", stage="start").table.galaxy
    closed = {i for i, kind in enumerate(galaxy.kinds) if kind in ("planet", "station", "obstacle")}
    assert len(closed) > 20
    for space in range(len(galaxy.hexes)):
        targets = {move.to for move in galaxy.moves[space]}
        assert not targets & closed
        assert bool(targets) == (space not in closed)


def test_g3_tokens_go_on_blank_and_orbit_spaces_only(tools: Tools) -> None:
    """One a space, be it anyone's, and any number of ships, under which it may be placed."""
    for which in ("first", "second"):
        galaxy = tools.at(which, stage="start").table.galaxy
        for kind, takes in zip(galaxy.kinds, galaxy.takes_token, strict=True):
            assert takes == (kind in ("blank", "orbit"))
    state = tools.at(players=3, ships=[104, 104, 105], tokens=[[119], [134, 105], [136]])
    assert not {"place 105", "place 119"} & set(tools.legal(state, "place"))
    assert "place 104" in tools.legal(state, "place"), "under two ships"
    state = tools.play(state, "move 105")
    assert state.ships == (105, 104, 105)


def test_g4_boards_and_planets_by_player_count() -> None:
    """Seven boards and eight planets for up to three players, nine and ten for more, each with 19 spaces."""
    for players in GAME.players:
        galaxy = dealt(players, players)
        large = players > 3
        assert len(galaxy.hexes) == (190 if large else 152)
        assert len(galaxy.planets) == (10 if large else 8)
        assert galaxy.kinds.count("station") == (3 if large else 1)
        assert sorted(p.board for p in galaxy.planets) == [p.board for p in galaxy.planets]
    for board in builtin().boards:
        assert len(board.sides[0].planets) == len(board.sides[1].planets) == (2 if board.number == 5 else 1)
        assert board.min_players == (4 if board.number >= 8 else 1)


def test_g5_big_ring_planet_has_three_spaces_and_an_orbit_of_nine(tools: Tools) -> None:
    """Board 6, side B: one planet of three spaces within an orbit of nine; side A: an ordinary planet, T3 holding."""
    galaxy = tools.at("first", stage="start").table.galaxy
    ring = galaxy.planets[6]
    assert (ring.board, len(ring.spaces), ring.big) == (6, 3, True)
    orbit = [space for space, at in enumerate(galaxy.beside_planet) if at == 6]
    assert len(orbit) == 9
    assert {galaxy.orbit[space] for space in orbit} == {6}
    other = tools.at("second", stage="start").table.galaxy.planets[6]
    assert (other.board, len(other.spaces), other.big) == (6, 1, False)
    once = tools.play(tools.at("second", ships=[36, 134], tokens=[[119], [134]]), "place 36")
    assert not {"place 20", "place 37"} & set(tools.legal(once, "place"))


def test_g6_patterns_fit_the_player_count() -> None:
    """Every pattern is taken with its player counts and refused, by name, with others."""
    for name, players in PLAYERS.items():
        GAME.check_options(players, Options(pattern=name))
        with pytest.raises(OptionsError, match=name):
            GAME.check_options(6 - players if players != 3 else 4, Options(pattern=name))
    with pytest.raises(OptionsError, match=r"'spiral' is unknown; for 2 players: standard, asteroida-1"):
        GAME.check_options(2, Options(pattern="spiral"))
    assert plan(3, Options()).pattern.name == "standard"
    assert plan(4, Options()).pattern.name == "standard-large"


@pytest.mark.parametrize(("pattern", "players"), PLAYERS.items())
@pytest.mark.parametrize("galaxy", ["full", "basic"])
def test_g7_dealt_galaxies_keep_the_rule(pattern: str, players: int, galaxy: str) -> None:
    """In every galaxy dealt planets are 3 apart, and each can be reached from the station."""
    for seed in range(12):
        found = dealt(players, seed, pattern=pattern, galaxy=galaxy)
        for i, one in enumerate(found.planets):
            for two in found.planets[:i]:
                gaps = (distance(found.hexes[a], found.hexes[b]) for a in one.spaces for b in two.spaces)
                assert min(gaps) >= 3
        reached = {space for space, beside in enumerate(found.beside_station) if beside}
        frontier = sorted(reached)
        while frontier:
            for space in found.adjacent[frontier.pop()]:
                if space not in reached and not found.blackhole[space]:
                    reached.add(space)
                    frontier.append(space)
        assert {found.beside_planet[space] for space in reached} >= set(range(len(found.planets)))
        if galaxy == "basic":
            assert all(side == 0 for _, side, _ in found.layout.laid)


def test_g7_the_later_board_of_the_first_near_pair_is_turned() -> None:
    """Boards 1 to 7 unturned on `standard`: board 5 is too near to an earlier one and is turned one step."""
    made = plan(2, Options())
    layout = Layout(0, tuple((board, 0, 0) for board in range(7)))
    assert misfit(made.station, made.boards, made.pattern, layout) == 4
    settled, events = settle(made, layout)
    assert settled is not None
    assert settled.laid[4] == (4, 0, 1)
    assert events[0].data == {"event": "turned", "place": 4, "board": 5, "rotation": 1}


def test_g7_a_planet_out_of_reach_is_turned_to_where_it_can_be_reached() -> None:
    """A planet that walls and black holes shut off has its board turned, and no other, till a way leads to it."""
    shut = {"planet": [[2, 0]], "obstacle": [[2, -1], [1, 1]], "blackhole": [[1, 0]]}
    open_ = {"planet": [[0, 0]]}
    table = {
        "board": [{"number": 1, "A": shut, "B": shut}, {"number": 2, "A": open_, "B": open_}],
        "pattern": {"pair": {"players": [1, 5], "centres": [[5, -3], [-3, -2]]}},
    }
    made = plan(2, Options(galaxy_file=table))
    layout = Layout(0, ((0, 0, 0), (1, 0, 0)))
    assert misfit(made.station, made.boards, made.pattern, layout) == 0
    settled, events = settle(made, layout)
    # From (2, 0) of its board the planet comes to (0, 2), and then to (-2, 2), beside the station's board.
    assert settled == Layout(0, ((0, 0, 2), (1, 0, 0)))
    assert [event.data["rotation"] for event in events] == [1, 2]
    assert misfit(made.station, made.boards, made.pattern, settled) is None


@pytest.mark.parametrize("players", [2, 5])
def test_g7_basic_boards_lie_unturned(players: int) -> None:
    """In the basic galaxy each board shows side A and is turned only as often as condition (a) or (b) demands."""
    for seed in range(10):
        rng = Random(seed)
        dealing: Any = first_deal(plan(players, Options(galaxy="basic")))
        turns: list[int] = []
        while isinstance(dealing, Dealing):
            dealing, events = lay(dealing, random_roll(draws(dealing), rng))
            told = [event.data for event in events]
            turns = [] if any(event["event"] == "redeal" for event in told) else turns
            turns += [event["place"] for event in told if event["event"] == "turned"]
        for place, (_, side, rotation) in enumerate(dealing.laid):
            assert (side, rotation) == (0, turns.count(place) % 6)


def test_g7_a_deal_that_cannot_be_mended_is_drawn_anew() -> None:
    """When 30 turns do not help, everything is drawn again, the station board's rotation included."""
    made = plan(5, Options())
    rng = Random(0)
    for _ in range(20_000):
        order = rng.sample(range(9), 9)
        laid = tuple((board, rng.randrange(2), rng.randrange(6)) for board in order)
        if settle(made, Layout(0, laid))[0] is None:
            break
    else:
        pytest.fail("no such deal found")
    after, events = lay(Dealing(made, 0, laid[:-1]), laid[-1])
    assert events[-1].data == {"event": "redeal"}
    assert sum(event.data["event"] == "turned" for event in events) == 30
    assert isinstance(after, Dealing)
    assert (after.rotation, after.laid) == (-1, ())


def test_g8_a_galaxy_file_of_the_built_in_boards_gives_the_same_game() -> None:
    """Stations and patterns may be left out of it, and the order of its keys does not matter."""
    table = boards_table()
    for players in (2, 5):
        mine, theirs = dealt(players, 5, galaxy_file=table), dealt(players, 5)
        assert (mine.hexes, mine.kinds, mine.planets) == (theirs.hexes, theirs.kinds, theirs.planets)
    table = {"board": boards_table()["board"]}
    assert dealt(3, 1, galaxy_file=table).kinds == dealt(3, 1).kinds
    table = boards_table()
    table["pattern"] = dict(reversed(table["pattern"].items()))
    turned = json.loads(json.dumps(table, sort_keys=True))
    first = GAME.initial(2, Options(galaxy_file=table))
    assert first == GAME.initial(2, Options(galaxy_file=turned))
    assert GAME.from_json(json.loads(json.dumps(GAME.to_json(first), sort_keys=True))) == first
    assert plan(2, Options(galaxy_file=table)).pattern.name == "standard"


def broken(change: Any) -> dict[str, Any]:
    table = copy.deepcopy(boards_table())
    change(table)
    return table


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda t: t["board"][2]["A"]["planet"].append([2, 2]), r"board 3\.A\.planet\[1\]: space \[2, 2\] is not on"),
        (lambda t: t["board"][2]["B"].update(comet=[[0, 0]]), r'board 3\.B: unknown key "comet"'),
        (lambda t: t["board"][0]["A"]["planet"].append([0, 0]), r"board 1\.A: planets at .* are 1 apart"),
        (lambda t: t["board"][0]["A"]["nebula"].append([1, 0]), r"board 1\.A\.nebula: space \[1, 0\] is planet"),
        (lambda t: t["board"][1].pop("B"), r"board 2\.B: is missing"),
        (lambda t: t["board"][1]["B"].pop("planet"), "board 2: side A has 1 planets, side B 0"),
        (lambda t: t["board"].pop(), "6 boards are in play|9 places|8 boards are in play"),
        (lambda t: t["board"].append(t["board"][0]), "two boards have number 1"),
        (lambda t: t["pattern"]["standard"]["centres"].append([0, 0]), r"pattern\.standard\.centres: .* overlaps"),
        (lambda t: t["station"]["small"].pop("station"), r"station\.small\.station: is missing"),
        (lambda t: t["station"]["small"].update(obstacle=[[0, 1]]), r"small\.(obstacle|orbit): space \[0, 1\]"),
        (lambda t: t["station"]["small"].update(orbit=[], obstacle=[[0, -1], [-1, 0], [1, -1], [-1, 1]]),
         "2 spaces beside the station can take a token; 3 are needed"),
        (lambda t: t.update(boards=[]), 'galaxy_file: unknown key "boards"'),
        (lambda t: t["board"][0].update(number=1.0), "number: must be a whole number"),
    ],
)  # fmt: skip
def test_g8_a_bad_galaxy_file_is_refused_by_name(change: Any, text: str) -> None:
    """The error says which board, side and space is wrong."""
    table = broken(change)
    players = 5 if "9 places" in text else 2
    with pytest.raises(OptionsError, match=text):
        GAME.check_options(players, Options(galaxy_file=table))


def test_g8_a_file_without_a_fitting_deal_is_refused() -> None:
    """Planets that no way leads to are found in 50 trial deals."""
    walls = [[1, -1], [0, -1], [-1, 0], [-1, 1], [0, 1], [1, 0]]
    table = {"board": boards_table()["board"]}
    table["board"][1] = {"number": 2, "A": {"planet": [[0, 0]], "obstacle": walls},
                         "B": {"planet": [[0, 0]], "obstacle": walls}}  # fmt: skip
    with pytest.raises(OptionsError, match="none of 50 deals with 2 players and pattern 'standard'"):
        GAME.check_options(2, Options(galaxy_file=table))


def test_c1_shape_of_the_deal() -> None:
    """With 4-5 players first the station's rotation; then board, side and rotation; boards only if basic."""
    state = GAME.initial(4, Options())
    assert GAME.chance(state) == (6,)
    state, _ = GAME.apply(state, (5,))
    assert GAME.chance(state) == ((1,) * 9, 2, 6)
    state, _ = GAME.apply(state, (3, 1, 2))
    assert GAME.chance(state) == ((1, 1, 1, 0, 1, 1, 1, 1, 1), 2, 6)
    state, events = GAME.apply(state, (8, 0, 0))
    assert events[0].data == {"event": "board", "place": 1, "board": 9, "side": "A", "rotation": 0}
    state = GAME.initial(2, Options(galaxy="basic"))
    assert GAME.chance(state) == ((1,) * 7,)
    state = GAME.initial(5, Options(galaxy="basic"))
    assert GAME.chance(state) == (6,), "the station's board is turned in both galaxies"
    assert GAME.chance(GAME.apply(state, (1,))[0]) == ((1,) * 9,)


def test_c3_spaces_are_numbered_by_row(tools: Tools) -> None:
    """Numbers ascend with r, then q, over every space, enterable or not."""
    spaces = GAME.setup(tools.at("first", stage="start"))["spaces"]
    order = [(space["r"], space["q"]) for space in spaces]
    assert order == sorted(order)
    assert len(spaces) == 152
    assert (spaces[135]["q"], spaces[135]["r"], spaces[135]["kind"]) == (0, 0, "station")
