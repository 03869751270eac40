"""The conditions of matches: what is the same whatever the game, the bots and the dice.

A league and the check of a bot for it make their matches from the same conditions, so that both are played alike.
"""

from __future__ import annotations

from typing import Any

import attrs

from warpleague.match.spec import LEVEL, FaultPolicy, Level, MatchSpec, Pondering, TimeControl
from warpline.limits import NOTE_BYTES


@attrs.frozen(kw_only=True, slots=False)
class Conditions:
    """How long bots may think, how they are confined, and what a fault costs; each as in `MatchSpec`."""

    clock: TimeControl = attrs.Factory(lambda: TimeControl(move_s=1.0))
    level: Level = LEVEL
    faults: FaultPolicy = "forfeit"
    strikes: int = 0
    pondering: Pondering = "off"
    again: int = 0
    failures: int = 0
    note_bytes: int = NOTE_BYTES

    def match(self, **what: Any) -> MatchSpec:
        """A match under these conditions; `what` are the other fields of `MatchSpec`."""
        shared = {field.name: getattr(self, field.name) for field in attrs.fields(Conditions)}
        return MatchSpec(**shared, **what)
