"""The result store of a league: one SQLite file that holds every match with its record, and no match twice.

Crash safety: a match and its record are committed in one transaction, in WAL mode with `synchronous = FULL`. A
commit that was acknowledged survives the death of the process and of the machine; one that was not leaves nothing
behind. WAL costs one sync a commit where a rollback journal costs several, and it lets `status` read while a run
writes. A clean close folds the log back into the one file. The match id is the primary key: no match can be in the
store twice.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

from warpleague.errors import RecordError, StoreError
from warpleague.league.season.played_match import (
    LATEST_COLUMNS,
    PLAYED_COLUMNS,
    RESULT_COLUMNS,
    LatestMatch,
    PlayedMatch,
    StoredMatch,
    confinement_from,
    latest_from,
    played_from,
    played_match_from,
    row_of,
)
from warpleague.league.season.text import MEND
from warpleague.league.store import column_store as kept
from warpleague.league.store import entrants_commitment, journal
from warpleague.league.store.about import About
from warpleague.league.store.facts import META, add_fact, meta_alterations
from warpleague.league.store.lock import StoreFiles, take_lock
from warpleague.league.store.schema import (
    clear_errors,
    confinement_id,
    confinement_text,
    connect_to_read,
    connect_to_write,
    transaction,
    unplayed,
)
from warpleague.match.packing import unpack
from warpleague.match.zstd import ZstdCompressor
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from warpleague.league.results.pass_cache import Pass, Still
    from warpleague.league.season.fixture import Fixture
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.journal import Head
    from warpleague.match.confinement import Confinement
    from warpleague.match.spec import MatchResult, SeatFault, SeatSpec

T = TypeVar("T")
_CHUNK = 400  # ids looked up by one query; SQLite takes 999 at least
_PACKED = 3  # the level of zstd: the higher ones take eight times as long, and save 6 % of the space
_MAX_STILL = 100_000  # matches whose columns are kept within a snapshot, in some MB
_COLUMNS = journal.COLUMNS
_INSERT_MATCH = f"INSERT INTO match ({', '.join(_COLUMNS)}, held) VALUES ({','.join('?' * len(_COLUMNS))}, ?)"


class Store(About):
    """One league's results. Open it with `open_to_write` or `open_to_read`; close it when done."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self.files = StoreFiles() if lock is None else StoreFiles.of(path, path.with_name("league.lock"))
        self._packer = ZstdCompressor(level=_PACKED)
        self.still: Still | None = None
        """What was worked out of the matches within a `snapshot`; None outside of one, and where they are many."""

    @classmethod
    def open_to_write(cls, folder: Path) -> Store:
        """The store in `folder`, made if need be; `StoreError` if another process is running the league.

        The lock is an flock on `league.store.lock` next to the store: it goes with the process, however that ends.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = take_lock(folder / "league.lock")
        except OSError as error:
            raise StoreError(f"{folder}: results cannot be written here: {error.strerror}") from None
        path = folder / "league.sqlite"
        try:
            db = connect_to_write(path)
            with clear_errors(path), transaction(db):
                found = journal.cut(db)
                if found is not None:  # verify reports it from now on, though the journal goes on
                    add_fact(db, journal.CUT, {"ended": str(found[0]), "before": safe(found[1])})
            return cls(path, db, lock)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def open_to_read(cls, folder: Path) -> Store:
        """The store in `folder`, for reading while a run may go on; `StoreError` if there is none."""
        path = folder / "league.sqlite"
        if not path.is_file():
            raise unplayed(path)
        return cls(path, connect_to_read(path), None)

    def close(self) -> None:
        """Fold the log into the file, give the lock back."""
        if self._lock is not None:
            with suppress(StoreError), self.writing():
                kept.fold(self._db, least=1)
            # Where someone is reading it fails, and the log stays, which is as safe.
            with suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Matches

    def add(self, results: Iterable[tuple[Fixture, Sequence[SeatSpec], MatchResult]]) -> None:
        """Commit finished matches, each with its record, in one transaction; durable when this returns."""
        with self.writing():
            keep = kept.head(self._db) is not None
            for fixture, seats, result in results:
                self.put(fixture.id, fixture.deal, [(seat.bot, seat.identity) for seat in seats], result)
                if keep:
                    kept.note(self._db, fixture)
            kept.fold(self._db)

    def put(self, match_id: str, deal: int, bots: Sequence[tuple[str, str]], result: MatchResult) -> None:
        """Insert a match with its record, and note it in the journal; within `writing`."""
        row = row_of(match_id, deal, bots, result)
        confined, packed = (
            confinement_text(result.confinement),
            self._packer.compress(result.record, ZstdCompressor.FLUSH_FRAME),
        )
        self._db.execute(_INSERT_MATCH, (*row, confinement_id(self._db, confined)))
        self._db.execute("INSERT INTO record VALUES (?, ?, ?)", (match_id, len(result.record), packed))
        journal.append(self._db, row, confined, len(result.record), packed)

    def remove(self, match_id: Any, problem: str) -> None:
        """Delete a match that does not hold, and note that in the journal; within `writing`."""
        # An id that is no UTF-8 text has to be given as bytes.
        text = isinstance(match_id, str)
        key = match_id.encode("utf-8", "surrogateescape") if text else match_id
        for table in ("record", "match"):
            self._db.execute(f"DELETE FROM {table} WHERE id = {'CAST(? AS TEXT)' if text else '?'}", (key,))
        self._db.execute("DELETE FROM held WHERE id NOT IN (SELECT held FROM match WHERE held IS NOT NULL)")
        self.drop_columns()
        add_fact(self._db, journal.REMOVED, {"match": safe(str(match_id)), "problem": safe(problem)})

    @contextmanager
    def snapshot(self, begun: Pass | None = None) -> Iterator[None]:
        """Everything that is read inside shows the store as it was at the first read, even while a run writes.

        What takes a pass through the matches goes on with what an earlier snapshot has `begun`.
        """
        from warpleague.league.results.pass_cache import Pass, Still  # which load numpy

        with clear_errors(self.path):
            self._db.execute("BEGIN")
            self.still = Still(begun or Pass()) if self.count() <= _MAX_STILL else None
            try:
                yield
            finally:
                self.still = None
                self._db.execute("COMMIT")

    def version(self) -> int:
        """A number that is another one as soon as somebody else has written to the store."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def latest(self, most: int) -> list[LatestMatch]:
        """The matches stored last, the newest first."""
        found = self._rows(
            f"SELECT {LATEST_COLUMNS} FROM (SELECT id, seq FROM journal ORDER BY seq DESC LIMIT ?) AS new "
            "JOIN match ON match.id = new.id ORDER BY new.seq DESC",
            most,
        )
        return [match for row in found if (match := latest_from(row)) is not None]

    def last_played(self, most: int, before: int | None = None, bot: str | None = None) -> list[PlayedMatch]:
        """At most so many stored matches, the newest first: of one bot, or from before an entry of the journal."""
        found = self._rows(
            f"SELECT journal.seq, {PLAYED_COLUMNS} FROM journal CROSS JOIN match ON match.id = journal.id "
            "WHERE (?1 IS NULL OR journal.seq < ?1) AND (?2 IS NULL OR instr(match.bots, ?2)) "
            "ORDER BY journal.seq DESC LIMIT ?3",
            before,
            None if bot is None else json.dumps(bot),
            most,
        )
        return [match for row in found if (match := played_match_from(row)) is not None]

    def played_match(self, match_id: str) -> PlayedMatch | None:
        """A stored match as lists show it, or None."""
        found = self._rows(f"SELECT 0, {PLAYED_COLUMNS} FROM match WHERE id = ?", match_id)
        return played_match_from(found[0]) if found else None

    def _select(self, what: str, chunk: Sequence[Fixture], then: str = "") -> list[tuple[Any, ...]]:
        marks = ",".join("?" * len(chunk))
        query = f"SELECT {what} FROM match WHERE id IN ({marks}) {then}"
        return self._rows(query, *(fixture.id for fixture in chunk))

    def count(self) -> int:
        """How many matches are stored, including those of other bots or formats."""
        with clear_errors(self.path):
            return kept.count_all(self._db)

    def count_versions(self) -> Counter[tuple[str, str]]:
        """In how many stored matches each bot plays, by name and identity; those that cannot be read are left out."""
        found: Counter[tuple[str, str]] = Counter()
        for text, many in self._rows("SELECT bots, count(*) FROM match GROUP BY bots"):
            with suppress(ValueError, TypeError, RecursionError):  # verify reports it
                for name, identity in {(str(name), str(identity)) for name, identity in json.loads(text)}:
                    found[name, identity] += many
        return found

    def results_before(self, entry: int) -> list[tuple[int, str, str]]:
        """Deal, bots and ranks, as they are stored, of each match stored before this entry of the journal."""
        return self._rows(
            "SELECT m.deal, m.bots, m.ranks FROM match m WHERE m.id IN (SELECT id FROM journal WHERE seq < ?)",
            entry,
        )

    def count_of(self, fixtures: Iterable[Fixture]) -> int:
        """How many of the fixtures are stored."""
        found, stored = 0, self.count()
        if not stored:
            return 0
        for chunk in _chunks(fixtures):
            found += self._select("count(*)", chunk)[0][0]
            if found >= stored:
                break  # all are found: of a long season that has just begun, the rest need not be looked at
        return found

    # Columns

    def columns(self, entry: str, players: int, parts: Sequence[str]) -> Columns | None:
        """The results of all stored matches of the schedule, if the store has them for the commitment `entry`.

        `parts` are those of `columns.PARTS` that are wanted.
        """
        with clear_errors(self.path):
            known = kept.head(self._db)
            if known is None or known["entry"] != entry:
                return None
            from warpleague.league.store.columns import Damaged

            try:
                return kept.read(self._db, players, parts)
            except Damaged:  # verify reports it
                return None

    def each_columns(self, entry: str, players: int, parts: Sequence[str]) -> Iterator[Columns] | None:
        """The same in pieces, in schedule order; `Damaged` where the next one cannot be read."""
        with clear_errors(self.path):
            known = kept.head(self._db)
            return None if known is None or known["entry"] != entry else kept.each(self._db, players, parts)

    def count_columns(self, entry: str) -> Counter[int | None] | None:
        """How many matches of the schedule have each number in `confinements`, if known without reading them."""
        with clear_errors(self.path):
            return kept.count(self._db, entry)

    def columns_tell_all(self) -> bool:
        """Whether the columns tell of as many matches as are stored; not so where rows were deleted by hand."""
        with clear_errors(self.path):
            return kept.tell_all(self._db)

    def make_columns(self, entry: str, matches: Iterable[tuple[Fixture, StoredMatch]], players: int) -> None:
        """Make the columns anew from `matches`, all of the schedule that are stored, in its order."""
        with self.writing() as db:
            kept.make(db, entry, matches, players)

    def columns_fit(self, entry: str, matches: Iterable[tuple[Fixture, StoredMatch]], players: int) -> bool:
        """Whether the columns of the commitment `entry`, if there are any, are those of `matches`, as above."""
        with clear_errors(self.path):
            return kept.count(self._db, entry) is None or kept.fit(self._db, matches, players)

    def drop_columns(self) -> None:
        """Forget the columns, since other matches are stored now; within `writing`."""
        kept.drop(self._db)

    def confinements(self, *, damaged: bool = False) -> dict[int, Confinement]:
        """How bots were confined, as records say it, by the number that matches refer to it with.

        With `damaged`, what cannot be read is left out; without, it raises `StoreError`.
        """
        known: dict[int, Confinement] = {}
        for number, text in self._rows("SELECT id, found FROM held"):
            try:
                known[number] = confinement_from(text)
            except (TypeError, ValueError, RecursionError) as error:
                if not damaged:
                    raise StoreError(
                        f"{self.path}: is damaged: how bots were confined: {error}; {MEND}"
                    ) from None
        return known

    def count_confinements(self, fixtures: Iterable[Fixture]) -> Counter[int | None]:
        """How many of the stored fixtures refer to each number in `confinements`; None: it was not noted."""
        counts: Counter[int | None] = Counter()
        stored = self.count()
        for chunk in _chunks(fixtures) if stored else ():
            for number, count in self._select("held, count(*)", chunk, "GROUP BY held"):
                counts[number] += count
            if counts.total() >= stored:
                break  # as in count_of
        return counts

    def since_entry(self) -> list[str]:
        """The ids of the matches stored since it was last settled who plays (entrants, merges, decisions)."""
        return [
            str(row[0])
            for row in self._rows(
                "SELECT m.id FROM journal j JOIN match m ON m.id = j.id WHERE j.seq > (SELECT coalesce(max(j.seq), 0) "
                "FROM journal j JOIN fact f ON f.id = j.id WHERE f.kind NOT IN (?, ?, ?)) ORDER BY j.seq",
                META,
                journal.REMOVED,
                journal.VOIDED,
            )
        ]

    def journal(self) -> int:
        """How many entries the journal has."""
        return int(self._rows("SELECT count(*) FROM journal")[0][0])

    def alterations(self, heads: Sequence[Head] = ()) -> list[tuple[str | None, str]]:
        """What was deleted, replaced or added after it was stored: the id of the match, if known, and what happened.

        Empty if the store is unchanged and goes back to all of `heads`.
        """
        with clear_errors(self.path):
            found = list(journal.alterations(self._db, heads))
            found += [(None, problem) for problem in meta_alterations(self._db, self.path)]
            found += entrants_commitment.entrant_alterations(self._db)
        return [(None if match_id is None else safe(str(match_id)), what) for match_id, what in found]

    def __contains__(self, match_id: str) -> bool:
        return bool(self._rows("SELECT 1 FROM match WHERE id = ?", match_id))

    def digest_of(self, match_id: str) -> str | None:
        """The digest of a stored match, or None where there is no such match."""
        rows = self._rows("SELECT digest FROM match WHERE id = ?", match_id)
        return str(rows[0][0]) if rows else None

    def ids(self) -> list[Any]:
        """The ids of all stored matches, including other bots and formats; in a damaged store they may be anything."""
        return [row[0] for row in self._rows("SELECT id FROM match UNION SELECT id FROM record ORDER BY id")]

    def look_up(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, StoredMatch | None]]:
        """Each fixture, in the given order, with its result or None; memory does not grow with their number."""
        for fixture, row in self.rows(fixtures):
            yield fixture, None if row is None else played_from(row, len(fixture.seats))

    def rows(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, tuple[Any, ...] | None]]:
        """Each fixture with its row of `RESULT_COLUMNS`, for `played_from`, or None."""
        for chunk in _chunks(fixtures):
            found = {row[0]: row for row in self._select(RESULT_COLUMNS, chunk)}
            for fixture in chunk:
                yield fixture, found.get(fixture.id)

    def tells_services(self) -> bool:
        """Whether any stored match tells of failures of services, or of what they took."""
        found = self._rows(
            "SELECT 1 FROM match WHERE instr(times, 'failures') OR instr(times, '_tokens') OR instr(times, 'cost') "
            "LIMIT 1"
        )
        return bool(found)

    def faults(self, ids: Sequence[str]) -> Iterator[tuple[str, tuple[tuple[SeatFault, ...], ...]]]:
        """The faults of each of these matches, by seat; a match that is not there any more has none."""
        for at in range(0, len(ids), _CHUNK):
            part = ids[at : at + _CHUNK]
            marks = ",".join("?" * len(part))
            rows = self._rows(f"SELECT {RESULT_COLUMNS} FROM match WHERE id IN ({marks})", *part)
            found = {row[0]: row for row in rows}
            for match_id in part:
                yield match_id, played_from(found[match_id]).faults if match_id in found else ()

    def played(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, StoredMatch]]:
        """The fixtures that have been played, in the given order, with their results."""
        left = self.count()
        for fixture, result in self.look_up(fixtures) if left else ():
            if result is not None:
                yield fixture, result
                left -= 1
                if not left:
                    break  # as in count_of

    def record(self, match_id: str) -> bytes:
        """The record of a stored match: canonical JSON lines, as the match wrote them.

        `StoreError` if there is none, or what is there cannot be unpacked.
        """
        rows = self._rows("SELECT size, zstd FROM record WHERE id = ?", match_id)
        if not rows:
            raise StoreError(f"{self.path}: holds no record of match {match_id!r}; {MEND}")
        size, packed = rows[0]
        try:
            record = unpack(packed) if isinstance(packed, bytes) else b""
        except RecordError as error:
            raise StoreError(
                f"{self.path}: the record of match {match_id!r} is damaged: {error}; {MEND}"
            ) from None
        if not record or len(record) != size:
            raise StoreError(
                f"{self.path}: the record of match {match_id!r} is damaged: it is not of the size it had; {MEND}"
            )
        return record

    def check(self, match_id: str) -> None:
        """Raise `StoreError` if the row or the record of a match cannot be read."""
        for row in self._rows(f"SELECT {RESULT_COLUMNS} FROM match WHERE id = ?", match_id):
            _ = (played := played_from(row)).faults, played.times
        self.record(match_id)

    def matching(self, prefix: str) -> list[str]:
        """The ids of stored matches that begin with `prefix`, at most three."""
        rows = self._rows("SELECT id FROM match WHERE substr(id, 1, ?) = ? LIMIT 3", len(prefix), prefix)
        return [row[0] for row in rows]

    def matches_of(self, bot: str, most: int) -> list[tuple[str, list[tuple[str, str]]]]:
        """The ids of the last `most` matches of a bot, the newest first, each with names and identities by seat."""
        rows = self._rows(
            "SELECT match.id, match.bots FROM journal CROSS JOIN match ON match.id = journal.id "
            "WHERE instr(match.bots, ?) ORDER BY seq DESC LIMIT ?",
            json.dumps(bot),
            most,
        )
        return [
            (str(match), [(str(seat[0]), str(seat[1])) for seat in json.loads(bots)]) for match, bots in rows
        ]

    def deal_of(self, match_id: str) -> int:
        """The deal number of a stored match."""
        deal = self._rows("SELECT deal FROM match WHERE id = ?", match_id)[0][0]
        if type(deal) is not int:
            raise StoreError(f"the store is damaged: match {match_id}: deal: must be a whole number; {MEND}")
        return deal


def _chunks(fixtures: Iterable[Fixture]) -> Iterator[list[Fixture]]:
    source = iter(fixtures)
    while chunk := list(islice(source, _CHUNK)):
        yield chunk
