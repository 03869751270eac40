"""How much of a ladder was played before bots came or went: what those who stay have played counts from its beginning.

It is written down when bots are entered. Else the ladder would be another one from the beginning, and would choose
other deals than those that have been played.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, Final

from warpleague.league.formats.api import deal_of
from warpleague.league.formats.round_robin import group_of
from warpleague.league.schema import set_meta

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from warpleague.league.formats.api import Group, Table
    from warpleague.league.season import Season

KEY: Final = "taken_over"
"""The fact about the league that says it."""


def note(db: sqlite3.Connection, season: Season, entry: str) -> None:
    """Write down what the bots of a ladder have played; `entry` is the commitment to them. In a transaction."""
    if season.format.kind == "ladder":
        set_meta(
            db,
            KEY,
            json.dumps({"entry": entry, "deals": [[*table, deals] for table, deals in played(db, season)]}),
        )


def read(text: str, entry: str) -> tuple[tuple[Table, int], ...]:
    """How many deals each table had played, from what `note` wrote down; nothing if that is about another entry."""
    said: Any = json.loads(text)
    if said["entry"] != entry:
        return ()
    found = []
    for *table, deals in said["deals"]:
        if not all(type(number) is int and number >= 0 for number in (*table, deals)):
            raise ValueError("deals: must be whole numbers")
        found.append((tuple(table), deals))
    return tuple(found)


def groups(season: Season) -> Iterator[Group]:
    """The deals that were taken over, in an order that follows from them: the first one of each table, and so on."""
    # A store may be damaged, or a stranger's.
    left = [
        (table, deals)
        for table, deals in season.taken_over
        if len(set(table)) == len(table) == season.players and max(table) < len(season.bots)
    ]
    for number in range(max((deals for _, deals in left), default=0)):
        yield from (group_of(season, table, number) for table, deals in left if number < deals)


def played(db: sqlite3.Connection, season: Season) -> tuple[tuple[Table, int], ...]:
    """Each table with how many of its deals are stored whole, from the first one on without a gap."""
    places = {(bot.bot, bot.identity): place for place, bot in enumerate(season.bots)}
    tables: set[Table] = set()
    for (text,) in db.execute("SELECT DISTINCT bots FROM match"):
        # Others' matches, or damaged ones, which verify reports.
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            tables.add(tuple(sorted(places[name, digest] for name, digest in json.loads(text))))
    found = []
    for table in sorted(tables):
        deals = (group_of(season, table, number) for number in count())
        whole = sum(1 for _ in takewhile(lambda deal: _is_stored(db, season, deal), deals))
        if whole:
            found.append((table, whole))
    return tuple(found)


def _is_stored(db: sqlite3.Connection, season: Season, group: Group) -> bool:
    """Whether all matches of a deal are there."""
    ids = (season.match_id(deal_of(season, group, seats), seats) for seats in group.seats)
    return all(db.execute("SELECT 1 FROM match WHERE id = ?", (one,)).fetchone() for one in ids)
