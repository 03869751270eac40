"""The formats of a league: each decides which bots meet, in which order, and when enough has been played.

A format is a module of its own, listed in the literal registry `MODULES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from warpleague.league.schedule.formats.api import Static

if TYPE_CHECKING:
    from warpleague.league.schedule.formats.api import Format
    from warpleague.league.season.season import Season

MODULES: Final = {
    "round-robin": "round_robin:make",
    "sampled": "sampled:make",
    "gauntlet": "round_robin:make_gauntlet",
    "swiss": "swiss:make",
    "knockout": "knockout:make",
    "double-elimination": "knockout:make",
    "ladder": "ladder:make",
    "test": "strength_test:make",
}
"""The module of each format in this folder, and its function of a season that returns the `Format`.

`[format] kind` names the format; only "sampled" is a round-robin with a number of `tables`.
"""


def format_of(season: Season) -> Format:
    """The format of a season."""
    kind = season.format.kind
    if kind == "round-robin" and season.format.tables != "all":
        kind = "sampled"  # type: ignore[assignment]
    module, _, function = MODULES[kind].partition(":")
    made: Format = getattr(import_module(f"warpleague.league.schedule.formats.{module}"), function)(season)
    if season.format.until is not None and isinstance(made, Static):
        from warpleague.league.schedule.formats.until import Until

        return Until(season, made)
    return made
