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

import msgspec
import zstandard

from warpleague import __version__
from warpleague.errors import RecordError, StoreError
from warpleague.league import entrants_commitment, journal
from warpleague.league.config import write_config
from warpleague.league.facts import Fact, add_fact, facts_in, meta_alterations, settle_meta
from warpleague.league.lock import StoreFiles, take_lock
from warpleague.league.schema import (
    MEND,
    SPARE,
    clear_errors,
    confinement_id,
    confinement_text,
    connect_to_read,
    connect_to_write,
    is_text,
    json_object,
    set_meta,
    transaction,
    unplayed,
    utc_now,
)
from warpleague.league.season import differences
from warpleague.league.stored_match import RESULT_COLUMNS, StoredMatch, confinement_from, played_from, row_of
from warpleague.match.chance import season_commitment
from warpleague.match.packing import unpack
from warpleague.match.spec import FORMAT, FORMATS, SeatSpec
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from warpleague.league.config import LeagueConfig
    from warpleague.league.journal import Head
    from warpleague.league.schedule import Fixture
    from warpleague.league.season import Entry, Season
    from warpleague.match.confinement import Confinement
    from warpleague.match.spec import MatchResult

T = TypeVar("T")
_CHUNK = 400  # ids looked up by one query; SQLite takes 999 at least
_COLUMNS = journal.COLUMNS
_INSERT_MATCH = f"INSERT INTO match ({', '.join(_COLUMNS)}, held) VALUES ({','.join('?' * len(_COLUMNS))}, ?)"


