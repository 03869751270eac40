"""How a match's ingredients become values: game options from JSON or text, the first state of a match.

Leaves files and command lines to the layers above; everything given here is already parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from warpleague.errors import ConfigError, OptionsError
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import Game, JsonObject


def load_options(game: Game[Any, Any], players: int, raw: Mapping[str, Any], where: str = "options") -> Any:
    """The game's `Options` from their JSON form, checked against each other and the number of players.

    Raises `OptionsError`, naming `where` and the option.
    """
    if players not in game.players:
        raise OptionsError(f"{where}: {game.id} is for {players_text(game)}, not {players}")
    try:
        options: Any = structure(dict(raw), game.Options, where)
    except ConfigError as error:
        raise OptionsError(str(error)) from None
    game.check_options(players, options)
    return options


def options_json(options: Any) -> JsonObject:
    """The complete JSON form of an `Options` value, defaults included."""
    return attrs.asdict(options, recurse=True, retain_collection_types=False)


def players_text(game: Game[Any, Any]) -> str:
    """The allowed player counts in words: `2 players`, `2 to 5 players`."""
    counts = game.players
    if len(counts) == 1:
        return f"{counts[0]} player{'s' if counts[0] > 1 else ''}"
    if counts == tuple(range(counts[0], counts[-1] + 1)):
        return f"{counts[0]} to {counts[-1]} players"
    return " or ".join(map(str, counts)) + " players"


def first_state(game: Game[Any, Any], players: int, options: Any, position: JsonObject | None) -> Any:
    """The state a match starts from: the game's own, or the given position (`PositionError` if it is none)."""
    return game.initial(players, options) if position is None else game.from_json(position)
