"""Plays coasters: looks at every way to play its turn, and values where each of them ends.

The strongest level knows the solved duels of one ship each. Else the values come from how likely
enemies hit each square in their next turns, and how likely a shot of its own is.
"""

from __future__ import annotations

import lzma
from contextlib import suppress
from functools import cache, lru_cache
from heapq import heappop, heappush
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from warpleague.games.coasters import GAME
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import (
    CENTRE,
    END,
    FACINGS,
    FIRE,
    Choose,
    Claim,
    Deploy,
    End,
    Fire,
    Galaxy,
    Invoke,
    Lay,
    Swap,
    SwapSystems,
    Systems,
    galaxy,
    square_at,
)
from warpleague.games.coasters.rules import legal, torpedo
from warpleague.games.values import replaced
from warpleague.opponents.player import Player, Skill
from warpline.budget import Budget, OverBudget
from warpline.client import Match, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpleague.games.coasters.state import State


# -- the solved duels ------------------------------------------------------------------------------------
#
# The chance to win of every position with one ship each. `coasters_duel.xz` has a byte for each: the chance of the
# seat to move in 255ths. The bytes are ordered by galaxy, its hit points, the other's, its pose, the other's.
# `scripts/solve_coasters.py` makes the file. Galaxies and poses are those of the engine, turned and shifted so that
# the coaster of the seat to move lies at the origin as in rotation 0.

PLACES: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""Where the other coaster may lie: its number is 4 x this place + its rotation."""
POSES: Final = 72


@cache
def unpack() -> bytes:
    """The bytes of the file, which are unpacked once."""
    return lzma.decompress(files("warpleague.opponents").joinpath("coasters_duel.xz").read_bytes())


class Solved:
    """The chances in one galaxy of two coasters."""

    def __init__(self, systems: Systems) -> None:
        self._views = [_seen_from(systems, seat) for seat in (0, 1)]

        self._first: tuple[float, ...] = ()

    def first_chances(self) -> tuple[float, ...]:
        """For each pose of seat 0 on its coaster the chance of seat 0 if the other answers it as well as possible."""
        if not self._first:
            whole = (3, 3)
            self._first = tuple(
                min(self.chance(0, (pose, other), whole) for other in range(36, POSES)) for pose in range(36)
            )
        return self._first

    def chance(self, seat: int, ships: tuple[int, ...], hits: tuple[int, ...]) -> float:
        """The chance to win of `seat`, which rolls next."""
        number, poses = self._views[seat]
        mine, theirs = poses[ships[seat]], poses[ships[1 - seat]]
        at = ((number * 3 + hits[seat] - 1) * 3 + hits[1 - seat] - 1) * POSES + mine
        return unpack()[at * POSES + theirs] / 255


@lru_cache(maxsize=64)
def solution(systems: Systems) -> Solved:
    """The solution of the galaxy with these two coasters."""
    return Solved(systems)


def _seen_from(systems: Systems, seat: int) -> tuple[int, list[int]]:
    """The galaxy's number, and for each pose its number there."""
    mine, theirs = systems[seat], systems[1 - seat]
    assert mine is not None
    assert theirs is not None
    back = -mine[2] % 4
    x, y = theirs[0] - mine[0], theirs[1] - mine[1]
    for _ in range(back):
        x, y = -y, x
    number = 4 * PLACES.index((x, y)) + (theirs[2] + back) % 4
    poses = []
    for pose in range(POSES):
        square, way = divmod(pose, 4)
        colour, inner = divmod(square, 9)
        row, column = divmod(inner, 3)
        for _ in range(back):
            row, column = column, 2 - row
        first = 0 if colour == seat else 9
        poses.append(4 * (first + 3 * row + column) + (way + back) % 4)
    return number, poses


# -- any table -------------------------------------------------------------------------------------------

