"""The options of captains."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from warpleague.games.fields import choice, free, whole

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
MAX_ROUNDS = 10_000


@attrs.frozen
class Options:
    """The options of captains (captains G4-G8, A1, E4)."""

    galaxy: Literal["full", "basic"] = choice(
        "full", GALAXIES, "full: each board's side and rotation are drawn; basic: all side A, rotation 0"
    )
    pattern: str | None = free(
        str,
        "how boards are laid; 1-3 players: standard, asteroida-1, decapoda-2; "
        "4-5 players: standard-large, geotria-7, chaetodon-3; "
        "default: standard or standard-large, else the first by name that fits the players",
    )
    galaxy_file: dict[str, Any] | None = free(
        dict, "boards of your own: a TOML file in the format of the built-in boards"
    )
    ai: Literal["echabod-z", "brood", "azimuth"] | None = choice(
        None,
        (None, *AIS),
        "solo only, the opponent: echabod-z (normal, the default), brood (hard), azimuth (expert)",
    )
    max_rounds: int = whole(
        200, 1, MAX_ROUNDS, f"the game ends as it stands after this many rounds (1 to {MAX_ROUNDS})"
    )
