"""Which actions a position of aliens allows, in canonical order, and why another is not allowed.

The canonical order: `place` by suit, value, then square; `send` by square (by y, then x); the uses of dice by ship,
then by way, `decline` last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import attrs

from warpleague.games.aliens.actions import (
    ACTIONS,
    DECLINES,
    DIE_REACH,
    JUMP_WAYS,
    PLACES,
    SENDS,
    USES,
    Action,
    Place,
    Send,
)
from warpleague.games.aliens.geometry import COUNT, HOME, INDEX, SHIPS, TARGET
from warpleague.games.aliens.state import PLACE, SEND, TURN, State
from warpleague.games.reading import ActionReader
from warpleague.games.values import Cache, encoded

if TYPE_CHECKING:
    from warpleague.games.aliens.actions import Reach
    from warpleague.games.aliens.state import Rules

T = TypeVar("T")

SENDS_WITH_HOLES: Final = 16
"""How many sends of one die use may choose squares with wormholes (aliens T8)."""

_READER: Final = ActionReader(ACTIONS)


def legal(state: State, seat: int) -> Sequence[Action]:
    """Everything `seat` may do now; nothing unless it must act."""
    return state.legal if seat in state.actors else ()


def legal_json(state: State, seat: int, legal: Sequence[Action]) -> bytes | None:
    """The JSON of the long lists, which are hundreds of actions."""
    return legal.json() if isinstance(legal, LazyActions) else None


_ASKS: Final = ("", "order", "place", "", "turn", "jump", "send", "")


def ask(state: State, seat: int) -> str:
    """`order`, `place`, `turn`, `jump` or `send`."""
    return _ASKS[state.phase]


def parse(state: State, seat: int, data: object) -> Action:
    """The action of `seat` that `data` describes; `ActionError` if it is none, or not legal now."""
    action: Action = _READER.parse(data, legal(state, seat), lambda action: _why_not(state, seat, action))
    return action


def _why_not(state: State, seat: int, action: Action) -> str:
    """Why an action of the kind that is due is not legal."""
    own = SHIPS[2 * seat : 2 * seat + 2]
    if isinstance(action, Place) and state.phase == PLACE:
        suit = SHIPS.index(action.suit)
        values = [value for value in range(6) if suit * 6 + value not in state.holes]
        if action.suit not in own:
            return f"your suits are {' and '.join(own)}"
        if action.value not in values:
            return f"of {action.suit} you have {', '.join(map(str, values)) or 'nothing left'}"
        if action.at not in INDEX:
            return "there is no such square"
        return "the square has a base or a wormhole"
    if isinstance(action, Send) and state.phase == SEND:
        if action.to not in INDEX:
            return "there is no such square"
        if INDEX[action.to] in state.ships:
            return "there is a ship on this square"
        return f"after {SENDS_WITH_HOLES} sends of one die no wormhole may be chosen"
    if action in USES and state.phase == TURN:
        ship = SHIPS[USES[action][0]]
        die = state.dice[USES[action][0] & 1]
        if ship not in own:
            return f"your ships are {' and '.join(own)}"
        return f"the die of {ship} is {die or 'null'}" if die >= 0 else f"{ship} has no die to use"
    return ""


# -- the uses of dice --------------------------------------------------------------------------------------


def _avoiding(key: tuple[int, int, int, int]) -> tuple[Action, ...]:
    """The moves of a ship from a square by a die that do not end on square `other`, where its sister stands."""
    ship, number, die, other = key
    row = (number * 6 + die) * 8
    actions, _ = DIE_REACH[ship][number * 6 + die]
    return tuple([action for action in actions if TARGET[row + USES[action][1]] != other])


_AVOIDING: Final = Cache(_avoiding, 1 << 16)


def turn_actions(
    rules: Rules, seat: int, ships: tuple[int, ...], dice: tuple[int, int]
) -> tuple[Action, ...]:
    """The legal actions of `seat` with its unused dice: by ship, its moves by way or `stay`, then `decline`."""
    actions: tuple[Action, ...] = ()
    first = 2 * seat
    for ship, die in ((first, dice[0]), (first + 1, dice[1])):
        if die < 0:
            continue
        number, other = ships[ship], ships[ship ^ 1]
        uses, ends = DIE_REACH[ship][number * 6 + die]
        if other in ends:  # aliens T1
            uses = _AVOIDING[ship, number, die, other]
        # aliens E1: a die that cannot be used cannot be declined either.
        if rules.both_ships and uses and HOME[number] == 1 - seat:
            uses += (DECLINES[ship],)
        actions += uses
    return actions


# -- jumps, sends, placements ------------------------------------------------------------------------------


def jump_actions(reach: Reach, number: int, coin: int, other: int) -> tuple[Action, ...]:
    """The jumps of `reach`, from square `number` by `coin`, that do not end on the sister's square `other`."""
    actions, ends = reach
    if other not in ends:
        return actions
    row = (number * 6 + coin % 6) * 8
    return tuple(action for action in actions if TARGET[row + JUMP_WAYS[action]] != other)


