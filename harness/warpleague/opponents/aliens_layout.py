"""How far ships of aliens are from an enemy base, and where to lay a wormhole.

`Layouts` lays the rest of both sides in several ways, and compares the ends.

The hope of a ship on a square is E[PATIENCE ** turns to an enemy base]. In games between quick players on 1200 layouts
the hopes from the bases told nine tenths of what can be known about who wins, as log-odds of each side.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from warpleague.games.aliens.geometry import AXES, COINS, COUNT, HOME, STARTS, TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from warpline.budget import Budget


# -- how many turns ships are from an enemy base ---------------------------------------------------------

Array = Any

FAR: Final = 10.0
FIELD_SWEEPS: Final = 12
"""Of value iteration, from the field before."""
FIRST_FIELD_SWEEPS: Final = 40


def _ends() -> Array:
    """By square, die from 1 to 5, and a number up to 8: where a ship can end; the square itself if nowhere else."""
    ends = np.zeros((COUNT, 5, 8), np.int64)
    for square in range(COUNT):
        for die in range(1, 6):
            found = [TARGET[(square * 6 + die) * 8 + way] for way in range(8)]
            found = [end for end in found if end >= 0] or [square]
            ends[square, die - 1] = (found * 8)[:8]
    return ends


ENDS: Final = _ends()
GOALS: Final = tuple(np.array([home == 1 - side for home in HOME]) for side in (0, 1))
"""By side: the squares that it wants to land on."""


def jumps(diagonals: str, coin: int, square: int) -> list[int]:
    """Where the wormhole `coin` on a square leads."""
    if coin % 6 == 0:
        return []
    ends = [TARGET[(square * 6 + coin % 6) * 8 + way] for way in AXES[diagonals][coin // 6]]
    return [end for end in ends if end >= 0]


class Field:
    """The turns of a lone ship, for each side and square; `holes` are (square, coins that may lie there)."""

    def __init__(
        self, diagonals: str, holes: Sequence[tuple[int, Sequence[int]]] = (), before: Field | None = None
    ) -> None:
        self.diagonals = diagonals
        self.leads = [
            (square, [(jumps(diagonals, coin, square), coin % 6 == 0) for coin in coins])
            for square, coins in holes
        ]
        goals = [np.where(goal, 0.0, FAR).astype(np.float32) for goal in GOALS]
        start = goals if before is None else before.fields
        sweeps = FIRST_FIELD_SWEEPS if before is None else FIELD_SWEEPS
        self.fields: list[Array] = [self._iterate(side, start[side], sweeps) for side in (0, 1)]
        self.turns: list[list[float]] = [field.tolist() for field in self.fields]
        self.landing: list[list[float]] = [self._landing(field).tolist() for field in self.fields]

    def _landing(self, turns: Array) -> Array:
        """The turns after landing on each square by a die, where a wormhole may lie."""
        landing = turns.copy()
        for square, leads in self.leads:
            total = 0.0
            for ends, null in leads:
                total = total + (turns[ends].min() if ends else turns[square] + null)
            landing[square] = total / len(leads)
        return landing

    def _iterate(self, side: int, turns: Array, sweeps: int) -> Array:
        """Value iteration: a turn, and then the mean over the die of the best square it leads to."""
        for _ in range(sweeps):
            landing = self._landing(turns)
            turns = 1 + (landing + landing[ENDS].min(axis=-1).sum(axis=-1)) / 6
            turns[GOALS[side]] = 0
        return turns

    def saving(self, side: int, coin: int, square: int) -> float:
        """Roughly what a wormhole is worth to a side: turns saved on its square, weighed against those to go."""
        turns = self.turns[side]
        ends = jumps(self.diagonals, coin, square)
        if not ends:
            return -1.0 if coin % 6 == 0 else 0.0
        return float((turns[square] - min(turns[end] for end in ends)) / max(turns[square], 1.0) ** 0.5)


# -- where to lay a wormhole -----------------------------------------------------------------------------

Holes = tuple[tuple[int, tuple[int, ...]], ...]
"""(square, coins that may lie there) for every wormhole on the board."""

PATIENCE: Final = 0.8
"""The worth of a win one turn later."""
SWEEPS: Final = 25
"""Of value iteration, for the wormholes that lie."""
LATER_SWEEPS: Final = 15
"""For layouts played on."""
LOOKED_AT: Final = 30
"""Placements whose gain is worked out; others only roughly."""
COMPARED: Final = 20
"""Placements from which the set-up is played on."""
WORLDS: Final = 16
"""Ways to play it on."""
PLAYING: Final = 0.4
"""The part of the time for a decision that this may take: to value the ends takes as long again."""
NOW: Final = 0.4
"""The weight of the gain at once beside the end of the set-up: who denies finds other squares."""
LIKING: Final = 6.0
"""How surely the enemy lays the coin that a square suits best; 0 is not at all."""
ENEMY_USE: Final = 0.6
"""The loss that the enemy is thought to see that its wormhole is of use to us."""
WHIMS: Final = (0.025, 0.25)
"""The deviations of our choices and the enemy's, when played on."""


