"""The states of a submission, each a row of the ledger, and the versions of a bot, of which one is active.

received -> checking -> accepted, refused or failed. Only the checker moves a row on. An accepted submission is a
version of its bot; the newest becomes active, until its author withdraws it or makes another one active.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions.ledger import DAY_S, Ledger, next_waiting
from warpleague.arena.submissions.limits import limits_of
from warpleague.errors import BadInput
from warpleague.league.season.entry import first_alike
from warpleague.league.season.fixture import utc_now
from warpleague.text import counted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from warpleague.arena.submissions.accounts import Author
    from warpleague.runner.checkup import Finding

    Trial = Callable[[sqlite3.Connection, int], object]

SETTLED: Final = ("accepted", "refused", "failed")
_MAX_NUMBER: Final = 1 << 63
"""Greater than any number in the ledger."""
MAX_CLAIMS: Final = 3
"""How often a check may end the checker before the submission is refused."""
_COLUMNS: Final = (
    "submission.id, author.name, league, state, sha256, bytes, received, found, settled, bot, version, digest, "
    "active"
)
_FROM: Final = "FROM submission JOIN author ON author.id = submission.author"


class OverQuota(BadInput):
    """An author has sent too much for now."""


def over_quota(ledger: Ledger, limit: str, first_s: float | None, done: str) -> OverQuota:
    """The error for more than `limit` within 24 hours, of which the first was at `first_s`, in seconds since 1970.

    `done` is the verb for the next one, such as "sent".
    """
    left_s = 0.0 if first_s is None else first_s + DAY_S - ledger.now_s()
    return OverQuota(
        f"the limit is {limit} within 24 hours; the next one can be {done} in {max(left_s, 0) / 3600:.1f} hours"
    )


def asked_in_a_day(ledger: Ledger, table: str, author: Author) -> tuple[int, float | None]:
    """How many rows of `table` an author asked for within 24 hours, and when the first of these; failed ones are free.

    `table` is "challenge" or "trial"; the time is in seconds since 1970.
    """
    query = (
        f"SELECT count(*), min(asked_s) FROM {table} WHERE author = ? AND asked_s > ? AND state != 'failed'"
    )
    count, first_s = ledger.rows(query, author.id, ledger.now_s() - DAY_S)[0]
    return count, first_s


class NoSubmission(BadInput):
    """No submission has the number; `shown` is the message to authors, who need not know whether others have it."""

    shown = "You have no such submission."


@attrs.frozen
class Submission:
    """A submission: whose it is, its state, the findings of its check, and the version that it became.

    Times are ISO times; `bytes` is the size of its archive, `sha256` the archive's; `bot`, `version` and `digest` are
    those of the manifest and the content, None before they are known, and the digest unless it was accepted.
    """

    id: int
    author: str
    league: str
    state: str
    sha256: str
    bytes: int
    received: str
    found: tuple[dict[str, str], ...]
    settled: str | None
    bot: str | None
    version: str | None
    digest: str | None
    active: bool

    @property
    def is_settled(self) -> bool:
        """Whether its check is over."""
        return self.state in SETTLED

    @property
    def reason(self) -> str | None:
        """Why it was not accepted, on one line, or None if it was accepted or is being checked."""
        return None if self.state not in ("refused", "failed") else reason_of(self.state, self.found)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return attrs.asdict(self) | {"found": list(self.found), "reason": self.reason}


def reason_of(state: str, findings: Sequence[Mapping[str, str]]) -> str:
    """The first finding that failed, on one line; the last one if the harness failed."""
    for finding in reversed(findings) if state == "failed" else findings:
        if finding["verdict"] == "failed":
            first = next(iter(finding["text"].splitlines()), "")
            return f"{finding['what']}: {first}"
    return "no reason was written down"


def submit(
    ledger: Ledger, author: Author, league: str, data: bytes, *, trial: Trial | None = None
) -> Submission:
    """Receive an archive; durable when this returns.

    The same archive sent again, while it is checked or plays, is the same submission: a sender whose connection broke
    may send again. With `trial`, which is called with the number of the submission within the transaction, the version
    is for a trial: it will not play. Raises `OverQuota`.
    """
    limits = limits_of(ledger)
    digest = sha256(data).hexdigest()
    with ledger.writing() as db:
        same = db.execute(
            "SELECT id FROM submission WHERE author = ? AND league = ? AND sha256 = ? "
            "AND (state IN ('received', 'checking') OR active = 1)",
            (author.id, league, digest),
        ).fetchone()
        if same:
            if trial is None:
                _end_trial(db, int(same[0]), "the new version was submitted to play")
            return submission(ledger, int(same[0]))
        if not db.execute("SELECT 1 FROM author WHERE id = ? AND token IS NOT NULL", (author.id,)).fetchone():
            raise BadInput("this author's token was revoked")
        sent = db.execute(
            "SELECT count(*), min(received_s), sum(state != 'failed') FROM submission "
            "WHERE author = ? AND received_s > ?",
            (author.id, ledger.now_s() - DAY_S),
        ).fetchone()
        # A check that this machine failed does not count, up to a bound.
        if (sent[2] or 0) >= limits.per_day or sent[0] >= 2 * limits.per_day:
            raise over_quota(ledger, counted(limits.per_day, "submission"), sent[1], "sent")
        row = db.execute(
            "INSERT INTO submission (author, league, state, sha256, bytes, archive, received, received_s) "
            "VALUES (?, ?, 'received', ?, ?, ?, ?, ?)",
            (author.id, league, digest, len(data), data, utc_now(), ledger.now_s()),
        )
        number = int(row.lastrowid or 0)
        ledger.note(
            author.name,
            "submission received",
            submission=number,
            league=league,
            sha256=digest,
            member=author.member,
        )
        if trial is not None:
            trial(db, number)
    return submission(ledger, number)


def sent_today(ledger: Ledger, author: Author) -> int:
    """How many submissions of an author within 24 hours count towards the limit."""
    query = "SELECT count(*) FROM submission WHERE author = ? AND received_s > ? AND state != 'failed'"
    return int(ledger.rows(query, author.id, ledger.now_s() - DAY_S)[0][0])


def submission(ledger: Ledger, number: int) -> Submission:
    """The submission with this number. Raises `NoSubmission` if there is none."""
    if not 0 < number < _MAX_NUMBER:
        raise NoSubmission(f"there is no submission {number}")
    rows = ledger.rows(f"SELECT {_COLUMNS} {_FROM} WHERE submission.id = ?", number)
    if not rows:
        raise NoSubmission(f"there is no submission {number}")
    return _submission(rows[0])


def submissions(ledger: Ledger, author: str | None = None, most: int = 100) -> list[Submission]:
    """The last `most` submissions, the newest first; those of one author have all active ones among them."""
    query = (
        f"SELECT {_COLUMNS} {_FROM} WHERE ?1 IS NULL OR name = ?1 "
        "ORDER BY active AND ?1 IS NOT NULL DESC, submission.id DESC LIMIT ?2"
    )
    listed = [_submission(row) for row in ledger.rows(query, author, most)]
    return sorted(listed, key=lambda one: one.id, reverse=True)


def active(ledger: Ledger, league: str) -> list[Submission]:
    """The active versions in a league, in the order in which their bots first came."""
    query = (
        f"SELECT {_COLUMNS} {_FROM} WHERE league = ? AND active = 1 ORDER BY (SELECT min(id) FROM submission first "
        "WHERE first.league = submission.league AND first.bot = submission.bot COLLATE NOCASE "
        "AND first.state = 'accepted')"
    )
    return [_submission(row) for row in ledger.rows(query, league)]


def archive(ledger: Ledger, number: int) -> bytes | None:
    """The archive of a submission, or None if it was refused."""
    rows = ledger.rows("SELECT archive FROM submission WHERE id = ?", number)
    return rows[0][0] if rows else None


# ---------------------------------------------------------------------- the checker's steps


def recover(ledger: Ledger) -> list[int]:
    """Take up the checks of a checker that was killed; only the one checker that runs may call this.

    The numbers of those that are refused, since their checks ended the checker too often.
    """
    refused = []
    with ledger.writing() as db:
        for number, claims in db.execute(
            "SELECT id, claims FROM submission WHERE state = 'checking'"
        ).fetchall():
            if claims < MAX_CLAIMS:
                db.execute("UPDATE submission SET state = 'received', found = '[]' WHERE id = ?", (number,))
                continue
            text = (
                f"its check ended the checker {claims} times; tell the organiser if your bot runs elsewhere"
            )
            _settle(ledger, db, number, "refused", _failed("check", text))
            refused.append(number)
    return refused


def claim(ledger: Ledger) -> Submission | None:
    """The submission to check next, or None."""
    if not ledger.rows("SELECT 1 FROM submission WHERE state = 'received' LIMIT 1"):
        return None
    with ledger.writing() as db:
        row = next_waiting(db, "submission", "received", "received_s", ledger.now_s())
        if row is None:
            return None
        db.execute(
            "UPDATE submission SET state = 'checking', claims = claims + 1, found = '[]' WHERE id = ?", row
        )
    return submission(ledger, int(row[0]))


def name(ledger: Ledger, number: int, bot: str, version: str) -> None:
    """Store the name and version in a submission's manifest; the name is taken only once the bot is accepted."""
    with ledger.writing() as db:
        db.execute(
            "UPDATE submission SET bot = ?, version = ? WHERE id = ? AND state = 'checking'",
            (bot, version, number),
        )


