"""How far a ladder is: what it goes on with, from what is stored as chosen and as played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from warpleague.errors import StoreError
from warpleague.league.results.tallies import outcomes
from warpleague.league.schedule.formats.ladder import Begun, Ladder
from warpleague.league.schedule.schedule import Course
from warpleague.league.season.fixture import TIMES
from warpleague.league.store.columns import joined
from warpleague.league.store.database import SPARE
from warpleague.league.store.events import ENTRANTS

if TYPE_CHECKING:
    from warpleague.league.results.league import League
    from warpleague.league.season.season import Season
    from warpleague.league.store.choices import Chosen
    from warpleague.league.store.columns import Columns

PARTS = ("results", "times")
"""What `begun` needs of matches."""


def going_on(league: League) -> Course:
    """What is left to play of a ladder that is open to run; what it chooses on the way is stored."""
    season, store, form = league.season, league.store, league.schedule.format
    assert isinstance(form, Ladder)
    chosen = store.chosen(season)
    columns = joined(store.columns(season, PARTS), season.players, store.count())
    if not np.isin((columns.number - 1) // form.matches_a_deal, chosen.places).all():
        raise StoreError(
            f"{store.path}: is damaged: a stored match is of a deal that is not among the chosen ones; {SPARE}"
        )
    entered = max((event.seq for event in store.events(ENTRANTS)), default=0)
    return Course(
        league.due,
        form.batches(begun(season, chosen, columns, league.barred, entered), league.barred),
        keeps=True,
    )


def begun(
    season: Season, chosen: Chosen, columns: Columns, barred: frozenset[int], entered: int
) -> Begun | None:
    """How far a ladder is: `chosen` are its deals, `columns` their matches that are stored.

    `entered` is the entry of the journal with which its bots were entered. A deal of one of the bots `barred` is over.
    """
    if not len(chosen):
        return None
    bots, size = len(season.bots), Ladder(season).matches_a_deal
    deal = np.searchsorted(chosen.places, (columns.number - 1) // size)
    whole = np.bincount(deal, minlength=len(chosen)) == size
    over = whole | np.isin(chosen.tables, list(barred)).any(axis=1)
    last = chosen.batches == chosen.batches[-1]
    counts = whole & ~last
    told = columns.only(counts[deal])
    # Also where each match has dice of its own, what counts at once is a whole deal.
    told = attrs.evolve(told, values={**told.values, "group": deal[counts[deal]]})
    wall_us = np.rint(told.times[:, :, TIMES.index("wall_ms")] * 1000)
    used_us = np.bincount(told.seats.ravel(), wall_us.ravel(), bots).astype(np.int64)
    before = chosen.tables[chosen.after < entered]
    return Begun(
        tables=chosen.tables,
        outcomes=outcomes(told),
        used_us=used_us,
        matches=np.bincount(told.seats.ravel(), minlength=bots),
        open=list(chosen.groups(season, ~over & ~last)),
        last=list(chosen.groups(season, last)),
        next_place=chosen.next_place,
        entered=len(before),
        newcomers=bots - len(np.unique(before)),
    )