def _comers() -> Array:
    """By square, and a number: square * 5 + die - 1 of a roll that reaches it; else 5 * COUNT."""
    found: list[list[int]] = [[] for _ in range(COUNT)]
    for roll, ends in enumerate(ENDS.reshape(-1, 8)):
        for end in set(ends.tolist()):
            found[end].append(roll)
    most = max(map(len, found))
    return np.array([rolls + [5 * COUNT] * (most - len(rolls)) for rolls in found])


_COMERS: Final = _comers()
_BASES: Final = tuple(np.array(STARTS[2 * side : 2 * side + 2]) for side in (0, 1))


class Layouts:
    """The choice of placements with the options of one match."""

    def __init__(self, diagonals: str, both: bool) -> None:
        """`both`: both ships must be on enemy bases to win."""
        self.both = both
        self.leads = np.array(
            [
                [((jumps(diagonals, coin, square) or [square]) * 2)[:2] for square in range(COUNT)]
                for coin in range(COINS)
            ]
        )
        self.keeps = np.where(np.arange(COINS) % 6, 1.0, PATIENCE).astype(np.float32)
        goals = [goal[:, None].astype(np.float32) for goal in GOALS]
        self.plain = [self.hopes(side, goals[side], 60, None, None) for side in (0, 1)]
        saved = []
        for turns in map(np.array, Field(diagonals).turns):
            saving = (turns - turns[self.leads].min(axis=-1)) / np.maximum(turns, 1) ** 0.5
            saving[::6] = -1 / np.maximum(turns, 1)
            saved.append(saving)
        self.saved = saved
        self.likes = [saved[side] - ENEMY_USE * saved[1 - side] for side in (0, 1)]

    def place(
        self, seat: int, holes: Holes, spots: Sequence[tuple[int, int]], rng: Random, budget: Budget
    ) -> int:
        """The index of the best of `spots`, which are (coin, square); a rougher choice once `budget` is used up."""
        draw = np.random.default_rng(rng.getrandbits(64))
        lying = self.holes_as_arrays(holes)
        hopes = [self.hopes(side, self.plain[side], SWEEPS, lying, None) for side in (0, 1)]
        if budget.over(PLAYING):
            return max(range(len(spots)), key=lambda number: self.likes[seat][spots[number]])
        rough = [self._rough_gains(side, hopes[side][:, 0], lying) for side in (0, 1)]
        gains = rough[seat] - rough[1 - seat]
        every = np.array(spots)
        order = np.argsort(-gains[every[:, 0], every[:, 1]], kind="stable")[:LOOKED_AT]
        if budget.over(PLAYING):
            return int(order[0])
        tried = every[order]
        start = [hopes[side].repeat(len(tried), axis=1) for side in (0, 1)]
        one_more = self.placed(tried[None])
        odds = [self._odds(side, self.hopes(side, start[side], 8, lying, one_more)) for side in (0, 1)]
        now = odds[seat] - odds[1 - seat]
        best = np.argsort(-now, kind="stable")[:COMPARED]
        tried, now, order = tried[best], now[best], order[best]
        ends = self.play_on(seat, holes, tried, gains, draw, budget)
        if ends is None:
            return int(order[0])
        lain = self.placed(ends)
        start = [self.plain[side].repeat(ends.shape[1], axis=1) for side in (0, 1)]
        odds = [self._odds(side, self.hopes(side, start[side], LATER_SWEEPS, None, lain)) for side in (0, 1)]
        later = (odds[seat] - odds[1 - seat]).reshape(-1, len(tried)).mean(axis=0)
        return int(order[np.argmax(later + NOW * now)])

    # -- what a layout is worth ----------------------------------------------------------------------------

    def holes_as_arrays(self, holes: Holes) -> tuple[Array, Array, Array, Array] | None:
        """The wormholes as arrays: squares, where each starts in the rest, where its coins lead, and their weights."""
        if not holes:
            return None
        coins = np.array([coin for _, some in holes for coin in some])
        where = np.array([square for square, some in holes for _ in some])
        weights = np.array([1 / len(some) for _, some in holes for _ in some]) * self.keeps[coins]
        starts = np.cumsum([0] + [len(some) for _, some in holes[:-1]])
        squares = np.array([square for square, _ in holes])
        return squares, starts, self.leads[coins, where].T, weights[:, None].astype(np.float32)

    def placed(self, placements: Array) -> tuple[Array, Array, Array]:
        """(coin, square) by number and layout, as arrays: squares, where they lead, and weights."""
        coins, squares = placements[..., 0], placements[..., 1]
        return squares, np.moveaxis(self.leads[coins, squares], -1, 0), self.keeps[coins]

    def _landing(self, hopes: Array, lying: Any, lain: Any) -> Array:
        """The hopes after landing by a die."""
        landing = hopes.copy()
        if lying is not None:
            squares, starts, (one, two), weights = lying
            landing[squares] = np.add.reduceat(np.maximum(hopes[one], hopes[two]) * weights, starts, axis=0)
        if lain is not None:
            squares, (one, two), weights = lain
            layouts = np.arange(hopes.shape[1])
            landing[squares, layouts] = np.maximum(hopes[one, layouts], hopes[two, layouts]) * weights
        return landing

    def hopes(self, side: int, hopes: Array, sweeps: int, lying: Any, lain: Any) -> Array:
        """Value iteration, by square and layout: `lying` lies in every layout, `lain` only in its own."""
        for _ in range(sweeps):
            landing = self._landing(hopes, lying, lain)
            total = landing.copy()
            for die in range(5):
                best = landing[ENDS[:, die, 0]]
                for way in range(1, 8):
                    np.maximum(best, landing[ENDS[:, die, way]], out=best)
                total += best
            hopes = total * np.float32(PATIENCE / 6)
            hopes[GOALS[side]] = 1
        return hopes

    def _odds(self, side: int, hopes: Array) -> Array:
        """The log-odds that a side is there in time, of each layout."""
        one, two = hopes[_BASES[side]]
        share = one * two if self.both else 1 - (1 - one) * (1 - two)
        return np.log(share / (1 - share))

    def _rough_gains(self, side: int, hopes: Array, lying: Any) -> Array:
        """By coin and square, roughly what a wormhole adds to the log-odds: by how often ships come by."""
        landing = self._landing(hopes[:, None], lying, None)[:, 0]
        leads = np.eye(COUNT, dtype=np.float32)  # by square: where a ship is after landing there
        if lying is not None:
            squares, starts, ends, weights = lying
            taken = np.where(hopes[ends[0]] >= hopes[ends[1]], ends[0], ends[1])
            leads[squares] = np.add.reduceat(leads[taken] * weights, starts, axis=0)
        rolled = np.take_along_axis(ENDS, landing[ENDS].argmax(axis=-1)[..., None], axis=-1)[..., 0]
        step = (leads + leads[rolled].sum(axis=1)) * np.float32(PATIENCE / 6)
        step[GOALS[side]] = 0
        one, two = hopes[_BASES[side]]
        share = one * two if self.both else 1 - (1 - one) * (1 - two)
        here = np.zeros(COUNT, np.float32)
        here[_BASES[side]] = (two, one) if self.both else (1 - two, 1 - one)
        here /= share * (1 - share)
        visits = here.copy()
        for _ in range(14):
            here = (here[:, None] * step).sum(axis=0)
            visits += here
        visits[GOALS[side]] = 0
        visits *= np.float32(PATIENCE / 6)
        after = hopes[self.leads].max(axis=-1) * self.keeps[:, None]
        best = np.append(landing[ENDS].max(axis=-1).ravel(), 9.0).astype(np.float32)
        often = np.append(visits.repeat(5), 0).astype(np.float32)
        more = (np.maximum(after[..., None] - best[_COMERS], 0) * often[_COMERS]).sum(axis=-1)
        # Who would land here loses less than all: there may be a second best square.
        bound = np.where(best[_COMERS] <= landing[:, None] + 1e-6, often[_COMERS], 0).sum(axis=-1)
        change = after - landing
        return np.where(change > 0, more, 0.3 * bound * change) + visits * change

    # -- playing the set-up on -----------------------------------------------------------------------------

    def play_on(
        self, seat: int, holes: Holes, tried: Array, gains: Array, draw: Any, budget: Budget
    ) -> Array | None:
        """(coin, square) by number and layout: each world with each of `tried`, and then laid to the end.

        None if there is no time for a single world.
        """
        enemy = 1 - seat
        ours = [(coins[0], square) for square, coins in holes if coins[0] // 12 == seat]
        taken = {square for square, _ in holes}
        free = [square for square in range(COUNT) if HOME[square] < 0 and square not in taken]
        own = self.saved[seat][12 * seat : 12 * seat + 12].max(axis=0)
        layouts = []
        for world in range(WORLDS):
            if budget.over(PLAYING):
                break
            lying = [*ours, *self.dealt(enemy, holes, draw)]
            used = {coin for coin, _ in lying}
            left = [
                [coin for coin in range(12 * side, 12 * side + 12) if coin not in used] for side in (0, 1)
            ]
            denial = 0.5 + int(draw.random() * 2)
            theirs = -gains if world % 2 else self.likes[enemy] + denial * own
            wanted = [theirs, theirs]
            wanted[seat] = gains
            choices = [_choices(wanted[side], left[side], free, WHIMS[side != seat], draw) for side in (0, 1)]
            layouts += [_finished(lying, (int(coin), int(square)), enemy, choices) for coin, square in tried]
        return np.array(layouts).swapaxes(0, 1) if layouts else None

    def dealt(self, side: int, holes: Holes, draw: Any) -> list[tuple[int, int]]:
        """(coin, square) of what `side` has laid; values that are not known are those that it likes there."""
        dealt = []
        for suit in (2 * side, 2 * side + 1):
            some = [(square, coins) for square, coins in holes if coins[0] // 6 == suit]
            dealt += [(coins[0], square) for square, coins in some if len(coins) == 1]
            hidden = [square for square, coins in some if len(coins) > 1]
            if hidden:
                coins = next(coins for _, coins in some if len(coins) > 1)
                ways = np.array(list(permutations(coins, len(hidden))))
                likes = LIKING * self.likes[side][ways, np.array(hidden)].sum(axis=1)
                chances = np.exp(likes - likes.max()).cumsum()
                way = ways[min(np.searchsorted(chances, draw.random() * chances[-1]), len(ways) - 1)]
                dealt += [(int(coin), square) for coin, square in zip(way, hidden, strict=True)]
        return dealt


def _choices(
    wanted: Array, coins: list[int], free: list[int], whim: float, draw: Any
) -> list[tuple[int, int]]:
    """(coin, square), the most wanted first, with some whim."""
    if not coins:
        return []
    worth = wanted[np.array(coins)[:, None], np.array(free)]
    noise = draw.random((3, *worth.shape)).sum(axis=0) - 1.5
    first = np.argsort(-(worth + 2 * whim * noise).ravel(), kind="stable").tolist()
    return [(coins[number // len(free)], free[number % len(free)]) for number in first]


def _finished(
    lying: list[tuple[int, int]], first: tuple[int, int], then: int, choices: list[list[tuple[int, int]]]
) -> list[tuple[int, int]]:
    """The layout after `first`, when `then` goes on, and each takes the first of its choices that is left."""
    layout = [*lying, first]
    coins, squares = map(set, zip(*layout, strict=True))
    left = [iter(some) for some in choices]
    side = then
    while len(layout) < COINS:
        for coin, square in left[side]:
            if coin not in coins and square not in squares:
                layout.append((coin, square))
                coins.add(coin)
                squares.add(square)
                break
        side = 1 - side
    return layout
