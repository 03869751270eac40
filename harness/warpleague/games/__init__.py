"""The registry of games: which id means which engine, loaded only when asked for.

The engines themselves live in the packages below; a third party adds its own through the entry point group
`warpleague.games`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from warpleague.games.api import Game

GAMES: dict[str, str] = {
    "aliens": "warpleague.games.aliens:GAME",
    "captains": "warpleague.games.captains:GAME",
    "coasters": "warpleague.games.coasters:GAME",
    "sheets": "warpleague.games.sheets:GAME",
}


def game_ids() -> tuple[str, ...]:
    """Every known game id, built-in games first, then installed ones by name."""
    installed = sorted(entry.name for entry in entry_points(group="warpleague.games"))
    return (*GAMES, *(name for name in installed if name not in GAMES))


@cache
def load_game(game_id: str) -> Game[Any, Any]:
    """The engine registered under `game_id`; `BadInput` names the known ones if there is none."""
    target = GAMES.get(game_id)
    if target is not None:
        module, _, attribute = target.partition(":")
        game: Game[Any, Any] = getattr(import_module(module), attribute)
        return game
    for entry in entry_points(group="warpleague.games", name=game_id):
        installed: Game[Any, Any] = entry.load()
        return installed
    raise BadInput(f"no game is called {game_id!r}; known games: {', '.join(game_ids())}")
