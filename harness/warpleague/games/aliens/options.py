"""The options of aliens."""

from __future__ import annotations

from typing import Literal

import attrs

from warpleague.games.fields import choice, switch, whole


@attrs.frozen
class Options:
    """The options of aliens."""

    max_turns: int = whole(
        400,
        1,
        1_000_000,
        "turns of both sides together, skipped ones included, after which the game is drawn",
    )
    both_ships: bool = switch(
        default=False, text="both ships must stand on enemy bases to win; a ship there may decline its die"
    )
    diagonals: Literal["normal", "swapped"] = choice(
        "normal",
        ("normal", "swapped"),
        "Crowns jump NE/SW and Arms NW/SE (normal), or the other way round (swapped)",
    )
