"""The galaxy (G1 to G3, C2): the coaster's arrows, neighbours, and the tables against a plain walk over a map."""

from random import Random
from typing import Any

import pytest
from tests.games.coasters.conftest import Desk

from warpleague.games.api import CHANCE
from warpleague.games.coasters.geometry import (
    COASTER,
    DELTAS,
    FACINGS,
    Galaxy,
    arrow_letters,
    free_places,
    square_at,
)
from warpleague.games.playout import random_playout

OFFSETS = dict(zip(FACINGS, DELTAS, strict=True))


def quarter_turn(grid: Any) -> Any:
    """A coaster turned clockwise by hand: rows from the columns read upward, each arrow one facing further."""
    after = {"U": "R", "R": "D", "D": "L", "L": "U"}
    return [
        ["".join(after[way] for way in word) for word in column[::-1]] for column in zip(*grid, strict=True)
    ]


def plain_map(systems: Any) -> Any:
    """Square (x, y) -> letters of its arrows, built without the engine's tables."""
    squares = {}
    for x, y, rotation in systems:
        grid = [list(row) for row in COASTER]
        for _ in range(rotation):
            grid = quarter_turn(grid)
        for row in range(3):
            for column in range(3):
                squares[3 * x + column, 3 * y + row] = grid[row][column]
    return squares


def plain_flight(squares: Any, at: Any, way: str, wild: Any) -> Any:
    """T7 and V3 word by word: the squares entered, and how the torpedo ends if it meets no ship."""
    entered, been = [], {(at, way)}
    while True:
        if way in squares[at]:
            at = at[0] + OFFSETS[way][0], at[1] + OFFSETS[way][1]
            if at not in squares:
                return entered, "left"
            entered.append(at)
        elif wild:
            way = FACINGS[(FACINGS.index(way) + 1) % 4]
        else:
            return entered, "edge"
        if (at, way) in been:
            return entered, "loop"
        been.add((at, way))


def random_systems(rng: Random, count: int) -> Any:
    systems = []
    while len(systems) < count:
        place = rng.choice(free_places(tuple(systems)))
        systems.append((*place, rng.randrange(4)))
    return tuple(systems)


def test_g1_the_coaster_has_28_arrows_of_which_9_lead_outward() -> None:
    """The arrows lead outward at top 0 and 2, right 0 to 2, bottom 0 and 1, left 1 and 2; 19 stay inside."""
    grid = [list(row) for row in COASTER]
    assert sum(len(word) for row in grid for word in row) == 28
    outward = {
        "top": [column for column in range(3) if "U" in grid[0][column]],
        "right": [row for row in range(3) if "R" in grid[row][2]],
        "bottom": [column for column in range(3) if "D" in grid[2][column]],
        "left": [row for row in range(3) if "L" in grid[row][0]],
    }
    assert outward == {"top": [0, 2], "right": [0, 1, 2], "bottom": [0, 1], "left": [1, 2]}
    assert sum(map(len, outward.values())) == 9


@pytest.mark.parametrize("rotation", range(4))
def test_g1_a_rotation_turns_squares_and_arrows_clockwise(rotation: Any) -> None:
    """`setup.arrows` shows the coaster turned that often by 90 degrees clockwise."""
    grid = [list(row) for row in COASTER]
    for _ in range(rotation):
        grid = quarter_turn(grid)
    shown = arrow_letters(rotation)
    assert [[set(word) for word in row] for row in shown] == [[set(word) for word in row] for row in grid]


def test_g1_rotation_1_is_the_published_coaster_on_its_side() -> None:
    """One turn brings the left column, read upward, to the top row."""
    assert arrow_letters(1) == (("UDL", "URD", "RDL"), ("URDL", "RDL", "UDL"), ("URD", "RDL", "URD"))