class Store:
    """One league's results. Open it with `open_to_write` or `open_to_read`; close it when done."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock
        self.files = StoreFiles() if lock is None else StoreFiles.of(path, path.with_name("league.lock"))
        self._pack = zstandard.ZstdCompressor(level=6)

    @classmethod
    def open_to_write(cls, folder: Path) -> Store:
        """The store in `folder`, made if need be; `StoreError` if another process is running the league.

        The lock is an flock on `league.lock` next to the store: it goes with the process, however that ends.
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

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query finds, all at once; `StoreError` where SQLite objects."""
        with clear_errors(self.path):
            return self._db.execute(query, values).fetchall()

    # What the league is

    def _select(self, what: str, chunk: Sequence[Fixture], then: str = "") -> list[tuple[Any, ...]]:
        marks = ",".join("?" * len(chunk))
        query = f"SELECT {what} FROM match WHERE id IN ({marks}) {then}"
        return self._rows(query, *(fixture.id for fixture in chunk))

    def meta(self, key: str) -> str | None:
        """A fact about the league, or None."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        if rows and not is_text(rows[0][0]):
            raise StoreError(f"{self.path}: is damaged: its {key} is no text; {SPARE}")
        return rows[0][0] if rows else None

    def _fact(self, key: str, read: Callable[[str], T]) -> T | None:
        """What a fact about the league means, or None; `StoreError` if it cannot be read."""
        text = self.meta(key)
        try:
            return None if text is None else read(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(f"{self.path}: is damaged: its {key}: {error}; {SPARE}") from None

    def secret(self) -> bytes | None:
        """The season's 32-byte secret; None before it is settled."""
        return self._fact("secret", bytes.fromhex)

    def record_format(self) -> int:
        """The format of the season's records: a season keeps the one that it began with."""
        stored = self._fact("conditions", json_object)
        found = FORMAT if stored is None else stored.get("record", 1)
        if found not in FORMATS:
            raise StoreError(
                f"{self.path}: its records are of format {found!r}; this version reads {FORMATS}"
            )
        return found

    def bots(self) -> tuple[SeatSpec, ...] | None:
        """The bots of the last run, in order, without a way to run them; None before the first run."""
        rows = self._fact("bots", msgspec.json.Decoder(list[tuple[str, str, str]]).decode)
        return None if rows is None else tuple(SeatSpec(*row) for row in rows)

    def skipped(self) -> tuple[str, ...]:
        """One line for each bot that was left out of the last run."""
        return self._fact("skipped", lambda text: tuple(map(str, json.loads(text)))) or ()

    def published(self) -> str | None:
        """When the season first ended, so that its secret became public (ISO time), or None."""
        return self.meta("published")

    def check_same_league(self, season: Season, config: LeagueConfig) -> None:
        """Raise `StoreError`, saying what differs, if the store belongs to a league of other conditions.

        Bots, format, rating and jobs may change: each match's id covers what determined it.
        """
        stored = self._fact("conditions", json_object)
        if stored is None:
            return
        old = {**stored, "seed": self._fact("seed", json.loads)}
        new = {**season.conditions, "seed": config.seed}
        lines = [f"  {line}" for line in differences(old, json.loads(json.dumps(new)))]
        if lines:
            raise StoreError(
                f"{self.path}: holds the results of another league; since then these have changed:\n"
                + "\n".join(lines)
                + "\nGive the new league its own name in the league file, or another --results folder."
            )

    def check_commitment(self) -> None:
        """Raise `StoreError` if the secret in the store is not the one that was committed to."""
        secret = self.secret()
        if secret is not None and season_commitment(secret) != self.meta("commitment"):
            raise StoreError(
                f"{self.path}: its secret does not fit its commitment; the file has been altered"
            )

    def committed(self) -> str | None:
        """When the secret was chosen and the commitment was printed (ISO time), or None."""
        return self.meta("committed") or (None if self.meta("commitment") is None else self.meta("created"))

    def commit(self, config: LeagueConfig, season: Season) -> None:
        """Write down the secret, its commitment and the conditions of a league before anyone has to be entered."""
        self.check_same_league(season, config)
        with self.writing():
            self._note_season(config, season)
            settle_meta(self._db, self.path)

    def _note_season(self, config: LeagueConfig, season: Season) -> None:
        committed = self.committed() or utc_now()
        for key, value in {
            "name": config.name,
            "secret": season.secret.hex(),
            "commitment": season.commitment,
            "committed": committed,
            "seed": json.dumps(config.seed),
            "conditions": json.dumps(season.conditions, sort_keys=True),
            "harness": __version__,
        }.items():
            set_meta(self._db, key, value)

    def enter(self, config: LeagueConfig, season: Season, skipped: Sequence[str] = ()) -> None:
        """Write down the league about to be run: secret, conditions, bots; and `league.toml` for people."""
        self.check_same_league(season, config)
        bots = [[bot.bot, bot.version, bot.digest] for bot in season.bots]
        beacon = {} if season.beacon is None else {"beacon": season.beacon}
        with self.writing():
            self._note_season(config, season)
            for key, value in {
                "config": json.dumps(config.to_toml(), sort_keys=True),
                "bots": json.dumps(bots),
                "skipped": json.dumps(list(skipped)),
                **beacon,
            }.items():
                set_meta(self._db, key, value)
            entrants_commitment.settle(self._db, self.path, season)
            settle_meta(self._db, self.path)
        write_config(
            config,
            self.path.with_name("league.toml"),
            f"Written by warpleague {__version__}: the league as it was last run, defaults included.",
            f"Commitment to the season's secret (SHA-256): {season.commitment}",
        )

    def publish_secret(self) -> None:
        """Note that the season has ended, which makes its secret public. What is public stays so."""
        with self.writing():
            if self.published() is None:
                set_meta(self._db, "published", utc_now())
                settle_meta(self._db, self.path)

    # Facts

    def note(self, kind: str, said: dict[str, Any]) -> None:
        """Store a fact of the kind `kind`, with its entry in the journal; durable when this returns."""
        with self.writing():
            add_fact(self._db, kind, said)

    def facts(self, *kinds: str) -> list[Fact]:
        """What was settled and decided about the league, in order; of some kinds, or all of it."""
        return facts_in(self._db, self.path, kinds)

    def entered(self) -> list[entrants_commitment.Entered]:
        """Every commitment to the entrants, in order."""
        return entrants_commitment.entered(self._db, self.path)

    def history(self) -> tuple[Entry, ...]:
        """Who took part in what, at each entry in order."""
        return entrants_commitment.history(self._db, self.path)

    def head(self) -> Head:
        """The head of the journal."""
        with clear_errors(self.path):
            return journal.head(self._db)

    # Matches

    def add(self, results: Iterable[tuple[Fixture, Sequence[SeatSpec], MatchResult]]) -> None:
        """Commit finished matches, each with its record, in one transaction; durable when this returns."""
        with self.writing():
            for fixture, seats, result in results:
                self.put(fixture.id, fixture.deal, [(seat.bot, seat.digest) for seat in seats], result)

    def put(self, match_id: str, deal: int, bots: Sequence[tuple[str, str]], result: MatchResult) -> None:
        """Insert a match with its record, and note it in the journal; within `writing`."""
        row = row_of(match_id, deal, bots, result)
        confined, packed = confinement_text(result.confinement), self._pack.compress(result.record)
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
        add_fact(self._db, journal.REMOVED, {"match": safe(str(match_id)), "problem": safe(problem)})

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is committed, or nothing."""
        with clear_errors(self.path), transaction(self._db):
            self.files.check()  # within the transaction: who takes another lock meanwhile waits for its end
            yield self._db
        self.files.check()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything that is read inside shows the store as it was at the first read, even while a run writes."""
        with clear_errors(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                self._db.execute("COMMIT")

    def count(self) -> int:
        """How many matches are stored, including those of other bots or formats."""
        return int(self._rows("SELECT count(*) FROM match")[0][0])

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
