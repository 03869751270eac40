"""Distances in a galaxy of captains, in energy, for the wormholes of one position after the other."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from warpleague.games.captains.geometry import Galaxy

Array = Any
Stacks = tuple[tuple[int, ...], ...]
FAR: Final = 99
TOLL: Final = 1
"""The cost of a step through another's wormhole, in energy."""


class Roads:
    """The energy from each space to each planet, by planet and space; and from planet to planet."""

    __slots__ = ("away", "between", "to")

    def __init__(self, galaxy: Galaxy, apart: Array) -> None:
        self.away = away = np.array([apart[:, beside].min(axis=1) for beside in besides(galaxy)])
        self.to: list[list[int]] = away.tolist()
        self.between: list[list[int]] = [away[:, beside].min(axis=1).tolist() for beside in besides(galaxy)]


@lru_cache(maxsize=8)
def besides(galaxy: Galaxy) -> tuple[list[int], ...]:
    """By planet the spaces beside it."""
    found: tuple[list[int], ...] = tuple([] for _ in galaxy.planets)
    for space, planet in enumerate(galaxy.beside_planet):
        if planet >= 0:
            found[planet].append(space)
    return found


@lru_cache(maxsize=8)
def on_foot(galaxy: Galaxy) -> Array:
    """The energy from each space to each other by moves and the cannon, without black holes."""
    count = len(galaxy.hexes)
    apart = np.full((count, count), FAR, np.int16)
    np.fill_diagonal(apart, 0)
    for space, free in enumerate(galaxy.free):
        for move in galaxy.careful_moves[space]:
            apart[space, move.to] = 0 if free >> move.to & 1 else 1
        for shot in galaxy.careful_shots[space]:
            apart[space, shot.to] = 0
    for by in range(count):
        apart = np.minimum(apart, apart[:, by, None] + apart[by])
    return apart


def with_wormhole(apart: Array, one: int, two: int, price: int) -> Array:
    """The distances with one more wormhole, which leads both ways."""
    there = np.int16(price)
    shorter = np.minimum(apart, apart[:, one, None] + (there + apart[two]))
    return np.minimum(shorter, shorter[:, two, None] + (there + shorter[one]))


@lru_cache(maxsize=512)
def apart_with(galaxy: Galaxy, stacks: Stacks, seat: int) -> Array:
    """The energy from each space to each other with the tokens of all owners; each stack is a whole number of pairs.

    Those of `seat` come last: a search tries out more of them, and each then takes one step from what is known.
    """
    for owner in (seat, *[owner for owner in range(len(stacks)) if owner != seat]):
        stack = stacks[owner]
        if stack:
            apart = apart_with(galaxy, (*stacks[:owner], stack[:-2], *stacks[owner + 1 :]), seat)
            one, two = stack[-2:]
            apart = with_wormhole(apart, one, two, 0 if owner == seat else TOLL)
            if owner == seat:
                for wild in galaxy.wilds.get(len(stack) // 2, ()):
                    apart = with_wormhole(apart, one, wild, 0)
            return apart
    return on_foot(galaxy)


@lru_cache(maxsize=512)
def roads(galaxy: Galaxy, stacks: Stacks, seat: int) -> Roads:
    """The roads of `seat` with the tokens of all owners; each stack is a whole number of pairs."""
    return Roads(galaxy, apart_with(galaxy, stacks, seat))