def put_back(ledger: Ledger, number: int) -> None:
    """Return a submission to the queue, because its check failed, but not because of the bot."""
    with ledger.writing() as db:
        db.execute(
            "UPDATE submission SET state = 'received', claims = claims - 1, found = '[]' "
            "WHERE id = ? AND state = 'checking'",
            (number,),
        )


def begin_again(ledger: Ledger, number: int) -> bool:
    """Let a check begin again. Returns false if that happened too often."""
    with ledger.writing() as db:
        done = db.execute(
            "UPDATE submission SET state = 'received', found = '[]' "
            "WHERE id = ? AND state = 'checking' AND claims < ?",
            (number, MAX_CLAIMS),
        )
    return bool(done.rowcount)


def add_finding(ledger: Ledger, number: int, finding: Finding) -> None:
    """Write down a finding as soon as it is made."""
    with ledger.writing() as db:
        _add_finding(db, number, attrs.asdict(finding))


def refuse(
    ledger: Ledger, number: int, text: str, *, what: str = "bundle", code: str = "", state: str = "refused"
) -> None:
    """Refuse a submission; `state` "failed" means that the harness failed, not the bot.

    `code` is that of the finding, if it is not `what`.
    """
    with ledger.writing() as db:
        _settle(ledger, db, number, state, _failed(what, text, code) if text else None)


