"""The parameters of a game of OpenSpiel as options of Warp League, and the few options that all of them have."""

from __future__ import annotations

from typing import Any

import attrs

from warpleague.games.fields import free, switch, whole

OURS = ("openings", "resign", "move_limit")
SEATS = ("players", "numPlayers", "num_players")
"""The names that OpenSpiel's games have for the number of players: it is the number of bots, and no option."""

SEATED = frozenset({"universal_poker"})
"""Games in which other parameters have to fit the number of players: their ids name these together."""


def options_class(name: str, parameters: dict[str, Any]) -> type:
    """An attrs class with a field for each of `parameters`, the defaults by name, and for each option of ours."""
    members: dict[str, Any] = {"__doc__": f"The parameters of OpenSpiel's {name}.", "__module__": __name__}
    kinds: dict[str, Any] = {}
    for key, default in parameters.items():
        if key in SEATS or not key.isidentifier():
            continue
        kind: Any = type(default) if type(default) in (bool, int, float, str) else None
        if kind is None:  # another game, or what has no default
            members[key], kinds[key] = free(str, f"OpenSpiel's parameter {key}, as it writes it"), str | None
        else:
            text = f"OpenSpiel's parameter {key}"
            members[key], kinds[key] = attrs.field(default=default, metadata={"help": text}), kind
    members["openings"] = free(
        dict, "a TOML file with lines of moves, one of which is drawn and played first"
    )
    members["resign"] = switch(False, "whether a seat may resign, with the action resign")
    members["move_limit"] = whole(0, 0, 99_999, "moves after which the game ends as it stands; 0: no limit")
    kinds |= {"openings": dict[str, Any] | None, "resign": bool, "move_limit": int}
    members["__annotations__"] = kinds
    return attrs.frozen(type("Options", (), members))


def parameters_of(options: Any, fixed: dict[str, Any]) -> dict[str, Any]:
    """The parameters for OpenSpiel: `fixed`, and the options that are not at their defaults."""
    import pyspiel

    given = dict(fixed)
    for field in attrs.fields(type(options)):
        value = getattr(options, field.name)
        if field.name in OURS or value == field.default:
            continue
        if field.default is None:  # another game
            value = pyspiel.game_parameters_from_string(value)
        given[field.name] = float(value) if type(field.default) is float else value
    return given
