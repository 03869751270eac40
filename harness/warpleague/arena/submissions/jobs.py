"""What authors send and ask for: submissions, matches on demand and trials. Each is a job, a row of the ledger.

A job waits until a worker claims it, and ends when the worker closes it. A worker may be killed at any moment: the
next one puts its job back, so each job is done; one that ended its workers too often is closed instead.

The ledger, the JSON API, the pages and the commands share the classes. A field that comes later needs a default, since
arenas of earlier releases do not send it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput
from warpleague.league.season import utc_now
from warpleague.runner.findings import Finding  # noqa: TC001 - read from the classes at run time
from warpleague.text import counted

if TYPE_CHECKING:
    import sqlite3

    from warpleague.arena.submissions.accounts import Author
    from warpleague.arena.submissions.ledger import Ledger

DAY_S: Final = 24 * 3600.0
"""The time within which jobs count towards the limits of their author, in seconds."""
MAX_CLAIMS: Final = 3
"""How often a job may end its worker before it is closed."""
_MAX_NUMBER: Final = 1 << 63
"""Greater than any number in the ledger."""


@attrs.frozen
class Kind:
    """A kind of job: its states until it ends, its limit in `SubmissionLimits`, and its words.

    A job that `resumes` keeps its progress when it is put back; any other begins again.
    """

    name: str
    waiting: str
    running: str
    limit: str
    noun: str
    nouns: str
    verb: str
    resumes: bool = False


SUBMISSION: Final = Kind("submission", "received", "checking", "per_day", "submission", "submissions", "sent")
CHALLENGE: Final = Kind(
    "challenge", "waiting", "playing", "challenges", "match on demand", "matches on demand", "asked for"
)
TRIAL: Final = Kind("trial", "waiting", "playing", "trials", "trial", "trials", "asked for", resumes=True)


class OverQuota(BadInput):
    """An author has sent or asked for too much for now."""


class NoJob(BadInput):
    """No job of a kind has the number; `shown` is the message to authors, who need not know whether others have it."""

    def __init__(self, kind: Kind, number: int) -> None:
        super().__init__(f"there is no {kind.noun} {number}")
        self.shown = f"You have no such {kind.noun}."


# -- the classes of jobs -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Submission:
    """A submission, the findings of its check, and the version that it became. Times are ISO times in UTC."""

    id: int
    author: str
    league: str
    state: str
    """`received`, `checking`, `accepted`, `refused`, or `failed` (not because of the bot)."""
    sha256: str
    """The SHA-256 of the archive, hexadecimal."""
    bytes: int
    """The size of the archive."""
    received: str
    found: tuple[Finding, ...]
    settled: str | None
    """When the check ended."""
    bot: str | None
    """The name in bot.toml, once it was read."""
    version: str | None
    digest: str | None
    """The digest of the bot's content, by which matches name it; only of an accepted version."""
    active: bool
    """Whether this is the version that plays: its matches count."""
    reason: str | None
    """Why it was not accepted."""
    played: int | None = None
    """How many of its bot's last 1,000 matches this version played; only in the answer about a single submission."""
    first_match: str | None = None
    """When its first match comes, in words; only as long as it has played none."""

    def to_json(self) -> dict[str, Any]:
        """The same as JSON, without what only the answer about a single submission has."""
        values = attrs.asdict(self, filter=attrs.filters.exclude("played", "first_match"))
        return values | {"found": [attrs.asdict(finding) for finding in self.found]}


@attrs.frozen(kw_only=True)
class Version:
    """A version of a bot, which an accepted submission has become; its number is that of the submission.

    At most one version of a bot is `active`: it plays.
    """

    id: int
    author: str
    league: str
    bot: str
    version: str
    digest: str
    sha256: str
    active: bool


@attrs.frozen(kw_only=True)
class ChallengeSeat:
    """A bot of a match on demand: its name, and the number of its submission; null for a bot of the organiser."""

    bot: str
    submission: int | None


@attrs.frozen(kw_only=True)
class Challenge:
    """A match on demand: it rates nobody, and has dice of its own."""

    id: int
    league: str
    seats: tuple[ChallengeSeat, ...]
    """The bots, the author's own first."""
    state: str
    """`waiting`, `playing`, `played`, or `failed`, which does not count towards the limit."""
    asked: str
    ended: str | None
    why: str | None
    """Why it failed."""
    result: dict[str, Any] | None
    """`ranks`, `scores`, `faults`, `why` and more by seat of the match; `order` has the places of these in `seats`."""


