"""Submissions of bots, and the versions that they become; of each bot one version at most is active.

received -> checking -> accepted, refused or failed. Only the checker moves a submission on. An accepted one is a
version of its bot; the newest becomes active, until its author withdraws it or makes another one active.
"""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import attrs
import msgspec

from warpleague.arena.submissions.jobs import (
    SUBMISSION,
    TRIAL,
    Submission,
    Version,
    add,
    close,
    read,
    read_one,
)
from warpleague.errors import BadInput
from warpleague.league.season import utc_now
from warpleague.league.season.entry import first_alike
from warpleague.runner.findings import Finding

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from warpleague.arena.submissions.accounts import Author
    from warpleague.arena.submissions.ledger import Ledger


# -- what there is -----------------------------------------------------------------------------------------


def submission(ledger: Ledger, number: int) -> Submission:
    """The submission with this number. Raises `NoJob` if there is none."""
    return _submission(read_one(ledger, SUBMISSION, number))


def submissions(ledger: Ledger, author: str | None = None, most: int = 100) -> list[Submission]:
    """The last `most` submissions, the newest first; those of one author have all active ones among them."""
    where = "(?1 IS NULL OR author.name = ?1) ORDER BY active AND ?1 IS NOT NULL DESC, job.id DESC LIMIT ?2"
    listed = [_submission(row) for row in read(ledger, SUBMISSION, where, author, most)]
    return sorted(listed, key=lambda one: one.id, reverse=True)


def _submission(row: dict[str, Any]) -> Submission:
    state, findings = row["state"], row["found"]
    reason = _reason(state, findings) if state in ("refused", "failed") else None
    return msgspec.convert({**row, "active": bool(row["active"]), "reason": reason}, Submission)


def _reason(state: str, findings: Sequence[dict[str, str]]) -> str:
    """The first finding that failed, on one line; the last one if the harness failed."""
    for finding in reversed(findings) if state == "failed" else findings:
        if finding["verdict"] == "failed":
            first = next(iter(finding["text"].splitlines()), "")
            return f"{finding['what']}: {first}"
    return "no reason was written down"


def versions_in(
    ledger: Ledger, league: str, author: str | None = None, *, active: bool = False
) -> list[Version]:
    """The versions in a league, of one author or all, or only active ones, in the order in which their bots came."""
    rows = ledger.named_rows(
        "SELECT job.id, author.name AS author, league, bot, version, digest, sha256, active "
        "FROM job JOIN author ON author.id = job.author WHERE kind = 'submission' AND state = 'accepted' "
        "AND league = ?1 AND (?2 IS NULL OR author.name = ?2) ORDER BY job.id",
        league,
        author,
    )
    found = [Version(**{**row, "active": bool(row["active"])}) for row in rows]
    first: dict[str, int] = {}
    for one in found:
        first.setdefault(one.bot.lower(), one.id)
    found.sort(key=lambda one: (first[one.bot.lower()], one.id))
    return [one for one in found if one.active or not active]


def stored_archive(ledger: Ledger, number: int) -> bytes | None:
    """The archive of a submission, or None if it was refused."""
    rows = ledger.rows("SELECT data FROM job WHERE id = ? AND kind = 'submission'", number)
    return rows[0][0] if rows else None


# -- what authors send -------------------------------------------------------------------------------------


def submit(
    ledger: Ledger, author: Author, league: str, data: bytes, *, trial_deals: int | None = None
) -> Submission:
    """Receive an archive; durable when this returns.

    The same archive sent again, while it is checked or plays, is the same submission: a sender whose connection broke
    may send again. With `trial_deals` the version is for a trial on so many deals: it will not play. Raises
    `OverQuota`.
    """
    digest = sha256(data).hexdigest()
    with ledger.writing() as db:
        same = db.execute(
            "SELECT id FROM job WHERE kind = 'submission' AND author = ? AND league = ? AND sha256 = ? "
            "AND (state IN ('received', 'checking') OR active = 1)",
            (author.id, league, digest),
        ).fetchone()
        if same:
            if trial_deals is None:
                _end_trial(db, int(same[0]), "the new version was submitted to play")
            return submission(ledger, int(same[0]))
        number = add(ledger, db, SUBMISSION, author, league, {"bytes": len(data)}, sha256=digest, data=data)
        ledger.note(
            author.name,
            "submission received",
            submission=number,
            league=league,
            sha256=digest,
            member=author.member,
        )
        if trial_deals is not None:
            add_trial(ledger, db, author, league, number, {"deals": trial_deals}, state="checking")
    return submission(ledger, number)


def add_trial(
    ledger: Ledger,
    db: sqlite3.Connection,
    author: Author,
    league: str,
    new: int,
    details: dict[str, Any],
    **columns: Any,
) -> int:
    """Enter a trial of the version `new`, and return its number; within `writing`. Raises `OverQuota`."""
    details = {"old": None, "field": [], "seed": secrets.token_hex(16), **details}
    number = add(ledger, db, TRIAL, author, league, details, about=new, **columns)
    ledger.note(author.name, "trial", number=number, league=league, submission=new, member=author.member)
    return number


