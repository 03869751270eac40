"""Solves duels of coasters, and writes the table that the opponents of coasters play by.

A duel with one ship each has few positions: two poses, the hit points, and whose turn it is. Value iteration over all
dice and all ways to move gives the chance to win of each, for all 16 ways in which two coasters can lie.
Left out are turns with a swap between two parts of the movement. Takes some minutes:

    python scripts/solve_coasters.py
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any, Final

import numpy as np

import warpleague.opponents
from warpleague.games.coasters.geometry import Galaxy, galaxy

Array = Any

FAR: Final = 99
SWEEPS: Final = 10
"""Of value iteration, for each pair of hit points."""
PLACES: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""Where the other coaster lies, seen from the one of the seat to move; each in four rotations."""
TABLE: Final = Path(warpleague.opponents.__file__).parent / "coasters_duel.xz"
AIM, HOP, DIG, TIP, SWAP = range(5)


class Duel:
    """The tables of one arrangement of two coasters; poses and squares as in the engine.

    `value[seat][p, q]` is the worth for `seat` at pose p about to roll, the other ship at pose q.
    """

    def __init__(self, galaxy: Galaxy) -> None:
        self.galaxy = galaxy
        self.poses = len(galaxy.step)
        self.squares = self.poses // 4
        pose = np.arange(self.poses)
        self.hits = np.zeros((self.poses, self.squares), bool)
        for at in pose:
            for square in galaxy.line(int(at))[1]:
                self.hits[at, square] = True
        self.plain = [[self._ways(seat, square) for square in range(self.squares)] for seat in (0, 1)]
        self.flux = [
            [self._fluxed(self.plain[seat][square], square) for square in range(self.squares)]
            for seat in (0, 1)
        ]
        self.orders = [
            [
                [ranked(cost) for cost in (*self.flux[seat][square], self.plain[seat][square])]
                for square in range(self.squares)
            ]
            for seat in (0, 1)
        ]
        self.wins = {}
        for a in (1, 2, 3):
            for b in (1, 2, 3):
                p = a**1.5 / (a**1.5 + b**1.5)
                self.wins[a, b] = [
                    np.full((self.poses, self.poses), p, np.float32),
                    np.full((self.poses, self.poses), 1 - p, np.float32),
                ]

    def _ways(self, seat: int, enemy: int) -> Array:
        """The halves from each pose to each other, the enemy standing on a square."""
        galaxy, size = self.galaxy, self.poses
        cost = np.full((size, size), FAR, np.int16)
        turn = np.full((size, size), FAR, np.int16)
        for pose in range(size):
            square = pose >> 2
            price = 1 if square // 9 == seat else 2
            cost[pose, pose] = turn[pose, pose] = 0
            for way in (1, 3):
                cost[pose, pose & ~3 | (pose + way & 3)] = price
            onward = galaxy.step[pose]
            if onward >= 0 and onward >> 2 != enemy and square != enemy:
                cost[pose, onward] = 1 if (onward >> 2) // 9 == seat else 2
        for _ in range(4):
            cost = joined(cost, cost)
        return cost

    def _fluxed(self, plain: Array, enemy: int) -> Array:
        """By face (AIM, HOP, DIG, TIP): the halves from pose to pose with it."""
        galaxy, size = self.galaxy, self.poses
        aim = plain.reshape(size, -1, 4).min(axis=2).repeat(4, axis=1)
        hop = np.full_like(plain, FAR)
        dig = np.full_like(plain, FAR)
        for pose in range(size):
            for way in range(4):
                onward = galaxy.ahead[pose & ~3 | way]
                if onward >= 0 and onward >> 2 != enemy:
                    to = onward & ~3 | pose & 3
                    hop[:, to] = np.minimum(hop[:, to], plain[:, pose])
                    if way == pose & 3:
                        dig[:, to] = np.minimum(dig[:, to], plain[:, pose])
        found = [np.minimum(joined(start, plain), plain) for start in (aim, hop, dig)]
        same = np.arange(size)[:, None] >> 2 == np.arange(size)[None, :] >> 2
        return np.stack([*found, np.where(same, plain, FAR)])

    def ends(self, seat: int, hits: tuple[int, int]) -> Array:
        """The chance to win for `seat` that ends its turn at pose r, the enemy at pose q."""
        stay = 1 - self.wins[hits][1 - seat].T
        left = list(hits)
        left[1 - seat] -= 1
        struck = 1 - self.wins[left[0], left[1]][1 - seat].T if left[1 - seat] else np.float32(1)
        return np.maximum(stay, np.where(self.hits.repeat(4, axis=1), struck, stay))

    def sweep(self, seat: int, hits: tuple[int, int]) -> None:
        """Value iteration for all positions in which `seat` is about to roll."""
        ends = self.ends(seat, hits)
        size = self.poses
        value = np.full((size, size), -9, np.float32)
        for square in range(self.squares):
            four = slice(4 * square, 4 * square + 4)
            best = self.best(seat, square, ends)  # face, d6, p, g
            faces = best[:5]
            wild = faces[[AIM, HOP, DIG, SWAP]].max(axis=0)
            total = (faces.sum(axis=0) + wild).sum(axis=0) / 36
            value[:, four] = total
        self.wins[hits][seat] = value

    def best(self, seat: int, square: int, ends: Array) -> Array:
        """By face, d6 and pose, and the facing of the enemy on `square`: the best end of the turn."""
        size = self.poses
        four = slice(4 * square, 4 * square + 4)
        out = np.full((5, 6, size, 4), -9, np.float32)
        goal = ends[:, four]  # r, g
        orders = self.orders[seat]
        for face in (AIM, HOP, DIG, TIP, SWAP):
            self._within(orders[square][face], goal, out[face])
        # Swap at once, then move; or move, then swap.
        for at in range(self.squares):
            if at == square:
                continue
            rows = slice(4 * at, 4 * at + 4)
            order, counts = orders[at][SWAP]
            self._within((order[four], counts[:, four]), ends[:, rows], out[SWAP][:, rows])
        final = np.empty(
            (size, 4), np.float32
        )  # move to m, then swap: the own ship on `square`, the enemy on m's
        for pose in range(size):
            final[pose] = ends[4 * square + (pose & 3), pose & ~3 : (pose & ~3) + 4]
        self._within(orders[square][SWAP], final, out[SWAP])
        return out

    @staticmethod
    def _within(ways: tuple[Array, Array], goal: Array, out: Array) -> None:
        """Raise `out[d]` to the best goal within d + 1 pips; goal is (r, g), out (d, p, g)."""
        order, counts = ways
        best = np.maximum.accumulate(goal[order], axis=1)  # p, the n cheapest, g
        for d in range(6):
            np.maximum(out[d], best[np.arange(len(order)), counts[d]], out=out[d])


