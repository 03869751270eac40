"""The options of coasters."""

from __future__ import annotations

import attrs

from warpleague.errors import OptionsError
from warpleague.games.fields import switch, whole

MAX_COLOURS = 10
"""No more than ten colours in one game (V1): as many as there are coasters."""

_MAX = 1_000_000


@attrs.frozen
class Options:
    """The options of a game of coasters; all variations are off by default."""

    alliances: bool = switch(
        default=True, text="talk, confirmed alliances and shared victory; always off with 2 players"
    )
    max_rounds: int = whole(200, 1, _MAX, "after this many rounds the survivors share first place")
    colours: int = whole(
        1, 1, _MAX, "tag team: ships and home systems of each seat (at most 10 in the whole game)"
    )
    free_colour: bool = switch(
        default=False, text="tag team: the seat chooses before its roll which of its ships plays"
    )
    system_swap: bool = switch(default=False, text="SWAP lets two home systems change places")
    wild_shot: bool = switch(
        default=False,
        text="WILD gives no flux action but a torpedo that turns right where it cannot go on",
    )


def check(players: int, options: Options) -> None:
    """Raise `OptionsError` when `players` seats of `options.colours` colours need more than ten coasters."""
    if options.colours * players > MAX_COLOURS:
        raise OptionsError(
            f"option colours={options.colours} with {players} players needs {options.colours * players} coasters,"
            f" but there are {MAX_COLOURS}: use at most {MAX_COLOURS // players}"
        )
