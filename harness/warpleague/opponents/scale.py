"""The frozen scale of the opponents: the levels of a game, by the digests of their folders, and how strong each is."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable

SCALE_FILE: Final = Path(__file__).with_name("scale.json")
"""Written by `scripts/scale.py`."""
FIELD_LEVEL: Final = 3
"""The level of the bots that have all other seats at tables of three and more."""
SHOWN: Final = 12
"""Digits of a digest."""


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
    """The levels of a game at one table size, from random play up; `digest` names what the scale says.

    At tables of three and more strengths depend on who else plays: bots of the level `field_level` have all other
    seats. It is None at smaller tables.
    """

    game: str
    players: int
    levels: tuple[Level, ...]
    digest: str
    field_level: int | None = None

    @property
    def field(self) -> tuple[Level, ...]:
        """The bots of all other seats."""
        return () if self.field_level is None else (self.levels[self.field_level - 1],) * (self.players - 2)

    @property
    def opponents(self) -> dict[str, Level]:
        """The bots that a bot meets on this scale, by the names that leagues give them: the levels, then the field."""
        levels = {Path(level.bot).name: level for level in self.levels}
        return levels | {f"field-{number}": level for number, level in enumerate(self.field, start=1)}

    def check(self, digests: Iterable[str]) -> None:
        """Raise `BadInput` if opponents with these digests of their content are not those that were measured."""
        for digest, level in zip(digests, self.opponents.values(), strict=True):
            if digest != level.digest:
                raise BadInput(
                    f"{level.bot}: its content is {digest[:SHOWN]}, but the scale was measured with "
                    f"{level.digest[:SHOWN]}; a folder of your own with this name hides the shipped bot"
                )

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
    scales = {scale.players: scale for scale in all_scales() if scale.game == game}
    if players not in scales:
        sizes = f"those with {', '.join(map(str, scales))}" if scales else "other games"
        raise BadInput(
            f"{game} with {players} players: strengths of levels were not measured at such tables, only at {sizes}"
        )
    return scales[players]


def _scale(data: dict[str, Any]) -> Scale:
    digest = sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    levels = tuple(Level(**level) for level in data["levels"])
    return Scale(data["game"], data["players"], levels, digest, data.get("field_level"))