def send_actions(ships: tuple[int, ...], holes: tuple[int, ...], sends: int) -> Sequence[Action]:
    """Where a ship may be sent when `sends` have been made by this die use (aliens T6, T8)."""
    occupied = sorted(set(ships))
    if sends < SENDS_WITH_HOLES:
        return Sendings(occupied)
    return tuple(SENDS[number] for number in range(COUNT) if holes[number] < 0 and number not in occupied)


_NO_BASES: Final = tuple(number for number in range(COUNT) if HOME[number] < 0)


def placements(holes: tuple[int, ...], seat: int) -> Placements:
    """Every coin `seat` has not placed on every square without base or wormhole (aliens P2)."""
    placed = set(holes)
    hands = [tuple([coin for coin in range(12 * s, 12 * s + 12) if coin not in placed]) for s in (0, 1)]
    squares = tuple([number for number in _NO_BASES if holes[number] < 0])
    return Placements(hands[seat], squares, hands[1 - seat])


def _json(actions: Iterable[Action]) -> tuple[bytes, ...]:
    return tuple([encoded({"do": action.do, **attrs.asdict(action)}) for action in actions])


_PLACES_JSON: Final[Cache[int, tuple[bytes, ...]]] = Cache(lambda coin: _json(PLACES[coin]))
"""By coin and square."""


@cache
def _sends_json() -> tuple[bytes, ...]:
    return _json(SENDS)


class LazyActions(Sequence[Action]):
    """A long list of legal actions that is not stored: `_at` gives the item of an index, `_place` the index."""

    __slots__ = ()

    def _at(self, index: int) -> Action:
        raise NotImplementedError

    def _place(self, action: Any) -> int:
        raise NotImplementedError

    def index(self, action: Any, start: int = 0, stop: int = 1 << 31) -> int:
        """Where `action` is; the list is not looked through."""
        place = self._place(action) if action in self else -1
        if not start <= place < stop:
            raise ValueError("no such action")
        return place

    def json(self) -> bytes:
        """The list as JSON."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Action: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Action, ...]: ...
    def __getitem__(self, index: int | slice) -> Action | tuple[Action, ...]:
        if isinstance(index, slice):
            return tuple(self._at(i) for i in range(*index.indices(len(self))))
        size = len(self)
        if not -size <= index < size:
            raise IndexError("no such action")
        return self._at(index + size if index < 0 else index)


class Placements(LazyActions):
    """Every coin in the hand on every free square: by suit, value, then square."""

    __slots__ = ("coins", "others", "squares")

    def __init__(self, coins: tuple[int, ...], squares: tuple[int, ...], others: tuple[int, ...]) -> None:
        self.coins = coins
        self.squares = squares
        self.others = others
        """The coins in the other hand."""

    def after(self, coin: int, number: int) -> Placements:
        """Those of the other seat when `coin` has been placed on square `number`."""
        coins, squares = list(self.coins), list(self.squares)
        coins.remove(coin)
        squares.remove(number)
        return Placements(self.others, tuple(squares), tuple(coins))

    def __len__(self) -> int:
        return len(self.coins) * len(self.squares)

    def _at(self, index: int) -> Action:
        coin, square = divmod(index, len(self.squares))
        return PLACES[self.coins[coin]][self.squares[square]]

    def __iter__(self) -> Iterator[Action]:
        return chain.from_iterable([map(PLACES[coin].__getitem__, self.squares) for coin in self.coins])

    def json(self) -> bytes:
        """The list as JSON."""
        free = itemgetter(*self.squares)  # there are always many more squares than coins
        return b"[%b]" % b",".join([b",".join(free(_PLACES_JSON[coin])) for coin in self.coins])

    def _place(self, action: Any) -> int:
        coin = self.coins.index(SHIPS.index(action.suit) * 6 + action.value)
        return coin * len(self.squares) + self.squares.index(INDEX[action.at])

    def __contains__(self, action: object) -> bool:
        return (
            isinstance(action, Place)
            and SHIPS.index(action.suit) * 6 + action.value in self.coins
            and 0 <= action.value < 6
            and INDEX.get(action.at, -1) in self.squares
        )


class Sendings(LazyActions):
    """Every square but the occupied ones, in the order of their numbers."""

    __slots__ = ("occupied",)

    def __init__(self, occupied: list[int]) -> None:
        """`occupied` ascends."""
        self.occupied = occupied

    def __len__(self) -> int:
        return COUNT - len(self.occupied)

    def _at(self, index: int) -> Action:
        for number in self.occupied:
            if number <= index:
                index += 1
        return SENDS[index]

    def _place(self, action: Any) -> int:
        number = INDEX[action.to]
        return number - sum(occupied < number for occupied in self.occupied)

    def __iter__(self) -> Iterator[Action]:
        return iter(self._without(SENDS))

    def json(self) -> bytes:
        """The list as JSON."""
        return b"[%b]" % b",".join(self._without(_sends_json()))

    def _without(self, squares: Sequence[T]) -> list[T]:
        rest = list(squares)
        for number in reversed(self.occupied):
            del rest[number]
        return rest

    def __contains__(self, action: object) -> bool:
        return isinstance(action, Send) and INDEX.get(action.to, -1) not in (-1, *self.occupied)