def test_g2_the_tables_agree_with_a_plain_walk_over_the_map(rng: Random) -> None:
    """Steps, digs, hops, lines of fire and wild shots are what the words of the rules give, on random galaxies."""
    for _ in range(60):
        systems = random_systems(rng, rng.randint(1, 10))
        galaxy, squares = Galaxy(systems), plain_map(systems)
        for square, at in enumerate(galaxy.xy):
            assert square_at(systems, *at) == square
            beside = {}
            for facing, (dx, dy) in enumerate(DELTAS):
                pose, way = 4 * square + facing, FACINGS[facing]
                onward = at[0] + dx, at[1] + dy
                there = onward in squares
                if there:
                    beside[facing] = onward
                ahead, step = galaxy.ahead[pose], galaxy.step[pose]
                assert (galaxy.xy[ahead >> 2], ahead & 3) == (onward, facing) if there else ahead == -1
                assert step == (ahead if way in squares[at] else -1)
                for wild in (False, True):
                    mask, path, how = galaxy.wild_line(pose) if wild else galaxy.line(pose)
                    assert ([galaxy.xy[entered] for entered in path], how) == plain_flight(
                        squares, at, way, wild
                    )
                    assert mask == sum(1 << entered for entered in set(path))
            assert {way: galaxy.xy[target] for way, target in galaxy.hops[square]} == beside


def test_g3_c2_coasters_are_laid_in_seat_order_beside_each_other_then_ships_put_down(desk: Desk) -> None:
    """Seat 0 lays at the origin and begins; squares are three times the coaster grid; corners do not touch."""
    state = desk.game.initial(3, desk.game.Options())
    assert (desk.actor(state), desk.game.ask(state, 0)) == (0, "lay")
    assert desk.can(state) == ["lay 0 0 0", "lay 0 0 1", "lay 0 0 2", "lay 0 0 3"]
    state = desk.do(state, "lay 0 0 2")
    assert desk.actor(state) == 1
    assert len(desk.can(state)) == 4 * 4
    state = desk.do(state, "lay 0 1 3", "lay 1 1 0")
    assert (desk.actor(state), desk.game.ask(state, 0)) == (0, "deploy")
    places = [f"deploy {x} {y} {way}" for y in range(3) for x in range(3) for way in FACINGS]
    assert desk.can(state) == places
    state = desk.do(state, "deploy 0 1 R", "deploy 2 5 U")
    assert all(3 <= int(place.split()[1]) <= 5 <= int(place.split()[2]) + 2 for place in desk.can(state))
    state = desk.do(state, "deploy 3 3 L")
    assert desk.game.actors(state) == (-1,)
    assert desk.see(state)["seat"] == 0
    assert [desk.at(state, colour) for colour in range(3)] == ["0 1 R", "2 5 U", "3 3 L"]
    state = desk.do(desk.game.initial(3, desk.game.Options()), "lay 0 0 0", "lay 0 1 0", "lay -1 1 0")
    state = desk.do(state, "deploy 0 0 U", "deploy 0 3 U")
    assert desk.can(state)[0] == "deploy -3 3 U"
    assert desk.can(state)[-1] == "deploy -1 5 L"
    assert (1, 1) not in free_places(((0, 0, 0),))
    assert free_places(((0, 0, 0),)) == ((0, -1), (-1, 0), (1, 0), (0, 1))


def test_c1_c3_the_dice_of_a_turn_are_two_uniform_draws_below_six(desk: Desk) -> None:
    """The d6, minus one, then the flux die; each turn has an address of its own, of seat and round."""
    state = desk.position("0> . .   . . .\n . . .   . . .\n . . .   . . 1<", "0/0 1/0")
    assert desk.game.chance(state) == (6, 6)
    state, _ = desk.game.apply(state, (4, 3))
    assert (desk.see(state)["d6"], desk.see(state)["flux"], desk.see(state)["halves"]) == (5, "AIM", 10)
    match = random_playout(desk.game, 3, desk.game.Options(max_rounds=9), Random(2), keep=True)
    turns = [state for state in match.states if desk.game.actors(state) == (CHANCE,)]
    assert [desk.game.address(state) for state in turns[:4]] == [
        "seat 0 round 1", "seat 1 round 1", "seat 2 round 1", "seat 0 round 2",
    ]  # fmt: skip
    assert len({desk.game.address(state) for state in turns}) == len(turns) > 20
