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
from contextlib import contextmanager, nullcontext, suppress
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import attrs
import msgspec

from warpleague import __version__
from warpleague.errors import RecordError, StoreError
from warpleague.league.season import utc_now
from warpleague.league.season.config import Dice, LeagueConfig, write_config
from warpleague.league.season.fixture import (
    MEND,
    Fixture,
    LatestMatch,
    PlayedMatch,
    StoredMatch,
    StoredVersion,
    is_text,
)
from warpleague.league.season.season import Entry, Season, Stage, differences
from warpleague.league.store import journal, match_rows
from warpleague.league.store.database import (
    SPARE,
    StoreFiles,
    clear_errors,
    json_object,
    take_lock,
    transaction,
)
from warpleague.league.store.events import (
    PASSING,
    EntrantsCommitment,
    Event,
    add_event,
    attempts_in,
    commitment_to,
    commitments_in,
    entrant_alterations,
    entries_in,
    events_in,
    has_ended,
    meta_alterations,
    record_entrants,
    record_meta_hashes,
    seeds_in,
    stages_in,
    worth_in,
)
from warpleague.league.store.journal import VOIDED
from warpleague.league.store.plain import plain_files
from warpleague.league.store.schema import (
    CHOSE_ALL,
    NUMBERING,
    confinement_id,
    confinement_text,
    connect_to_read,
    connect_to_write,
    set_meta,
    unplayed,
)
from warpleague.match.chance import season_commitment
from warpleague.match.record import structured, unpack
from warpleague.match.spec import Confinement, MatchResult, SeatFault, SeatSpec, TimeControl
from warpleague.match.zstd import ZstdCompressor
from warpleague.strict import structure
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from warpleague.league.season.fixture import Group
    from warpleague.league.store.choices import Chosen
    from warpleague.league.store.columns import Columns
    from warpleague.league.store.journal import Head


T = TypeVar("T")

LUCK: Final = "luck.jsonl"
"""The file beside the store with the luck of matches that was computed from their records."""


def _bots(text: str) -> tuple[SeatSpec, ...]:
    """The bots of the last run; a bot with a clock of its own has that as a fourth value."""
    entries = []
    for row in msgspec.json.decode(text, type=list[tuple[Any, ...]]):
        name, version, digest = msgspec.convert(row[:3], tuple[str, str, str])
        clock = structure(row[3], TimeControl, "clock") if len(row) == 4 else None
        entries.append(SeatSpec(name, version, digest, clock=clock))
    return tuple(entries)


