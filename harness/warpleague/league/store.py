"""The result store of a league: one SQLite file that holds every match with its record, and nothing twice.

Leaves what should be in it to `schedule`, and what the results mean to `standings`.

Crash safety: a match and its record are committed in one transaction, in WAL mode with `synchronous = FULL`, so
that a commit that was acknowledged survives the death of the process and of the machine, and one that was not
leaves nothing behind. WAL costs one sync a commit where a rollback journal costs several, and it lets `status`
read while a run writes. A clean close folds the log back into the one file. The match id is the primary key:
no match can be in the store twice.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

import attrs
import zstandard

from warpleague import __version__
from warpleague.errors import StoreError
from warpleague.league import journal
from warpleague.league.config import write_config
from warpleague.league.facts import Fact, add_fact, facts_in
from warpleague.league.lock import take_lock
from warpleague.league.played import RESULT_COLUMNS, Played, played_from
from warpleague.league.schema import (
    FORMAT,
    JOURNAL_SINCE,
    SPARE,
    clear_errors,
    connect_to_read,
    connect_to_write,
    held_id,
    held_in,
    held_text,
    json_object,
    set_meta,
    store_at,
    transaction,
    unplayed,
    utc_now,
)
from warpleague.league.season import differences
from warpleague.match.chance import season_commitment
from warpleague.match.spec import SeatSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from warpleague.league.config import LeagueConfig
    from warpleague.league.schedule import Fixture
    from warpleague.league.season import Season
    from warpleague.match.spec import MatchResult

T = TypeVar("T")
_CHUNK = 400  # ids looked up by one query; SQLite takes 999 at least
_COLUMNS = journal.COLUMNS
_INSERT_MATCH = f"INSERT INTO match ({', '.join(_COLUMNS)}, held) VALUES ({','.join('?' * len(_COLUMNS))}, ?)"
_TAKE_OVER = (
    f"SELECT {', '.join('m.' + column for column in _COLUMNS)}, h.found, r.size, r.zstd "
    "FROM match m JOIN record r ON r.id = m.id LEFT JOIN held h ON h.id = m.held ORDER BY m.stored, m.id"
)


@attrs.frozen
class Merged:
    """What a merge did: matches taken over, matches both stores had, and ids whose digests disagree."""

    added: int
    shared: int
    differing: tuple[str, ...]


class Store:
    """One league's results. Open it with `open_to_write` or `open_to_read`; close it when done."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: int | None, format_: int = FORMAT
    ) -> None:
        self.path = path
        self.format = format_
        self._db = connection
        self._lock = lock
        self._pack = zstandard.ZstdCompressor(level=6)
        self._unpack = zstandard.ZstdDecompressor()

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
            return cls(path, connect_to_write(path), lock)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def open_to_read(cls, folder: Path) -> Store:
        """The store in `folder`, for reading while a run may go on; `StoreError` if there is none."""
        path = folder / "league.sqlite"
        if not path.is_file():
            raise unplayed(path)
        db, format_ = connect_to_read(path)
        return cls(path, db, None, format_)

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
        return rows[0][0] if rows else None

    def _fact(self, key: str, read: Callable[[str], T]) -> T | None:
        """What a fact about the league means, or None; `StoreError` if it cannot be read."""
        text = self.meta(key)
        try:
            return None if text is None else read(text)
        except (ValueError, TypeError) as error:
            raise StoreError(f"{self.path}: is damaged: its {key}: {error}; {SPARE}") from None

    def secret(self) -> bytes | None:
        """The season's 32-byte secret; None before it is settled."""
        return self._fact("secret", bytes.fromhex)

    def bots(self) -> tuple[SeatSpec, ...] | None:
        """The bots of the last run, in order, without a way to run them; None before the first run."""
        return self._fact("bots", lambda text: tuple(SeatSpec(*row) for row in json.loads(text)))

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
        """When the secret was chosen, so that the commitment could be told (ISO time), or None."""
        return self.meta("committed") or (None if self.meta("commitment") is None else self.meta("created"))

    def commit(self, config: LeagueConfig, season: Season) -> None:
        """Write down the secret, its commitment and the conditions of a league before anyone has to be entered."""
        self.check_same_league(season, config)
        with clear_errors(self.path), transaction(self._db):
            self._note_season(config, season)

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
        with clear_errors(self.path), transaction(self._db):
            self._note_season(config, season)
            for key, value in {
                "config": json.dumps(config.to_toml(), sort_keys=True),
                "bots": json.dumps(bots),
                "skipped": json.dumps(list(skipped)),
            }.items():
                set_meta(self._db, key, value)
        write_config(
            config,
            self.path.with_name("league.toml"),
            f"Written by warpleague {__version__}: the league as it was last run, defaults included.",
            f"Commitment to the season's secret (SHA-256): {season.commitment}",
        )

    def publish_secret(self) -> None:
        """Note that the season has ended, which makes its secret public. What is public stays so."""
        with clear_errors(self.path), transaction(self._db):
            if self.published() is None:
                set_meta(self._db, "published", utc_now())

    # Facts

    def note(self, kind: str, said: dict[str, Any]) -> None:
        """Store a fact of the kind `kind`, with its entry in the journal; durable when this returns."""
        add_fact(self._db, self.path, kind, said)

    def facts(self) -> list[Fact]:
        """What was decided about the league, in order."""
        return facts_in(self._db, self.path)

    # Matches

    def add(self, results: Iterable[tuple[Fixture, Sequence[SeatSpec], MatchResult]]) -> None:
        """Commit finished matches, each with its record, in one transaction; durable when this returns."""
        stored = utc_now()
        with clear_errors(self.path), transaction(self._db):
            for fixture, seats, result in results:
                faults = [[attrs.asdict(fault) for fault in seat] for seat in result.faults]
                times = [attrs.asdict(seat) for seat in result.times]
                bots = [[seat.bot, seat.digest] for seat in seats]
                rival = None if result.rival is None else float(result.rival)
                row = (
                    *(fixture.id, fixture.deal, _json(bots), _json(result.ranks), _json(result.scores)),
                    *(result.why, result.digest, _json(faults) if any(faults) else "", _json(times)),
                    *(result.lines, float(result.elapsed_s), stored, rival),
                )
                packed = self._pack.compress(result.record)
                self._put(row, held_text(result.held), len(result.record), packed)

    def _put(self, row: tuple[Any, ...], held: str | None, size: int, packed: bytes) -> None:
        """Insert a match and its record of `size` bytes, and note it in the journal; in a transaction."""
        self._db.execute(_INSERT_MATCH, (*row, held_id(self._db, held)))
        self._db.execute("INSERT INTO record VALUES (?, ?, ?)", (row[0], size, packed))
        journal.append(self._db, row, held)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read within shows the store as it was at the first reading, while a run goes on."""
        with clear_errors(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                self._db.execute("COMMIT")

    def count(self) -> int:
        """How many matches are stored, those of other bots or formats included."""
        count: int = self._rows("SELECT count(*) FROM match")[0][0]
        return count

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

    def held(self) -> dict[int, dict[str, Any]]:
        """What was found to hold of the level, as records say it, by the number that matches refer to it with."""
        try:
            return {number: json.loads(found) for number, found in self._rows("SELECT id, found FROM held")}
        except (TypeError, ValueError) as error:
            raise StoreError(f"{self.path}: is damaged: what held of the level: {error}; {SPARE}") from None

    def count_held(self, fixtures: Iterable[Fixture]) -> Counter[int | None]:
        """How many of the stored fixtures refer to each number in `held`; None: it was not noted."""
        counts: Counter[int | None] = Counter()
        stored = self.count()
        for chunk in _chunks(fixtures) if stored else ():
            for number, count in self._select("held, count(*)", chunk, "GROUP BY held"):
                counts[number] += count
            if counts.total() >= stored:
                break  # as in count_of
        return counts

    def journal(self) -> int | None:
        """How many entries the journal has; None for a store of a format that has no journal."""
        if self.format < JOURNAL_SINCE:
            return None
        count: int = self._rows("SELECT count(*) FROM journal")[0][0]
        return count

    def alterations(self) -> list[tuple[str | None, str]]:
        """What was deleted, replaced or slipped in since matches were stored: the match's id, if known, and what.

        Empty for a store of a format that kept no journal.
        """
        if self.journal() is None:
            return []
        with clear_errors(self.path):
            return list(journal.alterations(self._db))

    def __contains__(self, match_id: str) -> bool:
        return bool(self._rows("SELECT 1 FROM match WHERE id = ?", match_id))

    def look_up(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, Played | None]]:
        """Each fixture, in the given order, with its result or None; memory does not grow with their number."""
        for chunk in _chunks(fixtures):
            found = {row[0]: row for row in self._select(RESULT_COLUMNS, chunk)}
            for fixture in chunk:
                yield fixture, played_from(found.get(fixture.id))

    def played(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, Played]]:
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
            raise StoreError(f"{self.path}: holds no match {match_id!r}")
        size, packed = rows[0]
        try:
            return self._unpack.decompress(packed, max_output_size=size)
        except (zstandard.ZstdError, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{self.path}: the record of match {match_id!r} is damaged: {error}") from None

    def matching(self, prefix: str) -> list[str]:
        """The ids of stored matches that begin with `prefix`, at most three."""
        rows = self._rows("SELECT id FROM match WHERE substr(id, 1, ?) = ? LIMIT 3", len(prefix), prefix)
        return [row[0] for row in rows]

    def deal_of(self, match_id: str) -> int:
        """The deal number of a stored match."""
        deal: int = self._rows("SELECT deal FROM match WHERE id = ?", match_id)[0][0]
        return deal

    def merge_from(self, path: Path) -> Merged:
        """Take over the matches of another machine's store at `path` (a file, or the folder it is in).

        Both must be of the same league and the same secret, else `StoreError`. Where both have a match, ours
        stays, and its id is reported if the records differ. A secret that is public there is so here from now on.
        All or nothing, in one transaction.
        """
        other = store_at(path)
        with closing(connect_to_read(other)[0]) as db:
            with clear_errors(other):
                theirs: dict[str, str] = dict(db.execute("SELECT key, value FROM meta"))
            self._check_mergeable(theirs, other)
            with clear_errors(self.path), transaction(self._db):
                added, shared, differing = 0, 0, []
                for *row, held, size, packed in _rows_of(db, other):
                    mine = self._rows("SELECT digest FROM match WHERE id = ?", row[0])
                    if not mine:
                        # A store of an earlier format does not know what held, but its records do.
                        self._put(tuple(row), held_in(packed) if held is None else held, size, packed)
                        added += 1
                    else:
                        shared += 1
                        if mine[0][0] != row[_COLUMNS.index("digest")]:
                            differing.append(row[0])
                published = theirs.get("published")
                if published is not None and published < (self.published() or "later"):
                    set_meta(self._db, "published", published)
        return Merged(added, shared, tuple(differing))

    def _check_mergeable(self, theirs: dict[str, str], other: Path) -> None:
        if theirs.get("commitment") != self.meta("commitment"):
            raise StoreError(
                f"{other}: its season has another secret, so its deals are others; machines that share a season "
                "need the same seed in the league file, or a copy of the first machine's store to start from"
            )
        try:
            conditions = json_object(theirs.get("conditions", "{}"))
        except ValueError as error:
            raise StoreError(f"{other}: is damaged: its conditions: {error}; {SPARE}") from None
        lines = differences(self._fact("conditions", json_object), conditions)
        if lines:
            raise StoreError(f"{other}: holds the results of another league:\n  " + "\n  ".join(lines))


def _rows_of(db: sqlite3.Connection, path: Path) -> Iterator[tuple[Any, ...]]:
    """All matches of the store at `path` with their records, in the order of storing."""
    with clear_errors(path):
        yield from db.execute(_TAKE_OVER)


def _chunks(fixtures: Iterable[Fixture]) -> Iterator[list[Fixture]]:
    source = iter(fixtures)
    while chunk := list(islice(source, _CHUNK)):
        yield chunk


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
