"""Views as arrays: each number of a view has a place with a name, such as `ships.suns[0]`.

A word is its place among those that the field may have, true is 1. A list has room for so many items; what is not
there is `MISSING`, and what is beyond is left out.
"""

from __future__ import annotations

import types
import typing
from array import array
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, Union

import attrs
import numpy as np

from warpleague.games import load_game
from warpleague.games.reading import json_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warpleague.games.api import JsonObject

MISSING: Final = -99
"""What stands where a view has nothing."""

Numbers: TypeAlias = "array[int]"
Fill: TypeAlias = "Callable[[Any, Numbers], object]"

_SUITS: Final = ("suns", "moons", "crowns", "arms")
_LEFT_OUT: Final = frozenset(
    {
        "aliens options",
        "captains match",
        "captains why",
        "coasters options",
        "coasters messages",
        "sheets shared_discards",
    }
)
"""Options never change in a match, and texts are no numbers."""
_KEYS: Final = {
    "aliens ships": _SUITS,
    "aliens dice": _SUITS,
    "aliens hand": _SUITS,
    "sheets dice": ("white", "black-1", "black-2", "red", "yellow", "blue"),
}
_MOST: Final = {
    "aliens ships.*": 2, "aliens wormholes": 24, "aliens wormholes.at": 2, "aliens lost": 4, "aliens hand.*": 6,
    "aliens pending.then.at": 2,
    "captains retired": 5, "captains taken": 20, "captains ships": 6, "captains tokens": 6, "captains tokens.*": 20,
    "captains hand": 20, "captains hands": 6, "captains known": 6, "captains known.sure": 20,
    "captains known.slots": 20, "captains known.slots.*": 12, "captains known.spent": 20,
    "captains known.spent.slots": 20, "captains delivered": 6, "captains delivered.*": 20, "captains docks": 10,
    "captains unseen": 10, "captains points": 6, "captains explorers": 10, "captains scores": 6,
    "coasters asked": 10, "coasters systems": 10, "coasters ships": 10, "coasters last": 10, "coasters agreed": 10,
    "coasters refused": 10, "coasters eliminated": 10, "coasters retired": 10, "coasters systems.at": 2,
    "coasters ships.at": 2,
    "sheets hand": 6, "sheets kept": 6, "sheets offered": 6, "sheets retired": 4, "sheets sheets": 4,
    "sheets sheets.edges": 84, "sheets sheets.filled": 36, "sheets sheets.wormholes": 6, "sheets sheets.yellow": 21,
    "sheets sheets.red": 6, "sheets sheets.blue": 7, "sheets dice.*": 2,
}  # fmt: skip
"""The most items of each list; `.*` are the items of a list or an object."""


@cache
def layout(game_id: str) -> tuple[tuple[str, ...], Callable[[JsonObject], NDArray[np.int16]]]:
    """The names of the places of a game's observation, and a function that makes the array of a view."""
    names, fill = _reader(load_game(game_id).View, game_id, "")

    def filled(view: JsonObject) -> NDArray[np.int16]:
        found = array("h")
        fill(view, found)
        return np.frombuffer(found, np.int16)

    return tuple(names), filled


def _missing(size: int) -> Numbers:
    """So many places with nothing in them: an array, since most places of most views are empty."""
    return array("h", [MISSING]) * size


def _reader(hint: Any, at: str, name: str) -> tuple[list[str], Fill]:
    """The names and the filler for values of the type `hint`; `at` is the place in the tables above."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        kinds = [arg for arg in args if arg is not type(None)]
        if len(kinds) > 1:  # a list or one number
            kinds = [kind for kind in kinds if typing.get_origin(kind) is list]
        names, fill = _reader(kinds[0], at, name)
        return names, _optional(fill, len(names), whole=len(args) > len(kinds) and type(None) not in args)
    if attrs.has(hint):
        return _members(
            [
                (key, _reader(kind, f"{at}{'.' if ' ' in at else ' '}{key}", f"{name}.{key}".lstrip(".")))
                for key, (kind, _) in json_fields(hint).items()
                if f"{at}{'.' if ' ' in at else ' '}{key}" not in _LEFT_OUT
            ]
        )
    if origin is Literal:
        places = {word: number for number, word in enumerate(args)}
        return [name], lambda value, out: out.append(places[value])
    if origin is dict:
        kind = args[1]
        return _members([(key, _reader(kind, f"{at}.*", f"{name}.{key}")) for key in _KEYS[at]])
    if origin in (list, tuple):
        most = _MOST[at]
        inner = f"{at}.*" if typing.get_origin(args[0]) is list else at
        parts = [_reader(args[0], inner, f"{name}[{number}]") for number in range(most)]
        return [each for names, _ in parts for each in names], _items(
            parts[0][1], most, len(parts[0][0]), args[0]
        )
    return [name], lambda value, out: out.append(int(value))


def _optional(fill: Fill, size: int, *, whole: bool) -> Fill:
    gap = _missing(size)

    def filled(value: Any, out: Numbers) -> None:
        if value is None:
            out.extend(gap)
        else:
            fill([value] if whole and type(value) is int else value, out)

    return filled


def _members(parts: list[tuple[str, tuple[list[str], Fill]]]) -> tuple[list[str], Fill]:
    names = [name for _, (inner, _) in parts for name in inner]
    known = [(key, fill, _missing(len(inner))) for key, (inner, fill) in parts]

    def filled(value: Any, out: Numbers) -> None:
        for key, fill, gap in known:
            if key in value:
                fill(value[key], out)
            else:
                out.extend(gap)

    return names, filled


def _items(fill: Fill, most: int, size: int, kind: Any) -> Fill:
    gaps = [_missing(size * (most - there)) for there in range(most)]

    def filled(value: Any, out: Numbers) -> None:
        for item in value[:most]:
            fill(item, out)
        if len(value) < most:
            out.extend(gaps[len(value)])

    def numbers(value: Any, out: Numbers) -> None:
        if value:
            out.fromlist(value[:most])
        if len(value) < most:
            out.extend(gaps[len(value)])

    return numbers if kind is int else filled
