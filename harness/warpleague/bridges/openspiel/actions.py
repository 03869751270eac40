"""The legal actions of a seat in a game of OpenSpiel, with the number and the name that OpenSpiel has for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import attrs
import pyspiel

from warpleague.games.values import Interned

if TYPE_CHECKING:
    from collections.abc import Callable


@attrs.frozen(eq=False)
class Play(Interned):
    """Do what OpenSpiel knows by this number; `move` is its name in the position."""

    do: ClassVar[str] = "play"
    action: int
    move: str


@attrs.frozen(eq=False)
class Resign(Interned):
    """Give the game up; only where the option `resign` allows it."""

    do: ClassVar[str] = "resign"


RESIGN = Resign()


def _name(spiel: Any, player: int, action: int) -> str:
    """OpenSpiel's name of an action; its number if that is not a text, as on a board of `hex` with 63 rows."""
    try:
        return str(spiel.action_to_string(player, action))
    except UnicodeDecodeError:
        return f"action {action}"


def _chess_name(spiel: Any, player: int, action: int) -> str:
    """The move as engines write it: `e2e4`, `e7e8q`."""
    if player < 0:
        return _name(spiel, player, action)
    return str(pyspiel.chess.action_to_move(action, spiel.board()).to_lan())


NAMES: dict[str, Callable[[Any, int, int], str]] = {"chess": _chess_name}
"""The games whose moves have another name than OpenSpiel's: that which engines use."""


def namer(short_name: str) -> Callable[[Any, int, int], str]:
    """The function that names the actions of the game: one of OpenSpiel's state, the player and the action."""
    return NAMES.get(short_name, _name)


class Choices(Sequence[Any]):
    """The legal actions of a seat, in the order of OpenSpiel's numbers; each gets its name when it is read."""

    __slots__ = ("_known", "_name", "_numbers", "_resign", "_seat", "_spiel")

    def __init__(self, spiel: Any, seat: int, name: Callable[[Any, int, int], str], *, resign: bool) -> None:
        self._spiel = spiel
        self._seat = seat
        self._name = name
        self._numbers: list[int] = spiel.legal_actions(seat)
        self._resign = resign
        self._known: dict[int, Play] = {}

    def __len__(self) -> int:
        return len(self._numbers) + self._resign

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if self._resign and index == len(self._numbers):
            return RESIGN
        number = self._numbers[index]
        action = self._known.get(number)
        if action is None:
            action = self._known[number] = Play(number, self._name(self._spiel, self._seat, number))
        return action

    def __contains__(self, action: object) -> bool:
        if action is RESIGN:
            return self._resign
        return (
            isinstance(action, Play) and action.action in self._numbers and action is self.of(action.action)
        )

    def has(self, number: int) -> bool:
        """Whether the action with this number is legal."""
        return number in self._numbers

    def of(self, number: int) -> Any:
        """The action with this number, which is legal."""
        return self[self._numbers.index(number)]
