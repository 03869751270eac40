"""The frozen scale of the opponents: the levels of a game, by the digests of their folders, and how strong each is."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs

from warpleague.errors import BadInput

SCALE_FILE: Final = Path(__file__).with_name("scale.json")
"""Written by `scripts/scale.py`."""


@attrs.frozen
class Level:
    """A bot of the scale: its shipped folder, the digest of its content, and its Elo over random play.

    `half_interval_elo` is half the 95 % interval of `elo_over_random`, None where it is not known. `step_is_a_guess`
    is whether the level won every match against those below, so that its distance to them is only a guess.
    """

    bot: str
    digest: str
    elo_over_random: float
    half_interval_elo: float | None
    step_is_a_guess: bool


@attrs.frozen
class Scale:
    """The levels of a game at one table size, from random play up; `digest` names what the scale says."""

    game: str
    players: int
    levels: tuple[Level, ...]
    digest: str

    @property
    def elo(self) -> tuple[float, ...]:
        """The strength of each level, in Elo over random play."""
        return tuple(level.elo_over_random for level in self.levels)

    @property
    def random_is_a_guess(self) -> bool:
        """Whether some step of the scale is a guess, so that the distance to random play is one, too."""
        return any(level.step_is_a_guess for level in self.levels)


def all_scales() -> list[Scale]:
    """All scales that come with Warp League."""
    return [_scale(data) for data in json.loads(SCALE_FILE.read_text(encoding="utf-8"))["scales"]]


def scale_of(game: str, players: int) -> Scale:
    """The scale of a game at a table size; `BadInput` if there is none."""
    scales = all_scales()
    for scale in scales:
        if (scale.game, scale.players) == (game, players):
            return scale
    there = ", ".join(f"{scale.game} with {scale.players} players" for scale in scales)
    raise BadInput(f"{game} with {players} players: there is no scale of strength for it, only for {there}")


def _scale(data: dict[str, Any]) -> Scale:
    digest = sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    levels = tuple(Level(**level) for level in data["levels"])
    return Scale(data["game"], data["players"], levels, digest)