@attrs.frozen(kw_only=True)
class Trial:
    """A trial: a new version and an old one side by side on equal deals. It rates nobody, and replaces nothing."""

    id: int
    league: str
    new: int
    """The number of the new version."""
    old: int | None
    """The number of the version that it is compared with, once that is known."""
    field: tuple[ChallengeSeat, ...]
    """The other bots at a larger table, beside which both versions sit in turn."""
    deals: int
    state: str
    """`checking`, `waiting`, `playing`, `played`, or `failed`, which does not count towards the limit."""
    asked: str
    ended: str | None
    why: str | None
    """Why it failed."""
    matches: int
    """How many matches were played so far."""
    result: dict[str, Any] | None
    """`difference` with its `error`, `words`, `faults`, and all that `warpleague compare --json` says of a test."""

    @property
    def compares(self) -> str:
        """Which versions it compares, and on how many deals, in words."""
        beside = "the version that plays" if self.old is None else f"version {self.old}"
        return f"version {self.new} beside {beside}, {counted(self.deals, 'deal')}"

    @property
    def outcome(self) -> str:
        """The difference between the versions in a sentence, or why there is none, or the matches played so far."""
        if self.result is not None:
            return str(self.result.get("words"))
        if self.state == "failed":
            return f"not played, which does not count: {self.why}"
        return f"{counted(self.matches, 'match')} played"


@attrs.frozen(kw_only=True)
class TrialMatch:
    """A match of a trial: its deal, the bot of each seat, and its outcome by seat; `rival` as in `MatchResult`.

    Of the bots 0 is the new version, 1 the old one; then comes the field. `faults` are the kinds of faults.
    """

    deal: int
    seats: tuple[int, ...]
    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    rival: float | None
    faults: tuple[tuple[str, ...], ...]


@attrs.frozen(kw_only=True)
class PlayedTrial(Trial):
    """A trial with what the worker that plays it must know: its author, its dice, and the matches that were played.

    `claims` counts how often its next match was begun.
    """

    author: str
    claims: int
    seed: str
    played: tuple[TrialMatch, ...]

    @property
    def seats(self) -> tuple[ChallengeSeat, ...]:
        """The bots: the new version, the old one, the field. Players do not learn which version they meet."""
        own = [ChallengeSeat(bot="trial", submission=number) for number in (self.new, self.old)]
        return (*own, *self.field)


# -- reading them ------------------------------------------------------------------------------------------

_COLUMNS: Final = {
    "submission": "asked AS received, ended AS settled, sha256, bot, version, digest, active, progress AS found",
    "challenge": "asked, ended, why, result",
    "trial": "asked, ended, why, result, about AS new, progress AS played, claims",
}
"""The columns that jobs of a kind have beside those of all, by their names in the classes."""
_JSON: Final = ("found", "played", "result")


def read(ledger: Ledger, kind: Kind, where: str, *values: Any) -> list[dict[str, Any]]:
    """The values of the jobs of a kind for which `where` holds, a condition that may have an order and a limit."""
    rows = ledger.named_rows(
        f"SELECT job.id, author.name AS author, league, state, details, {_COLUMNS[kind.name]} "
        f"FROM job JOIN author ON author.id = job.author WHERE kind = '{kind.name}' AND {where}",
        *values,
    )
    for row in rows:
        row |= json.loads(row.pop("details"))
        row |= {name: json.loads(row[name]) for name in _JSON if row.get(name) is not None}
    return rows


def read_one(ledger: Ledger, kind: Kind, number: int, author: Author | None = None) -> dict[str, Any]:
    """The values of one job, of this author if one is given. Raises `NoJob`."""
    rows = []
    if 0 < number < _MAX_NUMBER:
        mine = "job.id = ?1 AND (?2 IS NULL OR job.author = ?2)"
        rows = read(ledger, kind, mine, number, None if author is None else author.id)
    if not rows:
        raise NoJob(kind, number)
    return rows[0]


# -- limits ------------------------------------------------------------------------------------------------


def used_today(ledger: Ledger, kind: Kind, author: Author) -> int:
    """How many jobs of an author within 24 hours count towards the limit: all but those that failed."""
    return len(_asked_today(ledger, kind, author)[0])


def _asked_today(ledger: Ledger, kind: Kind, author: Author) -> tuple[list[float], list[float]]:
    """The times of the jobs of an author within 24 hours: of those that count, and of all."""
    query = "SELECT asked_s, state FROM job WHERE kind = ? AND author = ? AND asked_s > ? ORDER BY asked_s"
    rows = ledger.rows(query, kind.name, author.id, ledger.now_s() - DAY_S)
    return [asked_s for asked_s, state in rows if state != "failed"], [asked_s for asked_s, _ in rows]


