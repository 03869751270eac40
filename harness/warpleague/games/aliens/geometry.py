"""The galaxy of aliens, its 92 squares, and the actions: one object for each, and which of them reach what.

Squares are numbered from 0 by y, then x; ships, suits and coins by the order Suns, Moons, Crowns, Arms, so that ship s
belongs to seat s >> 1, and coin c has suit c // 6, value c % 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.values import Cache, Interned

if TYPE_CHECKING:
    from collections.abc import Sequence

# aliens B1: the first and last x of each row of tiles, from y 1, 2 up to y 17, 18.
_ROWS: Final = ((7, 10), (5, 8), (3, 8), (1, 6), (3, 8), (5, 10), (3, 8), (3, 6), (1, 4))

SQUARES: Final = tuple(
    (x, y) for y in range(1, 19) for low, high in (_ROWS[(y - 1) // 2],) for x in range(low, high + 1)
)
"""The coordinates (x, y) of every square by its number."""

INDEX: Final = {square: number for number, square in enumerate(SQUARES)}
COUNT: Final = len(SQUARES)

WAYS: Final = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
COMPASS: Final = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
"""The ways in words."""
STEPS: Final = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))

SHIPS: Final = ("suns", "moons", "crowns", "arms")
"""Ships and suits have the same names."""

SIDES: Final = ("OrthogonAliens", "DiagonAliens")
COINS: Final = 24
"""Six values, 0 (null) to 5, of each suit (aliens B4)."""

STARTS: Final = tuple(INDEX[square] for square in ((10, 1), (10, 2), (1, 17), (1, 18)))
"""Where each ship starts: on a base of its side (aliens B2)."""

HOME: Final = tuple(STARTS.index(number) >> 1 if number in STARTS else -1 for number in range(COUNT))
"""The seat whose base a square is, or -1."""

AXES: Final = {"normal": ((0, 4), (2, 6), (1, 5), (3, 7)), "swapped": ((0, 4), (2, 6), (3, 7), (1, 5))}
"""For each value of the option `diagonals`, the two ways of each suit (aliens B3), in the order of `WAYS`."""


def _target(number: int, way: int, length: int) -> int:
    """The square `length` steps off, or -1 if a square on the way is missing (aliens T1)."""
    (x, y), (dx, dy) = SQUARES[number], STEPS[way]
    path = [INDEX.get((x + dx * step, y + dy * step), -1) for step in range(1, length + 1)]
    return -1 if -1 in path else path[-1]


TARGET: Final = tuple(
    _target(number, way, length) if length else -1
    for number in range(COUNT)
    for length in range(6)
    for way in range(8)
)
"""Where a move ends, -1 for nowhere, at index (square * 6 + length) * 8 + way."""


# -- actions -----------------------------------------------------------------------------------------------

Ship: TypeAlias = Literal["suns", "moons", "crowns", "arms"]
Way: TypeAlias = Literal["N", "NE", "E", "SE", "S", "SW", "W", "NW"]


@attrs.frozen(eq=False)
class Order(Interned):
    """Choose to place the first wormhole or to move first (aliens P1)."""

    do: ClassVar[str] = "order"
    first: Literal["place", "move"]


@attrs.frozen(eq=False)
class Place(Interned):
    """Place a coin of one's own, suit side up (aliens P2)."""

    do: ClassVar[str] = "place"
    suit: Ship
    value: int
    at: tuple[int, int]


@attrs.frozen(eq=False)
class Move(Interned):
    """Use a ship's die to move it in a direction (aliens T1)."""

    do: ClassVar[str] = "move"
    ship: Ship
    way: Way


@attrs.frozen(eq=False)
class Stay(Interned):
    """Use a ship's null die (aliens T2)."""

    do: ClassVar[str] = "stay"
    ship: Ship


@attrs.frozen(eq=False)
class Jump(Interned):
    """Choose the direction of a wormhole jump (aliens T3)."""

    do: ClassVar[str] = "jump"
    way: Way


@attrs.frozen(eq=False)
class Send(Interned):
    """Send the enemy ship that was landed on (aliens T6)."""

    do: ClassVar[str] = "send"
    to: tuple[int, int]


@attrs.frozen(eq=False)
class Decline(Interned):
    """Leave the die of a ship on an enemy base unused (aliens E1, option `both_ships`)."""

    do: ClassVar[str] = "decline"
    ship: Ship


Action: TypeAlias = Order | Place | Move | Stay | Jump | Send | Decline
ACTIONS: Final[tuple[type, ...]] = (Order, Place, Move, Stay, Jump, Send, Decline)

ORDERS: Final[dict[str, Order]] = {"place": Order("place"), "move": Order("move")}
MOVES: Final = tuple(tuple(Move(ship, way) for way in WAYS) for ship in SHIPS)
STAYS: Final = tuple(Stay(ship) for ship in SHIPS)
DECLINES: Final = tuple(Decline(ship) for ship in SHIPS)
JUMPS: Final = tuple(Jump(way) for way in WAYS)
SENDS: Final = tuple(Send(square) for square in SQUARES)

STAYING: Final = -1
DECLINING: Final = -2
USES: Final[dict[Action, tuple[int, int]]] = {
    **{move: (ship, way) for ship, moves in enumerate(MOVES) for way, move in enumerate(moves)},
    **{stay: (ship, STAYING) for ship, stay in enumerate(STAYS)},
    **{decline: (ship, DECLINING) for ship, decline in enumerate(DECLINES)},
}
"""Ship and way (or `STAYING`, `DECLINING`) of every action that uses a die."""
JUMP_WAYS: Final[dict[Action, int]] = {jump: way for way, jump in enumerate(JUMPS)}
SEND_TARGETS: Final[dict[Action, int]] = {send: number for number, send in enumerate(SENDS)}

PLACES: Final[Cache[int, tuple[Place, ...]]] = Cache(
    lambda coin: tuple([Place(SHIPS[coin // 6], coin % 6, square) for square in SQUARES])
)
"""For each coin the actions that place it, by square; made when first needed, since there are 2208 of them."""

Reach: TypeAlias = "tuple[tuple[Action, ...], frozenset[int]]"
"""The actions of a ship that may end on any square, and the squares where they end."""


def _reach(number: int, length: int, ways: Sequence[int], actions: Sequence[Action]) -> Reach:
    ends = {way: TARGET[(number * 6 + length) * 8 + way] for way in ways}
    return tuple(actions[way] for way in ways if ends[way] >= 0), frozenset(ends.values()) - {-1}


DIE_REACH: Final[Cache[int, tuple[Reach, ...]]] = Cache(
    lambda ship: tuple(
        _reach(number, die, range(8), MOVES[ship]) if die else ((STAYS[ship],), frozenset())
        for number in range(COUNT)
        for die in range(6)
    )
)
"""For each ship, at index square * 6 + die: what it can do with the die; made when first needed."""

JUMP_REACH: Final[Cache[str, tuple[tuple[Reach, ...], ...]]] = Cache(
    lambda diagonals: tuple(
        tuple(_reach(number, coin % 6, AXES[diagonals][coin // 6], JUMPS) for number in range(COUNT))
        for coin in range(COINS)
    )
)
"""For each value of `diagonals`, coin and square: the jumps of a ship that activates the coin there.

Made when first needed.
"""