def withdraw(ledger: Ledger, author: Author, league: str, bot: str) -> None:
    """Take a bot out of a league; its matches and versions stay."""
    with ledger.writing() as db:
        done = db.execute(
            "UPDATE job SET active = 0 WHERE league = ? AND bot = ? COLLATE NOCASE AND author = ? AND active = 1",
            (league, bot, author.id),
        )
        if not done.rowcount:
            raise BadInput(f"you have no bot called {bot!r} that plays in {league}")
        ledger.note(author.name, "bot withdrawn", league=league, bot=bot)


def activate(ledger: Ledger, author: Author, number: int) -> None:
    """Make a version that was accepted the active one of its bot."""
    with ledger.writing() as db:
        row = db.execute(
            "SELECT league, bot FROM job WHERE id = ? AND kind = 'submission' AND author = ? AND state = 'accepted'",
            (number, author.id),
        ).fetchone()
        if row is None:
            raise BadInput(f"you have no accepted version {number}")
        if problem := name_refusal(ledger, number, row[1]):
            raise BadInput(problem)
        _deactivate(db, *row)
        db.execute("UPDATE job SET active = 1 WHERE id = ?", (number,))
        ledger.note(author.name, "version activated", submission=number, league=row[0], bot=row[1])


# -- the checker's steps -----------------------------------------------------------------------------------


def name(ledger: Ledger, number: int, bot: str, version: str) -> None:
    """Store the name and version in a submission's manifest; the name is taken only once the bot is accepted."""
    with ledger.writing() as db:
        db.execute(
            "UPDATE job SET bot = ?, version = ? WHERE id = ? AND state = 'checking'", (bot, version, number)
        )


def add_finding(ledger: Ledger, number: int, finding: Finding) -> None:
    """Write down a finding as soon as it is made."""
    with ledger.writing() as db:
        _add_finding(db, number, finding)


def refuse(ledger: Ledger, number: int, finding: Finding | None, *, state: str = "refused") -> None:
    """Refuse a submission, for this finding or an earlier one; `state` "failed": the harness failed, not the bot."""
    with ledger.writing() as db:
        if finding is not None:
            _add_finding(db, number, finding)
        _close(ledger, db, number, state)


def accept(ledger: Ledger, number: int, bot: str, version: str, digest: str) -> None:
    """Accept a submission, and make it the active version of its bot, unless `name_refusal` refuses its name.

    A version that was sent for a trial does not become active: its trial is next.
    """
    with ledger.writing() as db:
        problem = name_refusal(ledger, number, bot)
        if problem:
            _add_finding(db, number, Finding("name", "failed", problem, "name"))
            _close(ledger, db, number, "refused")
            return
        league = db.execute("SELECT league FROM job WHERE id = ?", (number,)).fetchone()[0]
        for_trial = db.execute(
            "UPDATE job SET state = ? WHERE kind = 'trial' AND about = ? AND state = 'checking'",
            (TRIAL.waiting, number),
        ).rowcount
        if not for_trial:
            _deactivate(db, league, bot)
        db.execute(
            "UPDATE job SET bot = ?, version = ?, digest = ?, active = ? WHERE id = ?",
            (bot, version, digest, not for_trial, number),
        )
        _close(ledger, db, number, "accepted")


def name_refusal(ledger: Ledger, number: int, bot: str) -> str | None:
    """Why the author of a submission may not enter a bot of this name, or None."""
    this = submission(ledger, number)
    known = versions_in(ledger, this.league)
    theirs = first_alike(bot, (one.bot for one in known if one.author != this.author))
    if theirs is not None:
        like = "" if theirs == bot else f", which looks like {bot},"
        return f"bot.toml: name: another author has a bot called {theirs}{like} in this league; choose another name"
    mine = [one for one in known if one.author == this.author and one.bot.lower() != bot.lower()]
    own = first_alike(bot, (one.bot for one in mine))
    if own is not None:
        return f"bot.toml: name: {bot} looks like {own}, your other bot; choose another name"
    most = ledger.limits.bots
    if sum(one.active for one in mine) >= most:
        return (
            f"{most} bots of an author may play in this league, and as many of yours do; withdraw one first"
        )
    return None


def _close(ledger: Ledger, db: sqlite3.Connection, number: int, state: str) -> None:
    """End a check; the archive of what is not accepted goes."""
    if state == "accepted":
        close(db, SUBMISSION, number, state)
    else:
        close(db, SUBMISSION, number, state, data=None)
        _end_trial(db, number, "the new version was not accepted")
    now = submission(ledger, number)
    ledger.note(
        "checker",
        f"submission {state}",
        submission=number,
        league=now.league,
        bot=now.bot,
        version=now.version,
        text=now.reason or "",
    )


def _end_trial(db: sqlite3.Connection, number: int, why: str) -> None:
    """End the trial for which a version was sent, if there is one and it has not begun."""
    db.execute(
        "UPDATE job SET state = 'failed', ended = ?, why = ? "
        "WHERE kind = 'trial' AND about = ? AND state = 'checking'",
        (utc_now(), why, number),
    )


def _deactivate(db: sqlite3.Connection, league: str, bot: str) -> None:
    db.execute("UPDATE job SET active = 0 WHERE league = ? AND bot = ? COLLATE NOCASE", (league, bot))


def _add_finding(db: sqlite3.Connection, number: int, finding: Finding) -> None:
    (text,) = db.execute("SELECT progress FROM job WHERE id = ?", (number,)).fetchone()
    findings = [*json.loads(text), attrs.asdict(finding)]
    db.execute("UPDATE job SET progress = ? WHERE id = ?", (json.dumps(findings), number))
