"""The ledger of an arena: one SQLite file beside the leagues with authors, their jobs, settings and an audit journal.

Each step is one transaction together with its entry in the audit journal, and it is synced to the disk. So when a
process is killed, a step is either done or not done. The archive of a submission is in its row: no file of it can be
missing or left over.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from warpleague.errors import BadInput, StoreError
from warpleague.league.season import utc_now
from warpleague.league.store.database import FileKind, Format, clear_errors, harden, transaction
from warpleague.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FILE: Final = "arena.db"
SANDBOX: Final = "sandbox"
"""The setting that says whether the sandbox holds here: "holds", or why not."""

_TABLES: Final = (
    "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # `token` is the SHA-256 of the author's token, NULL once it is revoked.
    """CREATE TABLE author (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, organiser INTEGER NOT NULL, token BLOB,
    added TEXT NOT NULL, revoked TEXT
)""",
    # `token` and, below, `secret` are the SHA-256 of what members and invited people have.
    """CREATE TABLE member (
    id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author (id), name TEXT NOT NULL COLLATE NOCASE,
    token BLOB NOT NULL, added TEXT NOT NULL
)""",
    "CREATE UNIQUE INDEX one_member ON member (author, name COLLATE NOCASE)",
    """CREATE TABLE invitation (
    id INTEGER PRIMARY KEY, secret BLOB NOT NULL, note TEXT NOT NULL, uses INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0, made TEXT NOT NULL, ends TEXT NOT NULL, ends_s REAL NOT NULL, revoked TEXT
)""",
    # `member` is NULL if the session began with the author's own token.
    """CREATE TABLE session (
    id BLOB PRIMARY KEY, author INTEGER NOT NULL, form TEXT NOT NULL, ends_s REAL NOT NULL, member INTEGER
)""",
    # What an author sent or asked for: a submission, a match on demand ("challenge") or a trial.
    # `claims` counts how often a worker began it, `why` explains a failure. As JSON: `details`, what was asked for;
    # `progress`, the findings of a check or the played matches of a trial; `result`, that of matches.
    # Of a submission: the `sha256` of its archive, `bot` and `version` of its manifest, the `digest` of its content
    # once it is accepted, and whether this version plays (`active`). Of a trial: `about`, the new version.
    # `log` has what the author's bot wrote in a match. `data`, the last since it may be large, is a submission's
    # archive, NULL once it was refused, or the packed record of a match.
    """CREATE TABLE job (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, author INTEGER NOT NULL REFERENCES author (id), league TEXT NOT NULL,
    state TEXT NOT NULL, asked TEXT NOT NULL, asked_s REAL NOT NULL, claims INTEGER NOT NULL DEFAULT 0, ended TEXT,
    why TEXT, details TEXT NOT NULL, progress TEXT NOT NULL DEFAULT '[]', result TEXT, sha256 TEXT, bot TEXT,
    version TEXT, digest TEXT, active INTEGER NOT NULL DEFAULT 0, about INTEGER, log TEXT, data BLOB
)""",
    "CREATE UNIQUE INDEX one_active ON job (league, bot COLLATE NOCASE) WHERE active = 1",
    "CREATE INDEX by_state ON job (kind, state)",
    "CREATE INDEX by_author ON job (author, asked_s)",
    "CREATE INDEX by_version ON job (about)",
    """CREATE TABLE decision (
    id INTEGER PRIMARY KEY, league TEXT NOT NULL, what TEXT NOT NULL, details TEXT NOT NULL, who TEXT NOT NULL,
    asked TEXT NOT NULL, done TEXT, answer TEXT
)""",
    """CREATE TABLE journal (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, details TEXT NOT NULL
)""",
)

FORMATS: Final = FileKind(
    "ledger", "setting", (Format(1, _TABLES),), "Serve these leagues with the version that wrote it"
)
"""The formats of a ledger; `warpleague.league.store.database` converts one to the next."""


# -- limits ---------------------------------------------------------------------------------------------


def _limit(default: int, words: str, least: int = 0, most: int = 1_000_000) -> Any:
    """A limit, what it counts in words, and the values that it may have: other code has limits of its own."""
    return attrs.field(default=default, metadata={"words": words, "least": least, "most": most})


@attrs.frozen
class SubmissionLimits:
    """The limits of every submission; the settings of a ledger change them."""

    per_day: int = _limit(20, "submissions of an author within 24 hours")
    bots: int = _limit(3, "bots of an author that play in one league")
    upload_mb: int = _limit(16, "MiB of an upload", most=256)
    folder_mb: int = _limit(64, "MiB of files, unpacked", most=256)
    files: int = _limit(2000, "files and folders", most=50_000)
    build_s: int = _limit(60, "seconds to build, of processor time", most=300)
    check_s: int = _limit(55, "seconds for the matches of the check", least=1, most=3600)
    memory_mb: int = _limit(1024, "MiB of memory that a bot may ask for")
    processes: int = _limit(64, "processes that a bot may ask for")
    tmp_mb: int = _limit(64, "MiB of /tmp that a bot may ask for")
    challenges: int = _limit(20, "matches on demand of an author within 24 hours")
    challenge_s: int = _limit(300, "seconds for a match on demand, or of a trial", least=1, most=3600)
    trials: int = _limit(4, "trials of an author within 24 hours")
    trial_size: int = _limit(200, "matches of a trial", most=10_000)


WORDS: Final = {field.name: field.metadata["words"] for field in attrs.fields(SubmissionLimits)}
"""Each of the limits in words."""


# -- the file ----------------------------------------------------------------------------------------------


@attrs.frozen
class Entry:
    """An entry of the audit journal: when (ISO time), who did what, and the details."""

    at: str
    who: str
    what: str
    details: dict[str, Any]


class Ledger:
    """The open ledger of a folder of results; threads of a process may share it."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._mutex = threading.RLock()
        self._boot_s: float | None = None  # what `now_s` adds to the time since the machine was started

    @classmethod
    def open(cls, results: Path) -> Ledger:
        """Open the ledger in the folder `results`, or create it. Raises `StoreError` if it cannot be used."""
        path = results / FILE
        try:
            results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{results}: cannot write there: {error.strerror}") from None
        with clear_errors(path):
            db = sqlite3.connect(path, isolation_level=None, timeout=30.0, check_same_thread=False)
            try:
                path.chmod(0o600)
                harden(db)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                FORMATS.open_to_write(db, path)
            except BaseException:
                db.close()
                raise
        return cls(path, db)

    @property
    def results(self) -> Path:
        """The folder of results that it is in."""
        return self.path.parent

    def close(self) -> None:
        """Close the file."""
        with self._mutex:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is committed, or nothing; durable when the block has ended."""
        with self._mutex, clear_errors(self.path), transaction(self._db):
            yield self._db

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a query finds."""
        with self._mutex, clear_errors(self.path):
            return self._db.execute(query, values).fetchall()

    def named_rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """The rows that a query finds, each by the names of its columns."""
        with self._mutex, clear_errors(self.path):
            found = self._db.execute(query, values)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found]

    def now_s(self) -> float:
        """The time by which jobs count towards their limits, in seconds since 1970.

        It goes on evenly, whatever is done to the clock of the machine: that is read once, and is never before the
        last job. So a clock that jumps gives nobody more submissions, and makes nobody wait for years.
        """
        with self._mutex:
            if self._boot_s is None:
                ((last_s,),) = self.rows("SELECT max(asked_s) FROM job")
                self._boot_s = max(time.time(), last_s or 0.0) - _since_boot_s()
            return self._boot_s + _since_boot_s()

    def note(self, who: str, what: str, **details: Any) -> None:
        """Enter into the audit journal; within `writing`."""
        self._db.execute(
            "INSERT INTO journal (at, who, what, details) VALUES (?, ?, ?, ?)",
            (utc_now(), safe(who), what, json.dumps(details)),
        )

    def journal(self, most: int = 100) -> list[Entry]:
        """The last entries of the audit journal, the newest first."""
        rows = self.rows("SELECT at, who, what, details FROM journal ORDER BY id DESC LIMIT ?", most)
        return [Entry(at, who, what, json.loads(details)) for at, who, what, details in rows]

    # Settings

    @property
    def limits(self) -> SubmissionLimits:
        """The limits that hold now."""
        given = {name: int(text) for name in WORDS if (text := self.setting(f"limit {name}")) is not None}
        return SubmissionLimits(**given)

    def setting(self, key: str) -> str | None:
        """A setting, or None."""
        rows = self.rows("SELECT value FROM setting WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def set(self, key: str, value: str | None, who: str) -> None:
        """Change a setting, or remove it."""
        with self.writing() as db:
            if value is None:
                db.execute("DELETE FROM setting WHERE key = ?", (key,))
            else:
                db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))
            self.note(who, "set", key=key, value=value)