class About:
    """The part of a store about its league as a whole: secret, commitments, conditions, bots and decisions."""

    path: Path
    files: StoreFiles
    _db: sqlite3.Connection

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query, all at once; `StoreError` where SQLite objects."""
        with clear_errors(self.path):
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is committed, or nothing."""
        with clear_errors(self.path), transaction(self._db):
            self.files.check()  # within the transaction: who takes another lock meanwhile waits for its end
            yield self._db
        self.files.check()

    # What the league is

    def meta(self, key: str) -> str | None:
        """A value of `meta`, which is about the league as a whole, or None."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        if rows and not is_text(rows[0][0]):
            raise StoreError(f"{self.path}: is damaged: its {key} is no text; {SPARE}")
        return rows[0][0] if rows else None

    def _meta_as(self, key: str, read: Callable[[str], T]) -> T | None:
        """A value of `meta` as `read` gives it, or None; `StoreError` if it cannot be read."""
        text = self.meta(key)
        try:
            return None if text is None else read(text)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StoreError(f"{self.path}: is damaged: its {key}: {error}; {SPARE}") from None

    def secret(self) -> bytes | None:
        """The season's 32-byte secret; None before it is chosen."""
        return self._meta_as("secret", bytes.fromhex)

    def bots(self) -> tuple[SeatSpec, ...] | None:
        """The bots of the last run, in order, without a way to run them; None before the first run."""
        return self._meta_as("bots", _bots)

    def skipped(self) -> tuple[str, ...]:
        """One line for each bot that was left out of the last run."""
        return self._meta_as("skipped", lambda text: tuple(map(str, json.loads(text)))) or ()

    def published(self) -> str | None:
        """When the season first ended, so that its secret became public (ISO time), or None."""
        return self.meta("published")

    def check_same_league(self, season: Season, config: LeagueConfig) -> None:
        """Raise `StoreError`, saying what differs, if the store belongs to another file, or to other conditions.

        Bots, format, rating and jobs may change: each match's id covers what determined it. The file may move; but as
        long as it is where it was, a file elsewhere is another league, and with its bots the results would mix.
        """
        was = self.path.parent / (self.meta("file") or "")
        if was.is_file() and config.path.is_file() and not was.samefile(config.path):
            raise StoreError(
                f"{self.path}: holds the results of {os.path.relpath(was)}, another file of the same name as "
                f"{config.path}: give one of them another `name`, or another --results folder. If this league goes on "
                "in the new file, remove the old one"
            )
        stored = self._meta_as("conditions", json_object)
        if stored is None:
            return
        old = {**stored, "seed": self._meta_as("seed", json.loads)}
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
        return self.meta("committed")

    def commit(self, config: LeagueConfig, season: Season) -> None:
        """Write down the secret, its commitment and the conditions of a league before anyone has to be entered."""
        self.check_same_league(season, config)
        with self.writing():
            self._note_season(config, season)
            record_meta_hashes(self._db, self.path)

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
            # From here, so that league and results may move together, and nobody learns where they are.
            "file": os.path.relpath(os.path.realpath(config.path), os.path.realpath(self.path.parent)),
        }.items():
            set_meta(self._db, key, value)

    def enter(self, config: LeagueConfig, season: Season, skipped: Sequence[str] = ()) -> None:
        """Write down the league about to be run: secret, conditions, bots; and `league.toml` for people."""
        self.check_same_league(season, config)
        bots = [
            [bot.bot, bot.version, bot.digest, *([] if bot.clock is None else [attrs.asdict(bot.clock)])]
            for bot in season.bots
        ]
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
            record_entrants(self._db, self.path, season)
            record_meta_hashes(self._db, self.path)
            self._void_what_was_in_play()
        write_config(
            config,
            self.path.with_name("league.toml"),
            f"Written by warpleague {__version__}: the league as it was last run, defaults included.",
            f"Commitment to the season's secret (SHA-256): {season.commitment}",
        )

    def _void_what_was_in_play(self) -> None:
        """Give other dice to what the last run had begun when it died; within `writing`."""
        for match_id, bots in self._db.execute("SELECT id, bots FROM in_play ORDER BY id").fetchall():
            self._add_void(
                match_id, json.loads(bots), "the run ended while it was played, or was about to be"
            )

    def _add_void(self, match_id: str, bots: Sequence[str], why: str, **more: Any) -> None:
        self._db.execute("DELETE FROM in_play WHERE id = ?", (match_id,))
        add_event(self._db, VOIDED, {"match": match_id, "bots": list(bots), "why": why, **more})

    def void(self, match_id: str, seats: Sequence[SeatSpec], why: str, **more: Any) -> None:
        """Note that a match was begun in vain; durable when this returns, so that its dice never come again."""
        with self.writing():
            self._add_void(match_id, [seat.bot for seat in seats], why, **more)

    def attempts(self) -> Counter[str]:
        """How often each match was begun in vain; its dice follow from that, too."""
        return attempts_in(self._db, self.path)

    def publish_secret(self) -> None:
        """Note that the season has ended, which makes its secret public. What is public stays so."""
        with self.writing():
            if self.published() is None:
                set_meta(self._db, "published", utc_now())
                record_meta_hashes(self._db, self.path)

    # Events

    def note(self, kind: str, details: dict[str, Any]) -> None:
        """Store an event of the kind `kind`, with its entry in the journal; durable when this returns."""
        with self.writing():
            add_event(self._db, kind, details)

    def events(self, *kinds: str) -> list[Event]:
        """What was decided or fixed about the league, in order; of some kinds, or all of it."""
        return events_in(self._db, self.path, kinds)

    def entered(self) -> list[EntrantsCommitment]:
        """Every commitment to the entrants, in order."""
        return commitments_in(self._db, self.path)

    def history(self) -> tuple[Entry, ...]:
        """Who took part in what, at each entry in order."""
        return entries_in(self._db, self.path)

    def seeds(self) -> tuple[str, ...]:
        """The order in which bots were seeded by rating when they were last entered; empty if they were not."""
        return seeds_in(self._db, self.path)

    def dice(self) -> Dice | None:
        """Whether the seat orders of a deal shared its dice when the league was last run; None before that."""
        config = self._meta_as("config", json_object)
        return (
            None if config is None else "own" if config.get("format", {}).get("dice") == "own" else "shared"
        )

    def worth(self, game: str) -> str | None:
        """The digest of the worth function that the league committed to, or commits to when it is entered."""
        return worth_in(self._db, self.path, game)

    def stages(self) -> tuple[Stage, ...]:
        """The leagues from which bots came when they were last entered; empty if all were in the file."""
        return stages_in(self._db, self.path)

    def ended(self, season: Season) -> bool:
        """Whether it is recorded that this season is over, and no bot, match or decision has changed since."""
        return self.published() is not None and has_ended(self._db, self.path, season)

    def places(self) -> dict[str, int]:
        """The ids of all matches and events ever stored, in order, each with its first entry in the journal."""
        return {
            str(one): seq
            for one, seq in self._rows("SELECT id, min(seq) FROM journal GROUP BY id ORDER BY 2")
        }

    def listed(self) -> list[dict[str, Any]]:
        """The bots as the league file listed them at the last run, with those that came from other leagues."""
        bots = (self._meta_as("config", json_object) or {}).get("bots", ())
        return [{"path": bot} if isinstance(bot, str) else bot for bot in bots]

    def head(self) -> Head:
        """The head of the journal."""
        with clear_errors(self.path):
            return journal.head(self._db)

    def goes_back_to(self, head: Head) -> bool:
        """Whether the journal had this head once: nothing that was stored then was exchanged with its entry."""
        with clear_errors(self.path):
            return journal.goes_back_to(self._db, head)


