"""Views as arrays: each number of a view has a place with a name, such as `ships.suns[0]`.

A word is its place among those that the field may have, true is 1. A set has a place for each possible member, with 1
or 0. A list has room for a fixed number of items; what is not there is `MISSING`, and further items are left out.
"""

from __future__ import annotations

import types
import typing
from array import array
from collections.abc import Callable, Collection
from functools import cache
from itertools import combinations, product
from typing import Any, Final, Literal, TypeAlias, Union

import attrs
import numpy as np
from numpy.typing import NDArray

from warpleague.games import load_game
from warpleague.games.aliens.geometry import SQUARES
from warpleague.games.api import JsonObject
from warpleague.games.coasters.geometry import DELTAS
from warpleague.games.reading import json_fields
from warpleague.games.sheets.geometry import BOXES, CELLS, EDGES, SIDE, UNITS, Blue, Keep, Red, Yellow

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
_SETS: Final[dict[str, Collection[Any]]] = {
    **dict.fromkeys(("sheets hand", "sheets kept", "sheets offered"), UNITS),
    "sheets sheets.edges": range(EDGES),
    "sheets sheets.filled": range(BOXES),
    "sheets sheets.wormholes": range(BOXES),
    "sheets sheets.yellow": range(CELLS),
    "sheets sheets.red": range(1, 7),
}
"""Lists that are sets: each value that may be there has a place, which holds 1 or 0."""


def _sizes(game_id: str, players: int, colours: int) -> dict[str, int]:
    """The most items of each other list at a table; `.*` are the items of a list or an object."""
    if game_id == "aliens":
        return {
            "aliens ships.*": 2, "aliens wormholes": 24, "aliens wormholes.at": 2, "aliens lost": 4,
            "aliens hand.*": 6, "aliens pending.then.at": 2,
        }  # fmt: skip
    if game_id == "sheets":
        return {
            "sheets retired": players,
            "sheets sheets": players,
            "sheets sheets.blue": 7,
            "sheets dice.*": 2,
        }
    if game_id == "captains":
        planets, owners = 8 if players <= 3 else 10, max(players, 2)
        by_owner = ("ships", "tokens", "hands", "known", "delivered", "points", "scores")
        by_planet = ("hand", "known.sure", "delivered.*", "docks", "unseen")
        return {
            "captains retired": players, "captains taken": 20, "captains tokens.*": 20, "captains explorers": 10,
            "captains known.slots": 20, "captains known.slots.*": 12, "captains known.spent": 20,
            "captains known.spent.slots": 20,
            **{f"captains {name}": owners for name in by_owner},
            **{f"captains {name}": planets for name in by_planet},
        }  # fmt: skip
    return {
        **{f"coasters {name}": players * colours for name in ("systems", "ships")},
        **{f"coasters {name}": players for name in ("asked", "last", "agreed", "refused", "eliminated", "retired")},
        "coasters systems.at": 2, "coasters ships.at": 2,
    }  # fmt: skip


def colours_of(options: Any) -> int:
    """The colours of a seat, in the options of a game: of all options, arrays depend on this one alone."""
    return getattr(options, "colours", 1)


Fill: TypeAlias = Callable[[JsonObject], NDArray[np.int16]]
"""Makes the array of a view."""


