"""Views as arrays: each number of a view has a place with a name, such as `ships.suns[0]`.

A word is its place among those that the field may have, true is 1. A list has room for a fixed number of items; what
is not there is `MISSING`, and further items are left out.
"""

from __future__ import annotations

import types
import typing
from array import array
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, Union

import attrs
import numpy as np

from warpleague.errors import BadInput
from warpleague.games import GAMES, load_game
from warpleague.games.aliens.geometry import SQUARES
from warpleague.games.coasters.geometry import DELTAS
from warpleague.games.reading import json_fields
from warpleague.games.sheets.geometry import BOXES, CELLS, EDGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warpleague.games.api import JsonObject


MISSING: Final = -99
"""The value of a place at which a view has nothing."""

_SUITS: Final = ("suns", "moons", "crowns", "arms")
_LEFT_OUT: Final = frozenset({
    "aliens options", "captains match", "captains why", "coasters options", "coasters messages",
    "sheets shared_discards",
})  # fmt: skip
"""Options never change in a match, and texts are not numbers."""
_KEYS: Final = {
    "aliens ships": _SUITS,
    "aliens dice": _SUITS,
    "aliens hand": _SUITS,
    "sheets dice": ("white", "black-1", "black-2", "red", "yellow", "blue"),
}
_MAX: Final = {
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
    """The names of the places of a game's observation, and a function that makes the array of a view.

    The function is written for the game: to call one for each of the many fields would take most of the time.
    """
    writer = _Writer()
    names, lines = writer.of(load_game(game_id).View, game_id, "", "v0")
    source = "\n".join(["def fill(v0, add, extend, listed):", *(f"    {line}" for line in lines)])
    exec(source, writer.known)  # the text is made of the names of fields alone
    fill: Callable[..., None] = writer.known["fill"]

    def filled(view: JsonObject) -> NDArray[np.int16]:
        numbers = array("h")
        fill(view, numbers.append, numbers.extend, numbers.fromlist)
        return np.frombuffer(numbers, np.int16)

    return tuple(names), filled


def _missing(size: int) -> array[int]:
    """So many places with nothing in them: an array, since most places of most views are empty."""
    return array("h", [MISSING]) * size


Written: TypeAlias = tuple[list[str], list[str]]
"""The names of places, and the lines of a program that adds their numbers."""


@attrs.define
class _Writer:
    """Writes the program; `known` are the values that its lines name."""

    known: dict[str, Any] = attrs.Factory(dict)

    def of(self, hint: Any, at: str, name: str, value: str) -> Written:
        """The names and the lines for the value in the variable `value`; `at` is the place in the tables above."""
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            return self._either(args, at, name, value)
        if attrs.has(hint):
            inner = {
                key: (kind, f"{at}{'.' if ' ' in at else ' '}{key}", f"{name}.{key}".lstrip("."))
                for key, kind in json_fields(hint).items()
            }
            return self._members({key: it for key, it in inner.items() if it[1] not in _LEFT_OUT}, value)
        if origin is Literal:
            places = self._know({word: number for number, word in enumerate(args)})
            return [name], [f"add({places}[{value}])"]
        if origin is dict:
            return self._members({key: (args[1], f"{at}.*", f"{name}.{key}") for key in _KEYS[at]}, value)
        if origin in (list, tuple):
            return self._items(args[0], at, name, value)
        return [name], [f"add(int({value}))"]

    def _know(self, value: Any) -> str:
        name = f"k{len(self.known)}"
        self.known[name] = value
        return name

    def _gap(self, size: int) -> str:
        return f"extend({self._know(_missing(size))})"

    def _either(self, args: tuple[Any, ...], at: str, name: str, value: str) -> Written:
        kinds = [arg for arg in args if arg is not type(None)]
        many = len(kinds) > 1  # a list or one number
        if many:
            kinds = [kind for kind in kinds if typing.get_origin(kind) is list]
        names, lines = self.of(kinds[0], at, name, value)
        if many and type(None) not in args:
            lines = [f"if type({value}) is int: {value} = [{value}]", *lines]
        return names, [f"if {value} is None: {self._gap(len(names))}", "else:", *_deeper(lines)]

    def _members(self, members: dict[str, tuple[Any, str, str]], value: str) -> Written:
        names: list[str] = []
        lines: list[str] = []
        inner = f"{value}_"
        for key, (kind, at, name) in members.items():
            more, body = self.of(kind, at, name, inner)
            names += more
            lines += [f"if {key!r} in {value}:", f"    {inner} = {value}[{key!r}]", *_deeper(body)]
            lines += [f"else: {self._gap(len(more))}"]
        return names, lines

    def _items(self, kind: Any, at: str, name: str, value: str) -> Written:
        most = _MAX[at]
        inner = f"{at}.*" if typing.get_origin(kind) is list else at
        names = [it for number in range(most) for it in self.of(kind, inner, f"{name}[{number}]", "")[0]]
        gaps = self._know([_missing(len(names) // most * (most - there)) for there in range(most)])
        item = f"{value}i"
        body = self.of(kind, inner, name, item)[1]
        lines = (
            [f"listed({value}[:{most}])"]
            if kind is int
            else [f"for {item} in {value}[:{most}]:", *_deeper(body)]
        )
        return names, [*lines, f"if len({value}) < {most}: extend({gaps}[len({value})])"]


def _deeper(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


# -- universe --------------------------------------------------------------------------------------------
# Every action a built-in game can have, in a fixed order: its place there is its number for trainers.
#
# The numbers are the same for every number of players and all options, but for galaxies of one's own and free
# text.

_SPACES: Final = range(190)
"""Captains: ten boards of nineteen spaces, the station's among them."""
_COLOURS: Final = range(10)
_SYSTEMS: Final = [(x, y) for x in range(-9, 10) for y in range(-9, 10)]
"""Coasters: ten home systems that touch; the first lies at 0, 0."""


@cache
def _domains() -> dict[tuple[str, str], Any]:
    """The values of each field whose type does not tell them, by game and field, or game, action and field."""
    assert len(DELTAS) == 4
    deep = range(-27, 30)  # a system covers three squares by three
    return {
        ("aliens", "value"): range(6),
        ("aliens", "at"): SQUARES,
        ("aliens", "to"): SQUARES,
        ("captains", "planet"): range(10),
        ("captains", "at"): _SPACES,
        ("captains", "to"): _SPACES,
        ("coasters", "lay at"): _SYSTEMS,
        ("coasters", "deploy at"): [(x, y) for x in deep for y in deep],
        ("coasters", "rotation"): range(4),
        ("coasters", "colour"): _COLOURS,
        ("coasters", "with"): _COLOURS,
        ("coasters", "to"): _COLOURS,
        ("coasters", "ally"): _COLOURS,
        ("coasters", "systems"): list(product(_COLOURS, repeat=2)),
        ("sheets", "edge"): range(EDGES),
        ("sheets", "cell"): range(CELLS),
        ("sheets", "value"): range(1, 7),
        ("sheets", "box"): (*range(BOXES), None),
    }


def _values(game: str, do: str, field: str, hint: Any) -> Any:
    if typing.get_origin(hint) is Literal:
        return typing.get_args(hint)
    domains = _domains()
    return domains.get((game, f"{do} {field}")) or domains[game, field]


@cache
def universe(game_id: str) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """The actions of a built-in game in their order, and the number of each."""
    if game_id not in GAMES:
        raise BadInput(f"{game_id}: only {', '.join(GAMES)} have numbered actions")
    actions: list[Any] = []
    for kind in load_game(game_id).Actions:
        do: str = kind.do  # type: ignore[attr-defined]
        fields = json_fields(kind)
        if do == "say":
            continue
        choices = [_values(game_id, do, name, hint) for name, hint in fields.items()]
        actions += [kind(*values) for values in product(*choices)]
    return tuple(actions), {action: number for number, action in enumerate(actions)}