_PACKED = 3  # the level of zstd: the higher ones take eight times as long, and save 6 % of the space


class Store(About):
    """One league's results. Open it with `open_to_write` or `open_to_read`; close it when done."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: int | None, *, is_new: bool = False
    ) -> None:
        self.path = path
        self._is_new = is_new
        self._db = connection
        self._lock = lock
        self.files = StoreFiles() if lock is None else StoreFiles.of(path, path.with_name("league.lock"))
        self._packer = ZstdCompressor(level=_PACKED)

    @classmethod
    def open_to_write(cls, folder: Path) -> Store:
        """The store in `folder`, made if need be; `StoreError` if another process is running the league.

        The lock is an flock on `league.store.lock` next to the store: it goes with the process, however that ends.
        """
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = take_lock(folder / "league.lock")
        except OSError as error:
            raise StoreError(f"{folder}: results cannot be written here: {error.strerror}") from None
        path = folder / "league.sqlite"
        try:
            db = connect_to_write(path)
            with clear_errors(path), transaction(db):
                problem = journal.cut(db)
                if problem is not None:  # verify reports it from now on, though the journal goes on
                    add_event(db, journal.CUT, {"ended": str(problem[0]), "before": safe(problem[1])})
            return cls(path, db, lock, is_new=is_new)
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

    def close(self, *, remove: bool = False) -> None:
        """Fold the log into the file, give the lock back; with `remove` nothing is left of it."""
        if self._lock is not None and not remove:
            # Where someone is reading it fails, and the log stays, which is as safe.
            with suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()
        if remove:
            rmtree(self.path.parent, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def discard(self) -> None:
        """Close it, and remove it if it was made for a league that could not begin: it is new, and has no match."""
        self.close(remove=self._is_new and not self.count())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Matches

    def add(
        self,
        results: Iterable[tuple[Fixture, Sequence[SeatSpec], MatchResult]],
        begun: Iterable[tuple[Fixture, Sequence[SeatSpec]]] = (),
    ) -> None:
        """Commit finished matches, each with its record, in one transaction; durable when this returns.

        `begun` are the matches that begin after it: whatever dies, their dice do not come again unless they are played
        to their end. It is read when the results are there.
        """
        with self.writing():
            numbered = self.numbering() is not None
            for fixture, seats, result in results:
                bots = [(seat.bot, seat.identity) for seat in seats]
                self.put(fixture.deal, bots, result, fixture if numbered else None)
                self._db.execute("DELETE FROM in_play WHERE id = ?", (result.id,))
            for fixture, seats in begun:
                names = json.dumps([seat.bot for seat in seats])
                self._db.execute("INSERT OR REPLACE INTO in_play VALUES (?, ?)", (fixture.id, names))

    def withdraw(self, matches: Iterable[str]) -> None:
        """Note that matches were not begun after all: no bot has seen their dice."""
        with self.writing():
            self._db.executemany("DELETE FROM in_play WHERE id = ?", [(one,) for one in matches])

    def put(
        self, deal: int, bots: Sequence[tuple[str, str]], result: MatchResult, fixture: Fixture | None = None
    ) -> None:
        """Insert a match with its record, and note it in the journal; within `writing`.

        `bots` are name and identity of the bot in each seat, `fixture` its place in the schedule of `numbering`.
        """
        confined = confinement_text(result.confinement)
        match = StoredMatch.of(deal, bots, result, confinement_id(self._db, confined))
        packed = self._packer.compress(result.record, ZstdCompressor.FLUSH_FRAME)
        if fixture is None:
            match_rows.insert(self._db, match)
        else:
            match_rows.insert(self._db, match, fixture.number, fixture.group)
        self._db.execute("INSERT INTO record VALUES (?, ?, ?)", (match.id, len(result.record), packed))
        journal.append(self._db, match, confined, len(result.record), packed)

    def remove(self, match_id: Any, problem: str) -> None:
        """Delete a match that does not hold, and note that in the journal; within `writing`."""
        # An id that is no UTF-8 text has to be given as bytes.
        text = isinstance(match_id, str)
        value = match_id.encode("utf-8", "surrogateescape") if text else match_id
        this = f"WHERE id = {'CAST(? AS TEXT)' if text else '?'}"
        for (key,) in self._db.execute(f"SELECT key FROM match {this}", (value,)).fetchall():
            match_rows.delete_seats(self._db, key)
        for table in ("record", "match"):
            self._db.execute(f"DELETE FROM {table} {this}", (value,))
        self._db.execute("DELETE FROM confinement WHERE id NOT IN (SELECT confinement FROM match)")
        add_event(self._db, journal.REMOVED, {"match": safe(str(match_id)), "problem": safe(problem)})

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything that is read inside shows the store as it was at the first read, even while a run writes."""
        with clear_errors(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                self._db.execute("COMMIT")

    def version(self) -> int:
        """A number that is another one as soon as somebody else has written to the store."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def latest(self, most: int) -> list[LatestMatch]:
        """The matches stored last, the newest first."""
        with clear_errors(self.path):
            return match_rows.latest(self._db, most)

    def last_played(self, most: int, before: int | None = None, bot: str | None = None) -> list[PlayedMatch]:
        """At most `most` stored matches, the newest first: of one bot, or from before an entry of the journal."""
        # CROSS JOIN keeps the order of the tables: the journal is read from its end, and no further than needed.
        query = "SELECT journal.seq, match.id FROM journal CROSS JOIN match ON match.id = journal.id "
        if bot is not None:
            query += (
                "JOIN seat ON seat.match = match.key AND seat.bot IN (SELECT id FROM bot WHERE name = ?2) "
            )
        query += (
            "WHERE (?1 IS NULL OR journal.seq < ?1) GROUP BY journal.seq ORDER BY journal.seq DESC LIMIT ?3"
        )
        rows = self._rows(query, before, bot, most)
        entries = [(entry, self._readable(match_id)) for entry, match_id in rows]
        return [PlayedMatch(entry, match) for entry, match in entries if match is not None]

    def played_match(self, match_id: str) -> PlayedMatch | None:
        """A stored match as lists show it, or None."""
        match = self._readable(match_id)
        return None if match is None else PlayedMatch(0, match)

    def _readable(self, match_id: str) -> StoredMatch | None:
        """A stored match, or None also if it is damaged, which `verify` reports."""
        with suppress(StoreError):
            return self.match(match_id)
        return None

    def count(self) -> int:
        """How many matches are stored, including those of other bots or formats."""
        return int(self._rows("SELECT count(*) FROM match")[0][0])

    def count_versions(self) -> Counter[tuple[str, str]]:
        """In how many stored matches each bot plays, by name and identity."""
        rows = self._rows(
            "SELECT b.name, b.identity, count(DISTINCT s.match) FROM seat s JOIN bot b ON b.id = s.bot GROUP BY b.id"
        )
        return Counter({(str(name), str(identity)): many for name, identity, many in rows})

    def versions(self) -> dict[str, list[StoredVersion]]:
        """The versions of each bot that have played, in the order of their first stored matches."""
        with clear_errors(self.path):
            return match_rows.versions(self._db)

    def results_before(
        self, entry: int
    ) -> list[tuple[str, int, tuple[tuple[str, str], ...], tuple[int, ...]]]:
        """Id, deal, bots and ranks by seat of each match stored before this entry of the journal."""
        with clear_errors(self.path):
            return list(match_rows.results_before(self._db, entry))

    def count_of(self, fixtures: Iterable[Fixture]) -> int:
        """How many of the fixtures are stored."""
        count, stored = 0, self.count()
        if not stored:
            return 0
        for chunk in match_rows.chunks(fixtures):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT count(*) FROM match WHERE id IN ({marks})"
            count += self._rows(query, *(fixture.id for fixture in chunk))[0][0]
            if count >= stored:
                break  # all are found: of a long season that has just begun, the rest need not be looked at
        return count

    # Numbers in the schedule

    def numbering(self) -> str | None:
        """The commitment to the entrants whose schedule the numbers of matches are of, or None."""
        return self.meta(NUMBERING)

    def number(self, entry: str, fixtures: Iterable[Fixture]) -> None:
        """Number the stored matches of the schedule again; `entry` is the commitment to its entrants."""
        with self.writing() as db:
            db.execute("UPDATE match SET number = NULL, cluster = NULL WHERE number IS NOT NULL")
            left = self.count()
            if left:
                for fixture in fixtures:
                    values = (fixture.number, fixture.group, fixture.id)
                    left -= db.execute(
                        "UPDATE match SET number = ?, cluster = ? WHERE id = ?", values
                    ).rowcount
                    if not left:
                        break  # all are found: of a long season that has just begun, the rest need not be read
            set_meta(db, NUMBERING, entry)

    def forget_numbers(self) -> None:
        """Let no number count any more, since other matches are stored now; within `writing`."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (NUMBERING,))

    # What a ladder has chosen

    def chosen(self, season: Season) -> Chosen:
        """The deals that a ladder has chosen among the bots of a season."""
        from warpleague.league.store import choices

        with clear_errors(self.path):
            return choices.read(self._db, self.path, season)

    def choose(self, season: Season, groups: Sequence[Group]) -> None:
        """Store what a ladder has chosen; within `writing`, or else durable when this returns."""
        from warpleague.league.store import choices

        with self._within_writing():
            choices.add(self._db, season, groups)

    def number_chosen(self, season: Season) -> None:
        """Number the matches of a ladder again."""
        from warpleague.league.store import choices

        with self.writing() as db:
            choices.number(db, self.path, season)

    def note_chose_all(self, season: Season) -> None:
        """Note that a ladder has chosen its last deal; within `writing`, or else durable when this returns."""
        if not self.chose_all(season):
            with self._within_writing():
                set_meta(self._db, CHOSE_ALL, self._all_of(season))

    def chose_all(self, season: Season) -> bool:
        """Whether a ladder has chosen its last deal, and nobody has come, left or been disqualified since."""
        return self.meta(CHOSE_ALL) == self._all_of(season)

    @contextmanager
    def _within_writing(self) -> Iterator[None]:
        """A transaction, that of the caller if it has begun one."""
        with clear_errors(self.path), nullcontext() if self._db.in_transaction else self.writing():
            yield

    def _all_of(self, season: Season) -> str:
        last = max((event.seq for event in self.events() if event.kind not in PASSING), default=0)
        return f"{commitment_to(season)} {last}"

    def numbers(self) -> list[int]:
        """The numbers of all matches that have one, in order; `verify` reports what is no number."""
        query = "SELECT number FROM match WHERE typeof(number) = 'integer' AND number > 0 ORDER BY number"
        return [row[0] for row in self._rows(query)]

    def places_in_schedule(self) -> dict[str, tuple[int, int]]:
        """Number and group of each match that has them, by its id."""
        rows = self._rows("SELECT id, number, cluster FROM match WHERE number IS NOT NULL ORDER BY number")
        return {str(match_id): (number, group) for match_id, number, group in rows}

    def numbered(self, season: Season, *, times: bool = True) -> Iterator[tuple[Fixture, StoredMatch]]:
        """The matches of the schedule of `numbering`, in its order; memory does not grow with their number.

        Without `times`, those of the matches are left empty, which is quicker.
        """
        places = {(bot.bot, bot.identity): place for place, bot in enumerate(season.bots)}
        with clear_errors(self.path):
            for number, group, match in match_rows.numbered(self._db, times=times):
                match.check_players(season.players)
                seats = tuple([places.get(bot, -1) for bot in match.bots])
                if min(seats) < 0:
                    raise StoreError(
                        f"{self.path}: is damaged: match {match.id}: its bots are others; {MEND}"
                    )
                yield Fixture(number, match.id, match.deal, group, seats), match

    def columns(self, season: Season, parts: Sequence[str]) -> Iterator[Columns]:
        """The same as arrays, some ten thousand matches after the other; `parts` are those of `columns.PARTS`."""
        from warpleague.league.store.columns import Damaged, stored

        places = {(bot.bot, bot.identity): place for place, bot in enumerate(season.bots)}
        with clear_errors(self.path):
            rows = self._rows("SELECT id, name, identity FROM bot")
            bots = {number: places[bot[0], bot[1]] for number, *bot in rows if (bot[0], bot[1]) in places}
            try:
                yield from stored(self._db, bots, season.players, parts)
            except Damaged as error:
                # Columns say that something is wrong, not where. Read one by one, the match that is names itself.
                for _ in self.numbered(season):
                    pass
                raise StoreError(f"{self.path}: is damaged: {error}; {SPARE}") from None

    def seat_counts(self) -> list[tuple[tuple[str, str], int]]:
        """Name and identity of each bot, and how many seats of matches that have a number it took."""
        every = self.count() == self.count_numbered().total()
        query = "SELECT bot, count(*) AS many FROM seat GROUP BY bot"
        if not every:
            query = "SELECT bot, count(*) AS many FROM seat JOIN match ON key = match WHERE number > 0 GROUP BY bot"
        rows = self._rows(f"SELECT b.name, b.identity, many FROM ({query}) JOIN bot b ON b.id = bot")
        return [((name, identity), many) for name, identity, many in rows]

    def faulty_seats(self) -> list[tuple[tuple[str, str], str, int]]:
        """Name and identity of each bot that faulted in a match that has a number, the match's id, and the seat."""
        rows = self._rows(
            "SELECT b.name, b.identity, m.id, s.seat FROM seat s JOIN match m ON m.key = s.match "
            "JOIN bot b ON b.id = s.bot WHERE s.faults > 0 AND m.number > 0 ORDER BY m.number, s.seat"
        )
        return [((name, identity), match_id, seat) for name, identity, match_id, seat in rows]

    def retired_seats(self) -> list[tuple[str, int | None, int]]:
        """Id and number of each stored match in which a bot was retired for a fault, and its seat."""
        # CROSS: first the few faults, then their matches; else SQLite reads all matches in the order of their ids.
        query = (
            "SELECT DISTINCT m.id, m.number, f.seat FROM fault f CROSS JOIN match m ON m.key = f.match "
            "WHERE f.retired"
        )
        return [(match_id, number, seat) for match_id, number, seat in self._rows(query)]

    def count_numbered(self) -> Counter[int | None]:
        """How many matches that have a number refer to each number in `confinements`; None: it was not noted."""
        rows = self._rows("SELECT confinement, count(number) FROM match GROUP BY confinement")
        return Counter({number: many for number, many in rows if many})

    # Confinements

    def confinements(self, *, damaged: bool = False) -> dict[int, Confinement]:
        """How bots were confined, as records say it, by the number that matches refer to it with.

        With `damaged`, what cannot be read is left out; without, it raises `StoreError`.
        """
        known: dict[int, Confinement] = {}
        for number, text in self._rows("SELECT id, text FROM confinement"):
            try:
                data = msgspec.json.decode(text) if isinstance(text, str) else None
                known[number] = structured(data, Confinement)
            except (TypeError, ValueError, RecursionError) as error:
                if not damaged:
                    raise StoreError(
                        f"{self.path}: is damaged: how bots were confined: {error}; {MEND}"
                    ) from None
        return known

    def since_entry(self) -> list[str]:
        """The ids of the matches stored since the last change of who plays (entrants, merges, decisions)."""
        return [
            str(row[0])
            for row in self._rows(
                "SELECT m.id FROM journal j JOIN match m ON m.id = j.id WHERE j.seq > (SELECT coalesce(max(j.seq), 0) "
                "FROM journal j JOIN fact f ON f.id = j.id WHERE f.kind NOT IN (?, ?, ?)) ORDER BY j.seq",
                *PASSING,
            )
        ]

    def journal(self) -> int:
        """How many entries the journal has."""
        return int(self._rows("SELECT count(*) FROM journal")[0][0])

    def alterations(
        self, heads: Sequence[Head] = (), seen: Callable[[int], None] = lambda _: None
    ) -> list[tuple[str | None, str]]:
        """The alterations, such as deleted, replaced or added matches: the id of the match, if known, and a text.

        Empty if the store is unchanged and goes back to all of `heads`. `seen` is told which entry was compared last.
        """
        with clear_errors(self.path):
            problems = list(journal.alterations(self._db, heads, seen))
            problems += [(None, problem) for problem in meta_alterations(self._db, self.path)]
            problems += entrant_alterations(self._db)
        return [(None if match_id is None else safe(str(match_id)), what) for match_id, what in problems]

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
        for chunk in match_rows.chunks(fixtures):
            with clear_errors(self.path):
                rows = match_rows.by_id(self._db, [fixture.id for fixture in chunk])
            for fixture in chunk:
                match = rows.get(fixture.id)
                if match is not None:
                    match.check_players(len(fixture.seats))
                yield fixture, match

    def match(self, match_id: str) -> StoredMatch | None:
        """A stored match, or None; `StoreError` if it is damaged."""
        with clear_errors(self.path):
            return match_rows.by_id(self._db, [match_id]).get(match_id)

    def matches(self, ids: Iterable[str]) -> Iterator[StoredMatch]:
        """Those of these matches that are stored; memory does not grow with their number."""
        for chunk in match_rows.chunks(ids):
            with clear_errors(self.path):
                yield from match_rows.by_id(self._db, chunk).values()

    def tells_services(self) -> bool:
        """Whether any stored match tells of failures of services, or of what they took."""
        query = (
            "SELECT 1 FROM seat WHERE failures OR input_tokens OR output_tokens OR cost OR retries LIMIT 1"
        )
        return bool(self._rows(query))

    def faults(self, ids: Sequence[str]) -> Iterator[tuple[str, tuple[tuple[SeatFault, ...], ...]]]:
        """The faults of each of these matches, by seat; a missing match has none."""
        for chunk in match_rows.chunks(ids):
            with clear_errors(self.path):
                rows = match_rows.by_id(self._db, chunk)
            for match_id in chunk:
                yield match_id, rows[match_id].faults if match_id in rows else ()

    def played(self, fixtures: Iterable[Fixture]) -> Iterator[tuple[Fixture, StoredMatch]]:
        """The fixtures that have been played, in the given order, with their results."""
        left = self.count()
        if not left:
            return
        for fixture, result in self.look_up(fixtures):
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

    def plain(self) -> Iterator[tuple[str, bytes]]:
        """The whole store as plain files, of one moment; `plain.restore` makes a store of them."""
        with self.snapshot():
            yield from plain_files(self._db)

    def check(self, match_id: str) -> None:
        """Raise `StoreError` if the row or the record of a match cannot be read."""
        self.match(match_id)
        self.record(match_id)

    def matching(self, prefix: str) -> list[str]:
        """The ids of stored matches that begin with `prefix`, at most three."""
        rows = self._rows("SELECT id FROM match WHERE substr(id, 1, ?) = ? LIMIT 3", len(prefix), prefix)
        return [row[0] for row in rows]

    def matches_of(self, bot: str, most: int) -> list[tuple[str, list[tuple[str, str]]]]:
        """The ids of the last `most` matches of a bot, the newest first, each with names and identities by seat."""
        with clear_errors(self.path):
            return match_rows.matches_of(self._db, bot, most)

    def deal_of(self, match_id: str) -> int:
        """The deal number of a stored match."""
        deal = self._rows("SELECT deal FROM match WHERE id = ?", match_id)[0][0]
        if type(deal) is not int:
            raise StoreError(f"the store is damaged: match {match_id}: deal: must be a whole number; {MEND}")
        return deal