MAX: Final = 12
"""Halves: nobody moves further in a turn."""
FAR: Final = 24
SWAPPED: Final = 4
"""With more ships than these no swap is thought of."""
CAUTION_BESIDE_MANY: Final = 3.0
"""How much more danger counts at tables of more than two seats."""
SHOT_BESIDE_MANY: Final = 0.5
"""The worth of a hit there: it helps all others as much as the one who shoots."""
LOOKED_AT: Final = 12
"""Ends of a turn whose next shots are worked out."""


def ends(state: State) -> Iterator[tuple[State, list[Any]]]:
    """Each position within the turn that the seat can get to, with the actions that lead there.

    Without talk, claims and swaps of systems, and at large tables without swaps of ships, which lead to too many
    positions. Of two ways to the same place only the one that leaves more movement.
    """
    left_out = (*_ENDING, Swap) if len(state.ships) > SWAPPED else _ENDING
    best: dict[Any, int] = {}
    heap: list[tuple[int, int, int, State, list[Any]]] = [(0, 0, 0, state, [])]
    count = 0
    start = state.halves
    while heap:
        _, length, _, here, plan = heappop(heap)
        key = (here.ships, here.fluxed, here.table.galaxy)
        if key in best:
            continue
        best[key] = here.halves
        yield here, plan
        for action in legal(here, here.seat):
            if type(action) in left_out:
                continue
            after = GAME.push(GAME.copied(here), action, None)
            if (after.ships, after.fluxed, after.table.galaxy) not in best:
                count += 1
                heappush(heap, (start - after.halves, length + 1, count, after, [*plan, action]))


_ENDING: Final = (End, Fire, Invoke, Claim, SwapSystems)


