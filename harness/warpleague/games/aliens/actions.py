"""The actions of aliens: one class for each kind, one object for each action, and which of them reach what."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import attrs

from warpleague.games.aliens.geometry import AXES, COINS, COUNT, SHIPS, SQUARES, TARGET, WAYS
from warpleague.games.values import Cache, Interned

if TYPE_CHECKING:
    from collections.abc import Sequence

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
