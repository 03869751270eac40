"""Our games for trainers: `env` makes an environment of PettingZoo, `batch` many matches at once, `encoder` arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.extras.bridges import needed
from warpleague.extras.bridges.pettingzoo.batch import Batch, Encoder

if TYPE_CHECKING:
    from warpleague.extras.bridges.pettingzoo.environment import Environment


def batch(game: str, matches: int, players: int | None = None, seed: str = "0", **options: Any) -> Batch:
    """So many matches of a built-in game at once, as arrays, by the same numbers as `env`; it needs no extra.

    The n-th match that begins has the dice of a match with the seed `{seed} {n}`, n from 0. `BadInput` if there is no
    such game, if the options do not fit, or for less than one match.
    """
    return Batch(game, matches, players, seed, options)


def encoder(game: str, players: int | None = None, **options: Any) -> Encoder:
    """The numbers and arrays of a table of a built-in game, for a bot or a search of your own; it needs no extra.

    `BadInput` if there is no such game, or if the options do not fit.
    """
    return Encoder(game, players, options)


def env(game: str, players: int | None = None, **options: Any) -> Environment:
    """An AEC environment of a built-in game, with a number of players (None: the fewest) and the game's options.

    `BadInput` if there is no such game, if the options do not fit, or if PettingZoo is not installed.
    """
    needed("pettingzoo", "pettingzoo")
    from warpleague.extras.bridges.pettingzoo.environment import Environment

    return Environment(game, players, options)