def accept(ledger: Ledger, number: int, bot: str, version: str, digest: str) -> None:
    """Accept a submission, and make it the active version of its bot, unless `name_refusal` refuses its name.

    A version that was sent for a trial does not become active: its trial is next.
    """
    with ledger.writing() as db:
        problem = name_refusal(ledger, number, bot)
        if problem:
            _settle(ledger, db, number, "refused", _failed("name", problem))
            return
        league = db.execute("SELECT league FROM submission WHERE id = ?", (number,)).fetchone()[0]
        for_trial = db.execute(
            "UPDATE trial SET state = 'waiting' WHERE new = ? AND state = 'checking'", (number,)
        ).rowcount
        if not for_trial:
            _deactivate(db, league, bot)
        db.execute(
            "UPDATE submission SET bot = ?, version = ?, digest = ?, active = ? WHERE id = ?",
            (bot, version, digest, not for_trial, number),
        )
        _settle(ledger, db, number, "accepted", None)


def name_refusal(ledger: Ledger, number: int, bot: str) -> str | None:
    """Why the author of a submission may not enter a bot of this name, or None."""
    mine = ledger.rows("SELECT author, league FROM submission WHERE id = ?", number)[0]
    known = ledger.rows(
        "SELECT DISTINCT bot, author FROM submission WHERE league = ? AND state = 'accepted'", mine[1]
    )
    theirs = first_alike(bot, (name for name, author in known if author != mine[0]))
    if theirs is not None:
        like = "" if theirs == bot else f", which looks like {bot},"
        return f"bot.toml: name: another author has a bot called {theirs}{like} in this league; choose another name"
    own = first_alike(
        bot, (name for name, author in known if author == mine[0] and name.lower() != bot.lower())
    )
    if own is not None:
        return f"bot.toml: name: {bot} looks like {own}, your other bot; choose another name"
    most = limits_of(ledger).bots
    others = ledger.rows(
        "SELECT count(*) FROM submission WHERE author = ? AND league = ? AND active = 1 "
        "AND bot != ? COLLATE NOCASE",
        *mine,
        bot,
    )[0][0]
    if others >= most:
        return (
            f"{most} bots of an author may play in this league, and as many of yours do; withdraw one first"
        )
    return None


