"""Keeps the columns of a league's results in its store, so that tables need not read every match again.

They follow from the matches, and `league verify` compares the two. Matches come into them in two steps: the
transaction that stores a match also notes its place in the schedule in the table `recent`; when there are many, all of
them go into packed columns at once. Both together are always all matches of the schedule that are stored. They belong
to one commitment to the entrants (bots, conditions, format). When that changes, or matches are taken over or removed,
the columns are made anew.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from warpleague.league.season.played_match import RESULT_COLUMNS, played_from

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from warpleague.league.season.fixture import Fixture
    from warpleague.league.season.played_match import StoredMatch
    from warpleague.league.store.columns import Columns

CHUNK: Final = 8192
"""Numbers of the schedule in one chunk of columns."""

_MAX_RECENT: Final = 2000  # matches that wait: reading them one by one takes some 20 ms
_HEAD: Final = "SELECT data FROM columns WHERE chunk = -1 AND part = 'head'"
_RECENT: Final = (
    f"SELECT r.number, r.cluster, r.seats, m.deal, {', '.join(f'm.{name}' for name in RESULT_COLUMNS.split(', '))} "
    "FROM recent r JOIN match m ON m.id = r.id ORDER BY r.number"
)


def head(db: sqlite3.Connection) -> dict[str, Any] | None:
    """What is known of the columns as a whole, or None where there are none that can be used.

    `entry` is the commitment to the entrants, `matches` how many there are, `confined` how many by the number of their
    confinement ("" where it was not noted); recent ones are not among them. `other` is how many stored
    matches do not belong to the schedule.
    """
    row = db.execute(_HEAD).fetchone()
    with suppress(ValueError, TypeError, KeyError):
        found = None if row is None else json.loads(row[0])
        if isinstance(found, dict) and isinstance(found["confined"], dict) and type(found["other"]) is int:
            return found
    return None


def _set_head(db: sqlite3.Connection, entry: str, confined: Counter[int], other: int) -> None:
    names = {("" if number < 0 else str(number)): count for number, count in sorted(confined.items())}
    said = {"entry": entry, "matches": confined.total(), "other": other, "confined": names}
    db.execute("REPLACE INTO columns VALUES (-1, 'head', ?)", (json.dumps(said).encode(),))


def drop(db: sqlite3.Connection) -> None:
    """Forget all columns; in a transaction."""
    db.execute("DELETE FROM columns")
    db.execute("DELETE FROM recent")


def begin(db: sqlite3.Connection, entry: str) -> None:
    """Let columns be those of the commitment `entry`; in a transaction.

    Those of another one are forgotten, and have to be made anew where there are matches.
    """
    known = head(db)
    if known is None or known["entry"] != entry:
        drop(db)
        if not db.execute("SELECT 1 FROM match LIMIT 1").fetchone():
            _set_head(db, entry, Counter(), 0)


def note(db: sqlite3.Connection, fixture: Fixture) -> None:
    """Note the place of a match that is being stored; in the same transaction."""
    seats = ",".join(map(str, fixture.seats))
    db.execute("INSERT INTO recent VALUES (?, ?, ?, ?)", (fixture.number, fixture.group, fixture.id, seats))


def fold(db: sqlite3.Connection, least: int = _MAX_RECENT) -> None:
    """Move recent matches into the columns, if there are `least` of them; in a transaction."""
    waiting = db.execute("SELECT count(*) FROM recent").fetchone()[0]
    known = head(db)
    if waiting < max(least, 1) or known is None:
        return
    from warpleague.league.store.columns import Damaged, of_matches

    recent = list(_recent(db))
    counts = Counter({int(number or -1): count for number, count in known["confined"].items()})
    counts.update(-1 if played.confinement is None else played.confinement for _, played in recent)
    try:
        _put(db, of_matches(recent, len(recent[0][0].seats)))
    except Damaged:
        drop(db)  # they are made anew when the league is run next
        return
    _set_head(db, str(known["entry"]), counts, known["other"])
    db.execute("DELETE FROM recent")


def make(
    db: sqlite3.Connection, entry: str, matches: Iterable[tuple[Fixture, StoredMatch]], players: int
) -> None:
    """Make all columns anew from the stored matches of the schedule, in its order; in a transaction."""
    from warpleague.league.store.columns import of_matches

    drop(db)
    counts: Counter[int] = Counter()
    for part in _chunks(matches):
        columns = of_matches(part, players)
        counts.update(columns.confinement.tolist())
        _put(db, columns)
    stored = db.execute("SELECT count(*) FROM match").fetchone()[0]
    _set_head(db, entry, counts, stored - counts.total())


def fit(db: sqlite3.Connection, matches: Iterable[tuple[Fixture, StoredMatch]], players: int) -> bool:
    """Whether the columns are those of `matches`, all of the schedule that are stored, in its order."""
    from warpleague.league.store.columns import PARTS, Damaged, of_matches

    known = head(db)
    try:
        whole = read(db, players, PARTS)
    except Damaged:
        return False
    counts: Counter[int] = Counter()
    at = 0
    for part in _chunks(matches):
        wanted = of_matches(part, players)
        if not wanted.same(whole.only(slice(at, at + len(wanted)))):
            return False
        at += len(wanted)
        counts.update(wanted.confinement.tolist())
    told = None if known is None else count(db, str(known["entry"]))
    wanted_counts = Counter({n if n >= 0 else None: many for n, many in counts.items()})
    return bool(at == len(whole) and told == wanted_counts)


def _chunks(matches: Iterable[tuple[Fixture, StoredMatch]]) -> Iterator[list[tuple[Fixture, StoredMatch]]]:
    at = 0
    chunk: list[tuple[Fixture, StoredMatch]] = []
    for fixture, played in matches:
        if (fixture.number - 1) // CHUNK != at:
            if chunk:
                yield chunk
            at, chunk = (fixture.number - 1) // CHUNK, []
        chunk.append((fixture, played))
    if chunk:
        yield chunk


def _put(db: sqlite3.Connection, new: Columns) -> None:
    """Add matches to the chunks that they belong to."""
    from warpleague.league.store.columns import PARTS, joined

    places = (new.number - 1) // CHUNK
    for chunk in sorted(set(places.tolist())):
        mine = new.only(places == chunk)
        if (before := _unpacked(db, chunk, new.players)) is not None:
            mine = joined([before, mine], new.players)
        for part in PARTS:
            db.execute("REPLACE INTO columns VALUES (?, ?, ?)", (chunk, part, mine.pack(part)))


def _unpacked(db: sqlite3.Connection, chunk: int, players: int) -> Columns | None:
    from warpleague.league.store.columns import unpack

    parts = dict(db.execute("SELECT part, data FROM columns WHERE chunk = ?", (chunk,)).fetchall())
    return unpack(parts, players) if parts else None


def read(db: sqlite3.Connection, players: int, parts: Sequence[str]) -> Columns:
    """The columns of these `parts`, recent matches included; `Damaged` where they cannot be read."""
    from warpleague.league.store.columns import PARTS, joined

    wanted = tuple(part for part in PARTS if part in parts)
    chunks = db.execute("SELECT count(DISTINCT chunk) FROM columns WHERE chunk >= 0").fetchone()[0]
    expected = chunks * CHUNK + db.execute("SELECT count(*) FROM recent").fetchone()[0]
    return joined(each(db, players, wanted), players, expected).part(*wanted)


def each(db: sqlite3.Connection, players: int, parts: Sequence[str]) -> Iterator[Columns]:
    """The same, chunk after chunk in schedule order, each unpacked when it is wanted."""
    from warpleague.league.store.columns import PARTS, Damaged, joined, of_matches, unpack

    wanted = tuple(part for part in PARTS if part in parts)
    marks = ",".join("?" * len(wanted))
    query = f"SELECT part, data FROM columns WHERE chunk = ? AND part IN ({marks})"
    chunks = {row[0] for row in db.execute("SELECT DISTINCT chunk FROM columns WHERE chunk >= 0")}
    recent = of_matches(_recent(db), players).part(*wanted)
    places = (recent.number - 1) // CHUNK
    for chunk in sorted(chunks.union(places.tolist())):
        new = [recent.only(places == chunk)]
        if chunk in chunks:
            stored = dict(db.execute(query, (chunk, *wanted)).fetchall())
            if len(stored) != len(wanted):
                raise Damaged("a part is missing")
            new.insert(0, unpack(stored, players))
        yield joined(new, players, sum(map(len, new)))


def _recent(db: sqlite3.Connection) -> Iterator[tuple[Fixture, StoredMatch]]:
    from warpleague.league.season.fixture import Fixture

    for number, group, told, deal, *row in db.execute(_RECENT):
        seats = tuple(map(int, str(told).split(",")))
        yield Fixture(number, row[0], deal, group, seats), played_from(tuple(row), len(seats))


def count_all(db: sqlite3.Connection) -> int:
    """How many matches are stored, whether they belong to the schedule or not."""
    known = head(db)
    if known is None:
        return int(db.execute("SELECT count(*) FROM match").fetchone()[0])
    waiting = db.execute("SELECT count(*) FROM recent").fetchone()[0]
    return int(sum(known["confined"].values()) + known["other"] + waiting)


def tell_all(db: sqlite3.Connection) -> bool:
    """Whether the columns tell of as many matches as there are; not so where rows were deleted or added by hand."""
    return count_all(db) == int(db.execute("SELECT count(*) FROM match").fetchone()[0])


def count(db: sqlite3.Connection, entry: str) -> Counter[int | None] | None:
    """How many matches have each confinement (None: not noted), or None where no columns of `entry` are kept."""
    known = head(db)
    if known is None or known["entry"] != entry:
        return None
    counts: Counter[int | None] = Counter()
    for number, many in known["confined"].items():
        counts[int(number) if number else None] += many
    for held, many in db.execute(
        "SELECT m.held, count(*) FROM recent r JOIN match m ON m.id = r.id GROUP BY m.held"
    ):
        counts[held] += many
    return counts
