"""Which variants of aliens there are.

Leaves what they change to `rules`.
"""

from __future__ import annotations

from typing import Literal

import attrs


def _whole(instance: object, attribute: attrs.Attribute[int], value: object) -> None:
    # A bool is an int to isinstance, but not to whoever writes a configuration.
    del instance
    if type(value) is not int or not 1 <= value <= 1_000_000:
        raise ValueError(f"{attribute.name} must be a whole number from 1 to 1000000, not {value!r}")


@attrs.frozen
class Options:
    """The options of aliens."""

    max_turns: int = attrs.field(
        default=400,
        validator=_whole,
        metadata={
            "help": "turns of both sides together, skipped ones included, after which the game is drawn"
        },
    )
    both_ships: bool = attrs.field(
        default=False,
        validator=attrs.validators.instance_of(bool),
        metadata={"help": "both ships must stand on enemy bases to win; a ship there may decline its die"},
    )
    diagonals: Literal["normal", "swapped"] = attrs.field(
        default="normal",
        validator=attrs.validators.in_(("normal", "swapped")),
        metadata={"help": "Crowns jump NE/SW and Arms NW/SE (normal), or the other way round (swapped)"},
    )