# ---------------------------------------------------------------------- decisions of authors


def withdraw(ledger: Ledger, author: Author, league: str, bot: str) -> None:
    """Take a bot out of a league; its matches and versions stay."""
    with ledger.writing() as db:
        done = db.execute(
            "UPDATE submission SET active = 0 "
            "WHERE league = ? AND bot = ? COLLATE NOCASE AND author = ? AND active = 1",
            (league, bot, author.id),
        )
        if not done.rowcount:
            raise BadInput(f"you have no bot called {bot!r} that plays in {league}")
        ledger.note(author.name, "bot withdrawn", league=league, bot=bot)


def activate(ledger: Ledger, author: Author, number: int) -> None:
    """Make a version that was accepted the active one of its bot."""
    with ledger.writing() as db:
        row = db.execute(
            "SELECT league, bot FROM submission WHERE id = ? AND author = ? AND state = 'accepted'",
            (number, author.id),
        ).fetchone()
        if row is None:
            raise BadInput(f"you have no accepted version {number}")
        if problem := name_refusal(ledger, number, row[1]):
            raise BadInput(problem)
        _deactivate(db, *row)
        db.execute("UPDATE submission SET active = 1 WHERE id = ?", (number,))
        ledger.note(author.name, "version activated", submission=number, league=row[0], bot=row[1])


# ---------------------------------------------------------------------- rows


def _end_trial(db: sqlite3.Connection, number: int, why: str) -> None:
    """End the trial for which a version was sent, if there is one and it has not begun."""
    db.execute(
        "UPDATE trial SET state = 'failed', ended = ?, why = ? WHERE new = ? AND state = 'checking'",
        (utc_now(), why, number),
    )


def _deactivate(db: sqlite3.Connection, league: str, bot: str) -> None:
    db.execute("UPDATE submission SET active = 0 WHERE league = ? AND bot = ? COLLATE NOCASE", (league, bot))


def _add_finding(db: sqlite3.Connection, number: int, finding: dict[str, str]) -> None:
    findings = json.loads(db.execute("SELECT found FROM submission WHERE id = ?", (number,)).fetchone()[0])
    db.execute("UPDATE submission SET found = ? WHERE id = ?", (json.dumps([*findings, finding]), number))


def _failed(what: str, text: str, code: str = "") -> dict[str, str]:
    return {"what": what, "verdict": "failed", "text": text, "code": code or what}


def _settle(
    ledger: Ledger, db: sqlite3.Connection, number: int, state: str, last: dict[str, str] | None
) -> None:
    if last is not None:
        _add_finding(db, number, last)
    gone = "" if state == "accepted" else ", archive = NULL"
    done = db.execute(
        f"UPDATE submission SET state = ?, settled = ?{gone} WHERE id = ? AND state = 'checking'",
        (state, utc_now(), number),
    )
    if not done.rowcount:
        raise AssertionError(f"submission {number} is not being checked")
    if state != "accepted":
        _end_trial(db, number, "the new version was not accepted")
    findings, league, bot, version = db.execute(
        "SELECT found, league, bot, version FROM submission WHERE id = ?", (number,)
    ).fetchone()
    text = "" if state == "accepted" else reason_of(state, json.loads(findings))
    ledger.note(
        "checker",
        f"submission {state}",
        submission=number,
        league=league,
        bot=bot,
        version=version,
        text=text,
    )


def _submission(row: tuple[Any, ...]) -> Submission:
    fields = attrs.fields(Submission)
    values = dict(zip((field.name for field in fields), row, strict=True))
    return Submission(**{**values, "found": tuple(json.loads(row[7])), "active": bool(row[12])})
