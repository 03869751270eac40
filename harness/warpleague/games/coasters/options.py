"""Which variations of coasters are played, and how long.

Leaves what they mean to `rules` and whether they fit a number of seats to `check`.
"""

from __future__ import annotations

from typing import Any

import attrs

from warpleague.errors import OptionsError

MAX_COLOURS = 10
"""No more than ten colours in one game (V1): as many as there are coasters."""


_MOST = 1_000_000


def _at_least_one(_: Any, field: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not int or not 1 <= value <= _MOST:
        raise OptionsError(f"option {field.name} must be a whole number from 1 to {_MOST}, not {value!r}")


def _true_or_false(_: Any, field: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not bool:
        raise OptionsError(f"option {field.name} must be true or false, not {value!r}")


def _switch(*, default: bool, text: str) -> Any:
    return attrs.field(default=default, validator=_true_or_false, metadata={"help": text})


@attrs.frozen
class Options:
    """The options of a game of coasters; all variations are off by default."""

    alliances: bool = _switch(
        default=True, text="talk, confirmed alliances and shared victory; always off with 2 players"
    )
    max_rounds: int = attrs.field(
        default=200,
        validator=_at_least_one,
        metadata={"help": "after this many rounds the survivors share first place"},
    )
    colours: int = attrs.field(
        default=1,
        validator=_at_least_one,
        metadata={"help": "tag team: ships and home systems of each seat (at most 10 in the whole game)"},
    )
    free_colour: bool = _switch(
        default=False, text="tag team: the seat chooses before its roll which of its ships plays"
    )
    system_swap: bool = _switch(default=False, text="SWAP lets two home systems change places")
    wild_shot: bool = _switch(
        default=False, text="WILD gives no flux action but a torpedo that turns right where it cannot go on"
    )


def check(players: int, options: Options) -> None:
    """Raise `OptionsError` when `players` seats of `options.colours` colours need more than ten coasters."""
    if options.colours * players > MAX_COLOURS:
        raise OptionsError(
            f"option colours={options.colours} with {players} players needs {options.colours * players} coasters,"
            f" but there are {MAX_COLOURS}: use at most {MAX_COLOURS // players}"
        )