@cache
def layout(game_id: str, players: int, colours: int) -> tuple[tuple[str, ...], Fill]:
    """The names of the places of an observation at a table, and a function that makes the array of a view.

    The function is written for the table: to call one for each of the many fields would take most of the time.
    `colours` are those of a seat of coasters.
    """
    writer = _Writer(_sizes(game_id, players, colours))
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
    """Writes the program; `sizes` are those of lists, `known` the values that its lines name."""

    sizes: dict[str, int]
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
            always = {field.name for field in attrs.fields(hint) if field.default is attrs.NOTHING}
            return self._members(
                {key: it for key, it in inner.items() if it[1] not in _LEFT_OUT}, value, always
            )
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

    def _members(
        self, members: dict[str, tuple[Any, str, str]], value: str, always: Collection[str] = ()
    ) -> Written:
        """Those of an object; the keys `always` must be there, so that what is no view fails."""
        names: list[str] = []
        lines: list[str] = []
        inner = f"{value}_"
        for key, (kind, at, name) in members.items():
            more, body = self.of(kind, at, name, inner)
            names += more
            body = [f"{inner} = {value}[{key!r}]", *body]
            if key not in always:
                body = [f"if {key!r} in {value}:", *_deeper(body), f"else: {self._gap(len(more))}"]
            lines += body
        return names, lines

    def _set(self, at: str, name: str, value: str) -> Written:
        places = self._know({member: place for place, member in enumerate(_SETS[at])})
        row, item = f"{value}r", f"{value}i"
        begin = f"{row} = [0] * {len(_SETS[at])}"
        names = [f"{name}.{member}" for member in _SETS[at]]
        return names, [begin, f"for {item} in {value}: {row}[{places}[{item}]] = 1", f"listed({row})"]

    def _items(self, kind: Any, at: str, name: str, value: str) -> Written:
        if at in _SETS:
            return self._set(at, name, value)
        most = self.sizes[at]
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
# Every action that a table of a built-in game can have, in a fixed order: its place there is its number for trainers.
# Free text and galaxies of one's own have no numbers.

_BOARD_SPACES: Final = 19
"""Captains: the spaces of a board; the station's board counts."""


def _domains(game_id: str, players: int, colours: int) -> dict[str, Any]:
    """The values of each field whose type does not tell them, by field, or by action and field."""
    assert len(DELTAS) == 4
    if game_id == "aliens":
        return {"value": range(6), "at": SQUARES, "to": SQUARES}
    if game_id == "captains":
        spaces = range(_BOARD_SPACES * (8 if players <= 3 else 10))
        return {"planet": range(8 if players <= 3 else 10), "at": spaces, "to": spaces}
    if game_id == "sheets":
        boxes = (*range(BOXES), None)
        return {"edge": range(EDGES), "cell": range(CELLS), "value": range(1, 7), "box": boxes}
    ships = range(players * colours)
    far = len(ships) - 1  # systems touch by whole sides; the first lies at 0, 0
    away = range(-far, far + 1)
    systems = [(x, y) for x in away for y in away if abs(x) + abs(y) <= far]
    squares = [(3 * x + i, 3 * y + j) for x, y in systems for j in range(3) for i in range(3)]
    return {
        "lay at": systems,
        "deploy at": squares,
        "rotation": range(4),
        "systems": list(combinations(ships, 2)),
        **dict.fromkeys(("colour", "with", "to"), ships),
        "ally": range(players),
    }


def _can_be(action: Any) -> bool:
    """Whether the fields of an action of sheets go together; those of the other games all do."""
    if isinstance(action, Keep):
        return action.discard not in (action.unit, "white")
    if isinstance(action, Yellow):
        return action.unit in ("yellow", "black-1", "black-2")
    if isinstance(action, (Red, Blue)):
        own = action.unit in (action.do, "black-1", "black-2")
        return own and (action.box is None or action.value - 1 in divmod(action.box, SIDE))
    return True


@cache
def universe(game_id: str, players: int, colours: int) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """The actions of a table of a built-in game in their order, and the number of each.

    `colours` are those of a seat of coasters.
    """
    domains = _domains(game_id, players, colours)
    actions: list[Any] = []
    for kind in load_game(game_id).Actions:
        do: str = kind.do  # type: ignore[attr-defined]
        if do == "say":
            continue
        choices = [
            typing.get_args(hint)
            if typing.get_origin(hint) is Literal
            else domains.get(f"{do} {name}") or domains[name]
            for name, hint in json_fields(kind).items()
        ]
        actions += filter(_can_be, (kind(*values) for values in product(*choices)))
    return tuple(actions), {action: number for number, action in enumerate(actions)}