def ranked(cost: Array) -> tuple[Array, Array]:
    """For each pose its ends, the cheapest first, and by d6 the last of them that it pays for."""
    order = np.argsort(cost, axis=1, kind="stable")
    counts = np.stack([(cost <= 2 * (d + 1)).sum(axis=1) - 1 for d in range(6)])
    return order, counts


def joined(first: Array, second: Array) -> Array:
    """The cheapest ways of two parts: the product of matrices with min and plus."""
    return np.minimum((first[:, :, None] + second[None]).min(axis=1), FAR).astype(np.int16)


def main() -> None:
    """Solve all duels; the table holds the chances in 255ths, by galaxy, hit points, pose to move, other pose."""
    table = np.zeros((16, 3, 3, 72, 72), np.uint8)
    for number in range(16):
        duel = Duel(galaxy(((0, 0, 0), (*PLACES[number // 4], number % 4))))
        for total in range(2, 7):
            for mine in range(max(1, total - 3), min(3, total - 1) + 1):
                for _ in range(SWEEPS):
                    duel.sweep(0, (mine, total - mine))
                    duel.sweep(1, (mine, total - mine))
                chances = duel.wins[mine, total - mine][0]
                table[number, mine - 1, total - mine - 1] = np.rint(255 * np.clip(chances, 0, 1))
        print(f"{number + 1} of 16", flush=True)
    TABLE.write_bytes(lzma.compress(table.tobytes(), preset=9))


if __name__ == "__main__":
    main()
