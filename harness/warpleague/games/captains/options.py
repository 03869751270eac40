"""Decides which options a match of captains has and which values each may take by itself.

Leaves to `boards` whether a galaxy file is sound, and to `dealing` whether options fit together and the players.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import ge, in_, instance_of, le, optional

GALAXIES: tuple[str, ...] = ("full", "basic")
AIS: tuple[str, ...] = ("echabod-z", "brood", "azimuth")
PATTERNS: tuple[str, ...] = (
    "standard",
    "asteroida-1",
    "decapoda-2",
    "standard-large",
    "geotria-7",
    "chaetodon-3",
)
MOST_ROUNDS = 10_000


def _whole(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001
    if type(value) is not int:
        raise TypeError(f"{attribute.name} must be a whole number, not {value!r}")


@attrs.frozen
class Options:
    """The options of captains (captains G4-G8, A1, E4)."""

    galaxy: Literal["full", "basic"] = attrs.field(
        default="full",
        validator=in_(GALAXIES),
        metadata={"help": "full: each board's side and rotation are drawn; basic: all side A, rotation 0"},
    )
    pattern: str | None = attrs.field(
        default=None,
        validator=optional(instance_of(str)),
        metadata={
            "help": "how boards are laid; 1-3 players: standard, asteroida-1, decapoda-2; "
            "4-5 players: standard-large, geotria-7, chaetodon-3; "
            "default: standard or standard-large, else the first by name that fits the players"
        },
    )
    galaxy_file: dict[str, Any] | None = attrs.field(
        default=None,
        validator=optional(instance_of(dict)),
        metadata={"help": "boards of your own: a TOML file in the format of the built-in boards"},
    )
    ai: Literal["echabod-z", "brood", "azimuth"] | None = attrs.field(
        default=None,
        validator=optional(in_(AIS)),
        metadata={
            "help": "solo only, the opponent: echabod-z (normal, the default), brood (hard), azimuth (expert)"
        },
    )
    max_rounds: int = attrs.field(
        default=200,
        validator=[_whole, ge(1), le(MOST_ROUNDS)],
        metadata={"help": f"the game ends as it stands after this many rounds (1 to {MOST_ROUNDS})"},
    )