def check_quota(ledger: Ledger, kind: Kind, author: Author) -> None:
    """Raise `OverQuota` if an author has asked for too much. What failed does not count, up to as many again."""
    most: int = getattr(ledger.limits, kind.limit)
    counting_s, all_s = _asked_today(ledger, kind, author)
    if len(counting_s) < most and len(all_s) < 2 * most:
        return
    times_s = counting_s if len(counting_s) >= most else all_s
    left_s = times_s[0] + DAY_S - ledger.now_s() if times_s else 0.0
    raise OverQuota(
        f"the limit is {counted(most, kind.noun, kind.nouns)} within 24 hours; "
        f"the next one can be {kind.verb} in {max(left_s, 0) / 3600:.1f} hours"
    )


# -- the queue ---------------------------------------------------------------------------------------------


def add(
    ledger: Ledger,
    db: sqlite3.Connection,
    kind: Kind,
    author: Author,
    league: str,
    details: dict[str, Any],
    **columns: Any,
) -> int:
    """Enter a job, and return its number; within `writing`.

    Raises `OverQuota`, and `BadInput` if the author's token was revoked.
    """
    # The token was valid when the request came, but its body may have taken long.
    if not db.execute("SELECT 1 FROM author WHERE id = ? AND token IS NOT NULL", (author.id,)).fetchone():
        raise BadInput("this author's token was revoked")
    check_quota(ledger, kind, author)
    values = {
        "kind": kind.name,
        "author": author.id,
        "league": league,
        "state": kind.waiting,
        "asked": utc_now(),
        "asked_s": ledger.now_s(),
        "details": json.dumps(details),
        **columns,
    }
    names = ", ".join(values)
    places = ", ".join("?" * len(values))
    return int(db.execute(f"INSERT INTO job ({names}) VALUES ({places})", (*values.values(),)).lastrowid or 0)


def claim(ledger: Ledger, kind: Kind) -> int | None:
    """Begin the next job of a kind, and return its number; None if none waits.

    The author with the fewest today comes first, so that nobody can fill the queue for others.
    """
    # Workers ask several times a second, and a transaction that may write keeps all others from writing: look first.
    if not ledger.rows("SELECT 1 FROM job WHERE kind = ? AND state = ? LIMIT 1", kind.name, kind.waiting):
        return None
    with ledger.writing() as db:
        row = db.execute(
            "SELECT id FROM job this WHERE kind = ?1 AND state = ?2 ORDER BY (SELECT count(*) FROM job other "
            "WHERE other.kind = ?1 AND other.author = this.author AND other.asked_s > ?3 AND other.id < this.id), id "
            "LIMIT 1",
            (kind.name, kind.waiting, ledger.now_s() - DAY_S),
        ).fetchone()
        if row is None:
            return None
        db.execute("UPDATE job SET state = ?, claims = claims + 1 WHERE id = ?", (kind.running, row[0]))
    return int(row[0])


def put_back(ledger: Ledger, kind: Kind, number: int, *, uncounted: bool = False) -> bool:
    """Return a job to the queue. Returns false if it was begun too often.

    With `uncounted` it is as if it had not been begun: this machine could not do it now.
    """
    begins_again = "" if kind.resumes else ", progress = '[]'"
    with ledger.writing() as db:
        done = db.execute(
            f"UPDATE job SET state = ?, claims = claims - ?{begins_again} "
            "WHERE id = ? AND state = ? AND (claims < ? OR ?)",
            (kind.waiting, uncounted, number, kind.running, MAX_CLAIMS, uncounted),
        )
    return bool(done.rowcount)


def recover(ledger: Ledger, kind: Kind) -> list[int]:
    """Put back the jobs of a worker that was killed; only the one worker of this kind that runs may call this.

    Returns the numbers of those that were begun too often, which the caller must close.
    """
    # A claim is counted before the work begins, so a job that kills its worker each time is known by its count. The
    # lock of the worker makes sure that no other one is at work: what is running here was left by a dead one.
    query = "SELECT id FROM job WHERE kind = ? AND state = ? ORDER BY id"
    running = [int(number) for (number,) in ledger.rows(query, kind.name, kind.running)]
    return [number for number in running if not put_back(ledger, kind, number)]


def close(db: sqlite3.Connection, kind: Kind, number: int, state: str, **columns: Any) -> None:
    """End a job that a worker has begun; within `writing`."""
    values = {"state": state, "ended": utc_now(), **columns}
    setting = ", ".join(f"{name} = ?" for name in values)
    done = db.execute(
        f"UPDATE job SET {setting} WHERE id = ? AND kind = ? AND state = ?",
        (*values.values(), number, kind.name, kind.running),
    )
    if not done.rowcount:
        raise AssertionError(f"{kind.noun} {number} is not {kind.running}")


def fail(ledger: Ledger, kind: Kind, number: int, why: str) -> None:
    """End a match or a trial that could not be played; it does not count towards the limit."""
    with ledger.writing() as db:
        close(db, kind, number, "failed", why=why[:500])
