"""The deals that a ladder has chosen, in order: they are stored, and only `verify` works them out again.

A ladder chooses each deal by the results before it. When bots come or leave, all that was chosen among those who stay
goes on counting, and what is not over is played first. Each deal keeps its place in the schedule, so a match keeps its
number; places of bots that have left are gaps.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.errors import StoreError
from warpleague.league.schedule.formats.api import seatings_count
from warpleague.league.schedule.formats.round_robin import group_of
from warpleague.league.season.season import Season, deal_of
from warpleague.league.store import journal
from warpleague.league.store.database import SPARE
from warpleague.league.store.events import LADDER, numbering_of
from warpleague.league.store.schema import CHOICES, NUMBERING, set_meta

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpleague.league.ratings.outcomes import Ints
    from warpleague.league.season.fixture import Group, Table

_GAP: Final = 128
"""So many deals of a table may be missing in a row in what another machine played."""


@attrs.frozen(eq=False)
class Chosen:
    """Deals in the order of the schedule: `places` in it, `batches`, `tables` (deals, players).

    `after` is how many entries the journal had when a deal was chosen; -1 if no ladder chose it, but it was taken over
    from another store or format. `next_place` comes after all that were ever chosen, also among other bots.
    """

    next_place: int
    places: Ints
    batches: Ints
    after: Ints
    tables: Ints

    def __len__(self) -> int:
        return len(self.places)

    def only(self, these: Ints) -> Chosen:
        """The deals where a mask is true; the deals of each table must stay the first ones of it."""
        return Chosen(
            self.next_place, self.places[these], self.batches[these], self.after[these], self.tables[these]
        )

    def groups(self, season: Season, wanted: Ints | None = None) -> Iterator[Group]:
        """The deals, or those where a mask is true."""
        rounds = Counter[tuple[int, ...]]()
        for row, (place, table) in enumerate(
            zip(self.places.tolist(), map(tuple, self.tables.tolist()), strict=True)
        ):
            number, rounds[table] = rounds[table], rounds[table] + 1
            if wanted is None or wanted[row]:
                yield attrs.evolve(group_of(season, table, number), place=place)


def read(db: sqlite3.Connection, path: Path, season: Season) -> Chosen:
    """The deals that were chosen among the bots of a season; `StoreError` if they cannot be read."""
    bots_of = {name: bot for bot, name in enumerate(_names(db, season)) if name}
    rows, tables = [], []
    for *row, bots in db.execute("SELECT place, batch, after, bots FROM choice ORDER BY place"):
        table = [bots_of.get(name, -1) for name in str(bots).split()]
        if min(table, default=-1) >= 0 and len(set(table)) == len(table) == season.players:
            rows.append(row)
            tables.append(sorted(table))
    try:
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 3)
    except (ValueError, TypeError, OverflowError):
        raise StoreError(f"{path}: is damaged: its chosen deals; {SPARE}") from None
    (last,) = db.execute("SELECT coalesce(max(place), -1) FROM choice").fetchone()
    places, batches, after = numbers.T
    return Chosen(
        last + 1, places, batches, after, np.array(tables, dtype=np.int64).reshape(-1, season.players)
    )


def add(db: sqlite3.Connection, season: Season, groups: Sequence[Group], *, taken_over: bool = False) -> None:
    """Store the deals of a batch, but for those that are stored; in a transaction."""
    names = _names(db, season, new=True)
    place, batch = db.execute(
        "SELECT coalesce(max(place), -1), coalesce(max(batch), -1) FROM choice"
    ).fetchone()
    after = -1 if taken_over else journal.head(db).count
    db.executemany(
        "INSERT INTO choice VALUES (?, ?, ?, ?)",
        [
            (group.place, batch + 1, after, " ".join(names[bot] for bot in sorted(group.bots)))
            for group in groups
            if group.place is not None and group.place > place
        ],
    )


def _names(db: sqlite3.Connection, season: Season, *, new: bool = False) -> list[str]:
    """What a bot is called in chosen deals: its number in the store, and how often its version has come back.

    A bot that has none is called nothing, or gets one if it is `new`.
    """
    known = {
        (name, identity): number
        for number, name, identity in db.execute("SELECT id, name, identity FROM bot")
    }
    names = []
    for bot in season.bots:
        key = (bot.bot, bot.identity)
        if new and key not in known:
            known[key] = db.execute("INSERT INTO bot (name, identity) VALUES (?, ?)", key).lastrowid
        returns = season.returns.get(bot.bot, 0)
        names.append("" if key not in known else f"{known[key]}:{returns}" if returns else str(known[key]))
    return names


# -- numbers ---------------------------------------------------------------------------------------------


def number(db: sqlite3.Connection, path: Path, season: Season) -> None:
    """Let exactly the stored matches of a ladder that count have their numbers; in a transaction.

    What was played among its bots elsewhere, or in another format, is taken over: the first deals of each table.
    """
    meta = dict(db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", (CHOICES, NUMBERING)))
    form = json.dumps([season.format.seats, season.format.dice])
    if meta.get(CHOICES) != form:
        db.execute("DELETE FROM choice")
        set_meta(db, CHOICES, form)
    if meta.get(CHOICES) != form or not str(meta.get(NUMBERING)).startswith(LADDER):
        db.execute("UPDATE match SET number = NULL, cluster = NULL WHERE number IS NOT NULL")
    chosen, size = read(db, path, season), seatings_count(season.format.seats, season.players)
    numbered = np.array(
        [row[0] for row in db.execute("SELECT number FROM match WHERE number IS NOT NULL")], dtype=np.int64
    )
    gone = numbered[~np.isin((numbered - 1) // size, chosen.places)]
    db.executemany(
        "UPDATE match SET number = NULL, cluster = NULL WHERE number = ?", [(int(one),) for one in gone]
    )
    if left := _unnumbered(db, season):
        _number_again(db, season, chosen, left)
    set_meta(db, NUMBERING, numbering_of(season))


def _unnumbered(db: sqlite3.Connection, season: Season) -> dict[Table, set[str]]:
    """The ids of the matches among the bots of a season that have no number, by table."""
    bots = {int(name.partition(":")[0]): bot for bot, name in enumerate(_names(db, season)) if name}
    left: dict[Table, set[str]] = {}
    for match_id, listed in db.execute(
        "SELECT id, (SELECT group_concat(bot) FROM seat WHERE match = key) FROM match WHERE number IS NULL"
    ):
        table = {bots[int(one)] for one in str(listed).split(",") if one.isdecimal() and int(one) in bots}
        if len(table) == season.players == len(str(listed).split(",")):
            left.setdefault(tuple(sorted(table)), set()).add(str(match_id))
    return left


def _number_again(
    db: sqlite3.Connection, season: Season, chosen: Chosen, left: dict[Table, set[str]]
) -> None:
    """Number the matches `left` that are of a chosen deal, or of one that comes after these and is taken over."""
    known: dict[Table, list[int]] = {}
    for place, table in zip(chosen.places.tolist(), map(tuple, chosen.tables.tolist()), strict=True):
        known.setdefault(table, []).append(place)
    more: list[Group] = []
    waiting: list[Group]
    for table in sorted(left):
        ids, places, waiting = left[table], known.get(table, []), []
        for round_ in count():
            if not ids or len(waiting) > _GAP:
                break
            new = round_ >= len(places)
            place = chosen.next_place + len(more) + len(waiting) if new else places[round_]
            group = attrs.evolve(group_of(season, table, round_), place=place)
            waiting += [group] if new else []
            if there := _numbers(season, group, ids):
                # Deals before it of which nothing is there are played, too: a table's deals have no gaps.
                more, waiting = [*more, *waiting], []
                db.executemany("UPDATE match SET number = ?, cluster = ? WHERE id = ?", there)
                ids -= {match_id for *_, match_id in there}
    if more:
        add(db, season, more, taken_over=True)


def _numbers(season: Season, group: Group, ids: set[str]) -> list[tuple[int, int, str]]:
    """Number, group and id of each match of a deal that is among `ids`."""
    found, own = [], season.format.dice == "own"
    for at, seats in enumerate(group.seats):
        match_id = season.match_id(deal_of(season, group, seats), seats)
        if match_id in ids and group.place is not None:
            number = group.place * len(group.seats) + at + 1
            found.append((number, number if own else group.place, match_id))
    return found