def set_limit(ledger: Ledger, key: str, value: int, who: str) -> None:
    """Change a limit; `BadInput` for a value that cannot be."""
    limit = attrs.fields_dict(SubmissionLimits).get(key)
    if limit is None:
        raise BadInput(f"there is no limit {key!r}; there are {', '.join(WORDS)}")
    least, most = limit.metadata["least"], limit.metadata["most"]
    if not least <= value <= most:
        raise BadInput(f"{key}: must be from {least} to {most}, not {value}")
    ledger.set(f"limit {key}", str(value), who)


def _since_boot_s() -> float:
    """Seconds since the machine was started, also those in which it was suspended, where the system counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


# -- the audit journal in words -------------------------------------------------------------------------


_SENTENCES: Final = {
    "member added": "{member} is a member of the team of {author}, with a token of their own",
    "member removed": "{member} is no longer a member of the team of {author}",
    "token renewed": "{author} has a new token, and the old one is no longer valid",
    "token revoked": "{author} can no longer submit bots: the token is revoked",
    "invitation revoked": "invitation {invitation} is no longer valid",
    "submission received": "sent submission {submission} to {league}",
    "submission accepted": "submission {submission} is accepted: {bot} {version} may play in {league}",
    "submission refused": "submission {submission} to {league}{which} is refused: {text}",
    "submission failed": "submission {submission} to {league} could not be checked: {text}",
    "bot withdrawn": "took {bot} out of {league}",
    "version activated": "lets submission {submission} of {bot} play in {league}",
    "match on demand": "asked for match on demand {number} in {league}",
    "trial": "asked for trial {number} of submission {submission} in {league}",
    "disqualify": "asks to disqualify {bot} in {league}: {reason}",
    "reinstate": "asks to let {bot} play again in {league}: {reason}",
    "replay": "asks to declare match {match} of {league} void: {reason}",
    "disqualify done": "disqualification in {league}: {answer}",
    "reinstate done": "return of a bot in {league}: {answer}",
    "replay done": "void match in {league}: {answer}",
    "on_event failed": "the command of {league} for events failed: {why}",
}


def journal_words(entry: Entry) -> str:
    """An entry of the audit journal as a sentence that follows the name of who made it."""
    details = entry.details
    match entry.what:
        case "set":
            return _set_words(str(details.get("key", "")), details.get("value"))
        case "author added":
            return f"{details.get('author')} is a new {'organiser' if details.get('organiser') else 'author'}"
        case "session begun":
            return f"signed in as {details['member']} of the team" if details.get("member") else "signed in"
        case "invitation made":
            note = f" ({details['note']})" if details.get("note") else ""
            uses = counted(int(details.get("uses") or 0), "person", "people")
            until = str(details.get("ends"))[:10]
            return f"made invitation {details.get('invitation')}{note} for {uses}, until {until}"
        case "submission refused" if details.get("bot"):  # one that cannot be read has no name
            which = f" ({details['bot']} {details.get('version', '')})".replace(" )", ")")
            details = {**details, "which": which}
    words = _SENTENCES.get(entry.what)
    if words is None:
        more = ", ".join(f"{name} {value}" for name, value in details.items() if value not in (None, ""))
        return f"{entry.what}: {more}" if more else entry.what
    return filled(words, details)


def filled(words: str, details: Mapping[str, Any]) -> str:
    """The sentence with the details; one that an entry lacks, such as a version without a name, is left out."""
    known = defaultdict(str, {name: value for name, value in details.items() if value is not None})
    return " ".join(words.format_map(known).split()).removesuffix(":")


def _set_words(key: str, value: Any) -> str:
    what, _, name = key.partition(" ")
    if what == "paused":
        return f"{name} is paused" if value else f"{name} continues after a pause"
    if what == "closed":
        return f"{name} takes no more submissions"
    if what == "extended" and value:
        numbers = json.loads(str(value))
        return f"{name} is extended: " + ", ".join(
            f"{number:,} {unit.replace('max_', '')} in all" for unit, number in numbers.items()
        )
    if what == "limit" and name in WORDS:
        return f"the limit is now {value} {WORDS[name]}"
    if key == SANDBOX:
        return (
            "the sandbox of this machine holds" if value == "holds" else f"the sandbox does not hold: {value}"
        )
    return f"{key}: {value or 'removed'}"