def chance(cost: int) -> float:
    """How likely a d6 gives at least `cost` halves."""
    return max(0, 6 - max(0, -(-cost // 2) - 1)) / 6


class Table:
    """The worth of a position at any table, seen from one seat at the end of its turn."""

    def __init__(self, state: State, seat: int, budget: Budget) -> None:
        """`OverBudget` from any of its answers once the `budget` is used up."""
        self.state, self.seat, self.budget = state, seat, budget
        self.players = state.table.config.players
        self.known: dict[Any, Any] = {}

    def reach(self, galaxy: Galaxy, colour: int, start: int, occupied: int) -> dict[int, int]:
        """The halves to each pose that the ship `colour` gets to by movement alone, by pose."""
        key = (colour, start, occupied, galaxy)
        if key not in self.known:
            self.budget.check()
            config = self.state.table.config
            owner = colour % self.players
            double = config.homes[1 << owner]
            warps = (double | config.homes[~self.state.table.alive & len(config.homes) - 1]) & galaxy.laid
            costs: dict[int, int] = {}
            heap = [(0, start)]
            while heap:
                cost, pose = heappop(heap)
                if pose in costs or cost > MAX:
                    continue
                costs[pose] = cost
                square = pose >> 2
                price = cost + (1 if double >> square // 9 & 1 else 2)
                heappush(heap, (price, pose & ~3 | pose + 1 & 3))
                heappush(heap, (price, pose & ~3 | pose + 3 & 3))
                onward = galaxy.step[pose]
                if onward >= 0 and not occupied >> (onward >> 2) & 1:
                    heappush(heap, (cost + (1 if double >> (onward >> 2) // 9 & 1 else 2), onward))
                if square % 9 == CENTRE and warps >> square // 9 & 1:
                    for other in range(config.ships):
                        centre = 9 * other + CENTRE
                        if warps >> other & 1 and not occupied >> centre & 1:
                            heappush(heap, (cost + 1, 4 * centre + (pose & 3)))
            self.known[key] = costs
        found: dict[int, int] = self.known[key]
        return found

    def fire(self, galaxy: Galaxy, colour: int, start: int, occupied: int) -> dict[int, float]:
        """How likely the ship `colour` can shoot at each square in its next turn; others stand on `occupied`."""
        key = ("fire", colour, start, occupied, galaxy)
        if key not in self.known:
            self.budget.check()
            plain: dict[int, int] = {}
            aimed: dict[int, int] = {}
            for pose, cost in self.reach(galaxy, colour, start, occupied).items():
                for way in range(4):
                    for square in galaxy.line(pose & ~3 | way)[1]:
                        if cost < aimed.get(square, FAR):
                            aimed[square] = cost
                        if way == pose & 3 and cost < plain.get(square, FAR):
                            plain[square] = cost
                        if occupied >> square & 1:
                            break
            self.known[key] = {
                square: (2 * chance(plain.get(square, FAR)) + chance(cost)) / 3
                for square, cost in aimed.items()
            }
        found: dict[int, float] = self.known[key]
        return found

    def danger(self, galaxy: Galaxy, ships: tuple[int, ...], hits: tuple[int, ...], own: int) -> float:
        """How much the enemies threaten the ship `own`."""
        square = ships[own] >> 2
        bare = standing(ships) & ~(1 << square)
        danger = 0.0
        for colour, pose in enumerate(ships):
            if pose >= 0 and colour % self.players != self.seat:
                danger += self.fire(galaxy, colour, pose, bare & ~(1 << (pose >> 2))).get(square, 0.0)
        # Who is ever more careful circles for ever.
        caution = max(0.1, 1 - self.state.table.round / 40)
        if self.players > 2:
            caution *= CAUTION_BESIDE_MANY
        return caution * danger * (1 + 3 / hits[own]) / 2

    def shot(self, galaxy: Galaxy, ships: tuple[int, ...], own: int) -> float:
        """How likely the ship `own` can shoot at an enemy in its next turn, at the one that is nearest to it."""
        shots = self.fire(galaxy, own, ships[own], standing(ships) & ~(1 << (ships[own] >> 2)))
        enemies = [pose for colour, pose in enumerate(ships) if colour % self.players != self.seat]
        return max((shots.get(pose >> 2, 0.0) for pose in enemies if pose >= 0), default=0.0)

    def safety(self, here: State, hit: int) -> float:
        """The worth of a shot that hits `hit` (-1: none), and of standing here afterwards."""
        hits, ships = here.table.hits, here.ships
        total = 0.0
        if hit >= 0:
            total += 4.0 + (6.0 if hits[hit] == 1 else 0.0) + (3 - hits[hit]) / 2
            if self.players > 2:
                total *= SHOT_BESIDE_MANY
            if hits[hit] == 1:
                ships = replaced(ships, hit, st.NONE)
        for own in range(self.seat, len(ships), self.players):
            if ships[own] >= 0:
                total -= self.danger(here.table.galaxy, ships, hits, own)
        return total


def standing(ships: tuple[int, ...]) -> int:
    """The set of squares that ships stand on."""
    occupied = 0
    for pose in ships:
        if pose >= 0:
            occupied |= 1 << (pose >> 2)
    return occupied


class Coasters(Player):
    """A player of coasters. With an `effort` of 0 it does not know the solved duels."""

    skills = (
        Skill(0.75, slips_beside_many=0.93),
        Skill(0.45, slips_beside_many=0.8),
        Skill(0.1, slips_beside_many=0.5),
        Skill(0.0, effort=1),
    )

    def __init__(self, match: Match, skill: Skill) -> None:
        super().__init__(match, skill)
        if skill.effort and len(match.players) == 2:
            unpack()  # before the match: it takes as long as several decisions

    def choose(self, question: Question, state: State, legal: Sequence[Any]) -> int | dict[str, Any] | Reply:
        """Index or plan, by what is asked; in a solved duel with the chance to win."""
        ask = question.ask
        if ask == "turn":
            return self.turn(state)
        if ask == "claim":  # share the victory when others have more hit points left
            hits = state.table.hits
            players = state.table.config.players
            strength = [sum(hits[seat::players]) for seat in range(players)]
            return int(strength[self.seat] < max(strength))
        if ask == "ally":
            return 0
        worth: Any = {"lay": self.lay, "deploy": self.deploy, "colour": self.colour}[ask]
        worths: list[float] = []
        with suppress(OverBudget):  # then those looked at so far decide
            for action in legal:
                worths.append(worth(state, action))  # noqa: PERF401 - keeps what it has when it is stopped
        best = max(range(len(worths)), key=worths.__getitem__, default=0)
        solved = False
        if ask == "deploy":
            solved = self.solved(state, state.table.systems) is not None
        elif ask == "lay":
            solved = self.solved(state, laid(state, legal[best])) is not None
        return Reply(best, value=worths[best] if solved and worths else None)

    def solved(self, state: State, systems: Systems) -> Solved | None:
        """The solution of this galaxy, if it is a duel that is solved and known to this player."""
        config = state.table.config
        options = config.options
        if (
            None in systems
            or not self.skill.effort
            or config.ships != 2
            or options.system_swap
            or options.wild_shot
        ):
            return None
        return solution(systems)

    def lay(self, state: State, action: Lay) -> float:
        """The chance to win if the ships are put down as well as possible; at random where no duel is solved."""
        solved = self.solved(state, laid(state, action))
        if solved is None:
            return self.rng.random()
        self.budget.check()
        return 1 - max(solved.first_chances())

    def deploy(self, state: State, action: Deploy) -> float:
        """The worth of putting the ship there."""
        table = state.table
        board = galaxy(table.systems)
        pose = 4 * square_at(table.systems, *action.at) + FACINGS.index(action.facing)
        ships = replaced(state.ships, state.colour, pose)
        solved = self.solved(state, table.systems)
        if solved is None:
            looks = Table(state, self.seat, self.budget)
            danger = looks.danger(board, ships, table.hits, state.colour)
            return 0.3 * looks.shot(board, ships, state.colour) - danger
        if self.seat:
            return 1 - solved.chance(0, ships, table.hits)
        return solved.first_chances()[pose - 36 * state.colour]

    def colour(self, state: State, action: Choose) -> float:
        """How good a shot the ship has."""
        table = state.table
        return Table(state, self.seat, self.budget).shot(table.galaxy, state.ships, action.colour)

    def turn(self, state: State) -> Reply:
        """The best way to play the turn."""
        solved = self.solved(state, state.table.systems)
        table = Table(state, self.seat, self.budget)
        found: list[tuple[float, int, State, list[Any]]] = []
        try:
            for here, plan in ends(state):
                self.budget.check()
                for last, struck in self.lasts(here):
                    worth = table.safety(here, struck) if solved is None else duel_worth(solved, here, struck)
                    found.append((worth - len(plan) / 10_000, -len(found), here, [*plan, last]))
        except OverBudget:
            if not found:
                return self.plan([self.lasts(state)[-1][0]])
        found.sort(key=lambda one: one[:2], reverse=True)
        if solved is not None:
            best = self.plan(found[0][3])
            best.value = max(0.0, found[0][0])  # from 0: long ways count a little less
            return best

        def whole(one: tuple[float, int, State, list[Any]]) -> float:
            here = one[2]
            return one[0] + 1.2 * table.shot(here.table.galaxy, here.ships, here.colour)

        try:
            return self.plan(max(found[:LOOKED_AT], key=whole)[3])
        except OverBudget:
            return self.plan(found[0][3])

    def lasts(self, here: State) -> list[tuple[Any, int]]:
        """The ways to end the turn here, and whom each hits (-1: nobody); a shot at an enemy comes last."""
        hit = torpedo(here)[2]
        ways: list[tuple[Any, int]] = [(END, -1)]
        if hit >= 0 and hit % here.table.config.players != self.seat:
            ways.append((FIRE, hit))
        return ways


def laid(state: State, action: Lay) -> Systems:
    """The systems once this one is laid; those still to come are None."""
    return replaced(state.table.systems, state.colour, (*action.at, action.rotation))


def duel_worth(solved: Solved, here: State, hit: int) -> float:
    """The chance to win when the turn ends here, with the ship `hit` hit (-1: none)."""
    hits = here.table.hits
    if hit >= 0:
        if hits[hit] == 1:
            return 1.0
        hits = replaced(hits, hit, hits[hit] - 1)
    return 1 - solved.chance(1 - here.seat, here.ships, hits)


OPPONENT = Coasters
