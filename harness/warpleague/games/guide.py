"""What a person who does not know a game is told: the goal, the rules in a minute, and the moves of a first turn."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs

Step: TypeAlias = "tuple[dict[str, Any] | tuple[int, ...], str]"
"""A move of the first turn, an action as JSON or what the dice show, and why it is made."""


@attrs.frozen
class Guide:
    """The beginning of a game in words, and a first turn to show; `games.first_turn` plays it.

    `goal` is one sentence, `rules` are a few that can be read in a minute. The turn begins in `position`, JSON as
    `Game.from_json` reads it; without one, in the first position of two players with the option values `options`.
    Between the moves of `turn` come forced actions, and dice that nobody chose.
    """

    goal: str
    rules: tuple[str, ...]
    turn: tuple[Step, ...]
    position: dict[str, Any] | None = None
    options: dict[str, Any] = attrs.field(factory=dict)
