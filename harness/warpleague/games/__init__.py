"""The registry of games: which id means which engine, loaded only when asked for.

The engines live in the packages below; a third party adds its own through the entry point group `warpleague.games`.

Each package has the same modules; a game has some more of its own for what only it has (boards, talk, a memory). Its
`__init__` is the `Game`: each of its methods is a function of one of these modules, under the same name.

geometry    the board: numbers of its squares, tables of what lies where; the actions, one object for each
state       what the players may settle before the game; the classes of a position, the first one, who must act in one
rules       the legal actions in the canonical order; what is rolled; what a move does to a position; who won
events      what happens in a move, and a line of English for each kind of event
position    a position as JSON: its class, how it is written and read, what is wrong with one made by hand; what a seat
            sees, what the start message tells, and positions drawn to fit a view
people      the picture, and what to click in it; actions in words; the rules in a minute, and a first turn
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from warpleague.games.api import Game

GROUP: Final = "warpleague.games"
"""The entry points by which a package brings games."""

GAMES: dict[str, str] = {
    "aliens": "warpleague.games.aliens:GAME",
    "captains": "warpleague.games.captains:GAME",
    "coasters": "warpleague.games.coasters:GAME",
    "sheets": "warpleague.games.sheets:GAME",
}


FAMILIES: dict[str, str] = {
    "openspiel": "warpleague.extras.bridges.openspiel:load",
}
"""Functions that make the games of other programs: `openspiel:go` is what the first gives for `go`."""


def game_ids() -> tuple[str, ...]:
    """Every known game id, built-in games first, then installed ones by name."""
    if not any(map(_names_games, sys.path)):
        return tuple(GAMES)
    installed = sorted(entry.name for entry in _installed())
    return (*GAMES, *(name for name in installed if name not in GAMES))


def _installed() -> EntryPoints:
    """The installed games."""
    from importlib.metadata import entry_points  # takes longer than all else that lists the games

    return entry_points(group=GROUP)


def _names_games(folder: str) -> bool:
    """Whether a package in a folder of packages may bring a game.

    `importlib.metadata` takes as long to load as Python to start. It is asked where one may, and for archives.
    """
    try:
        names = os.listdir(folder or ".")  # noqa: PTH208 - by name, and in a hurry
    except NotADirectoryError:
        return True
    except OSError:
        return False
    for name in names:
        if name.endswith((".dist-info", ".egg-info", "EGG-INFO")):
            with suppress(OSError), open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123
                if GROUP.encode() in file.read():
                    return True
    return False


@cache
def load_game(game_id: str, rules: int | None = None) -> Game[Any, Any]:
    """The engine registered under `game_id`; one in which several seats decide at once as `together` wraps it.

    `BadInput` names the known games if there is none, says why the package of an installed one gives no engine, or
    that its `rules_version` is another than `rules`.
    """
    game = _registered(game_id)
    if rules not in (None, game.rules_version):
        raise BadInput(f"{game_id}: rules version {rules}; this version plays {game.rules_version}")
    if not game.simultaneous:
        return game
    from warpleague.games.together import in_turn

    return in_turn(game)


def _registered(game_id: str) -> Game[Any, Any]:
    target = GAMES.get(game_id)
    if target is not None:
        module, _, attribute = target.partition(":")
        game: Game[Any, Any] = getattr(import_module(module), attribute)
        return game
    family, colon, name = game_id.partition(":")
    if colon and family in FAMILIES:
        module, _, attribute = FAMILIES[family].partition(":")
        made: Game[Any, Any] = getattr(import_module(module), attribute)(name)
        return made
    for entry in _installed().select(name=game_id):
        where = f"the installed game {game_id!r} ({entry.value})"
        try:
            installed: Game[Any, Any] = entry.load()
        except Exception as error:
            raise BadInput(
                f"{where} cannot be loaded: {type(error).__name__}: {error}; "
                f"python -c 'import {entry.module}' tells where"
            ) from error
        if getattr(installed, "id", None) != game_id:
            problem = f"{type(installed).__name__}.id is {getattr(installed, 'id', None)!r}"
            raise BadInput(f"{where}: {problem}; the name of the entry point must be the game's id")
        return installed
    from warpleague.text import nearest

    raise BadInput(f"no game is called {game_id!r}; {nearest(game_id, game_ids())}")
