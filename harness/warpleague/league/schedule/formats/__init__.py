"""The formats of a league: each decides which bots meet, in which order, and when enough has been played.

Each is loaded when a league needs it: a ladder takes numpy, which takes longer than all else of a small league.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from warpleague.league.ratings.threads import one_thread
from warpleague.league.schedule.formats.api import Format, Static, Until

if TYPE_CHECKING:
    from warpleague.league.season.season import Season

CLASSES: Final = {
    "round-robin": "round_robin:RoundRobin",
    "sampled": "sampled:Sampled",
    "gauntlet": "round_robin:Gauntlet",
    "swiss": "swiss:Swiss",
    "knockout": "knockout:Knockout",
    "double-elimination": "knockout:Knockout",
    "ladder": "ladder:Ladder",
    "test": "strength_test:StrengthFormat",
    "placement": "placement:PlacementFormat",
}
"""The module of each format in this folder, and its class, which is made of a season.

`[format] kind` names the format; only "sampled" is a round-robin with a number of `tables`.
"""


def format_of(season: Season) -> Format:
    """The format of a season."""
    form = season.format
    sampled = form.kind == "round-robin" and form.tables != "all"
    module, _, name = CLASSES["sampled" if sampled else form.kind].partition(":")
    with one_thread():  # where it loads numpy
        made: Format = getattr(import_module(f"{__name__}.{module}"), name)(season)
    if form.until is not None and isinstance(made, Static):
        return Until(season, made)
    return made
