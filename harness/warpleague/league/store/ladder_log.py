"""The log of a ladder: at each event, bots that come or go, it goes on with all that those who stay have played.

At an event it is written down which deals have begun. They count from then on, so nothing drops out that was played
among bots that stay, and what comes next follows from them. `stretches` works all of it out again.
"""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from warpleague.league.schedule.formats.round_robin import group_of
from warpleague.league.schedule.formats.until import MAX
from warpleague.league.season.season import Begun, deal_of
from warpleague.league.store import match_rows
from warpleague.league.store.schema import set_meta

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from warpleague.league.season.fixture import Table
    from warpleague.league.season.season import Season

KEY: Final = "taken_over"
"""The fact about the league that says which deals had begun at the last event."""

_GAP: Final = (
    2 * MAX
)  # the deals of a table in two batches, which are played together: this many may be missing in a row


def note(db: sqlite3.Connection, season: Season, entry: str) -> None:
    """Write down which deals of a ladder have begun; `entry` is the commitment to its bots. In a transaction."""
    if season.format.kind == "ladder":
        begun_bots = begun(db, season)
        content = {
            "entry": entry,
            "deals": [[*one.table, one.deals] for one in begun_bots],
            "open": [[*one.table, number] for one in begun_bots for number in one.open],
        }
        set_meta(db, KEY, json.dumps(content))


def read(text: str, entry: str) -> tuple[Begun, ...]:
    """Which deals had begun, from what `note` wrote down; nothing if that is about another entry."""
    content: Any = json.loads(text)
    if content["entry"] != entry:
        return ()
    open_: dict[Table, list[int]] = {}
    for table, number in _rows(content.get("open", [])):
        open_.setdefault(table, []).append(number)
    return tuple(Begun(table, deals, tuple(open_.get(table, ()))) for table, deals in _rows(content["deals"]))


def _rows(rows: Any) -> Iterator[tuple[Table, int]]:
    for *table, number in rows:
        if not all(type(one) is int and one >= 0 for one in (*table, number)):
            raise ValueError("deals: must be whole numbers")
        yield tuple(table), number


def begun(db: sqlite3.Connection, season: Season, before: int | None = None) -> tuple[Begun, ...]:
    """The deals of each table of which a match is stored, with those among them that are not played to their end.

    With `before`: of which one was stored before this entry of the journal.
    """
    places = {(bot.bot, bot.identity): place for place, bot in enumerate(season.bots)}
    stored: dict[Table, set[str]] = {}
    for match_id, _, bots, _ in match_rows.results_before(db, before):
        begun_bots = {
            places[bot] for bot in bots if bot in places
        }  # others have left, or are of another version
        if len(begun_bots) == len(bots) == season.players:
            stored.setdefault(tuple(sorted(begun_bots)), set()).add(match_id)
    begun_ = [_begun(season, table, stored[table]) for table in sorted(stored)]
    return tuple(one for one in begun_ if one.deals)


def _begun(season: Season, table: Table, stored: set[str]) -> Begun:
    """Of one table; `stored` are the ids of its matches, of which some may be of other formats."""
    deals, open_ = 0, []
    for number in count():
        if not stored or number - deals > _GAP:
            break
        group = group_of(season, table, number)
        ids = {season.match_id(deal_of(season, group, seats), seats) for seats in group.seats}
        if there := ids & stored:
            open_ += [*range(deals, number), *([number] if there != ids else [])]
            deals = number + 1
            stored -= there
    return Begun(table, deals, tuple(open_))
