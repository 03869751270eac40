"""Our games as environments of PettingZoo, for trainers: `env("aliens")`.

universe      every action a game can have, each with a number that never changes
observation   a view as an array of numbers, each with a name
environment   the environment
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpleague.bridges.pettingzoo.environment import Environment


def env(game: str, players: int | None = None, **options: Any) -> Environment:
    """An AEC environment of a built-in game, with so many players (None: the fewest) and the game's options.

    `BadInput` if there is no such game, if the options do not fit, or if PettingZoo is not installed.
    """
    from warpleague.bridges import needed

    needed("pettingzoo", "pettingzoo")
    from warpleague.bridges.pettingzoo.environment import Environment

    return Environment(game, players, options)
