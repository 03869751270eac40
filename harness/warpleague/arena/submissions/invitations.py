"""Invitations: links with which people make themselves authors. Each has a number of uses and an end.

An invitation is shown once and stored as its SHA-256, as a token is.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from secrets import compare_digest, token_urlsafe
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions import tokens
from warpleague.errors import BadInput
from warpleague.league.season.fixture import utc_now

if TYPE_CHECKING:
    from warpleague.arena.submissions.ledger import Ledger

_FORM: Final = re.compile(r"wi-([1-9][0-9]{0,9})-([A-Za-z0-9_-]{32})")
_DAY_S: Final = 24 * 3600.0
MAX_USES: Final = 1000
MAX_DAYS: Final = 365
_COLUMNS: Final = "id, note, uses, used, made, ends, revoked"


class NoInvitation(BadInput):
    """An invitation that never existed or has expired; the message does not say which."""


@attrs.frozen
class Invitation:
    """An invitation for `uses` authors, of which `used` have come. Times are ISO times in UTC."""

    id: int
    note: str
    uses: int
    used: int
    made: str
    ends: str
    revoked: str | None


def invite(ledger: Ledger, who: str, *, uses: int = 1, days: int = 14, note: str = "") -> str:
    """Make an invitation, and return its secret, which is not stored."""
    if not 1 <= uses <= MAX_USES:
        raise BadInput(f"uses: must be from 1 to {MAX_USES}, not {uses}")
    if not 1 <= days <= MAX_DAYS:
        raise BadInput(f"days: must be from 1 to {MAX_DAYS}, not {days}")
    if len(note) > 200 or not note.isprintable():
        raise BadInput("note: must be a text of at most 200 letters on one line")
    ends_s = time.time() + days * _DAY_S
    ends = datetime.fromtimestamp(ends_s, UTC).isoformat(timespec="seconds")
    with ledger.writing() as db:
        row = db.execute(
            "INSERT INTO invitation (secret, note, uses, made, ends, ends_s) VALUES (x'', ?, ?, ?, ?, ?)",
            (note, uses, utc_now(), ends, ends_s),
        )
        number = int(row.lastrowid or 0)
        secret = f"wi-{number}-{token_urlsafe(24)}"
        db.execute("UPDATE invitation SET secret = ? WHERE id = ?", (tokens.hash_of(secret), number))
        ledger.note(who, "invitation made", invitation=number, uses=uses, ends=ends, note=note)
    return secret


def invitations(ledger: Ledger) -> list[Invitation]:
    """All invitations, the newest first."""
    return [Invitation(*row) for row in ledger.rows(f"SELECT {_COLUMNS} FROM invitation ORDER BY id DESC")]


def revoke_invitation(ledger: Ledger, number: int, who: str) -> None:
    """End an invitation; the authors who came with it stay."""
    with ledger.writing() as db:
        done = db.execute(
            "UPDATE invitation SET revoked = ? WHERE id = ? AND revoked IS NULL", (utc_now(), number)
        )
        if not done.rowcount:
            raise BadInput(f"there is no invitation {number} that is valid")
        ledger.note(who, "invitation revoked", invitation=number)


def check_invitation(ledger: Ledger, secret: str) -> int:
    """The number of a valid invitation. Raises `NoInvitation` if it is not valid."""
    form = _FORM.fullmatch(secret)
    number = int(form[1]) if form else 0
    query = "SELECT secret, uses, used, ends_s, revoked FROM invitation WHERE id = ?"
    rows: list[tuple[Any, ...]] = ledger.rows(query, number)
    stored, uses, used, ends_s, revoked = rows[0] if rows else (bytes(32), 0, 0, 0.0, None)
    same = compare_digest(tokens.hash_of(secret), stored)
    if not same or revoked is not None or used >= uses or ends_s <= time.time():
        raise NoInvitation(
            "this invitation is not valid, or no longer valid; ask the organiser for another one"
        )
    return number


def accept(ledger: Ledger, secret: str, name: str) -> str:
    """Make the owner of an invitation an author, and return the token. Raises `BadInput` for a bad name."""
    tokens.check_name(name)
    with ledger.writing() as db:
        number = check_invitation(ledger, secret)
        if db.execute("SELECT 1 FROM author WHERE name = ?", (name,)).fetchone():
            raise BadInput(f"there is an author {name} already; choose another name")
        db.execute("UPDATE invitation SET used = used + 1 WHERE id = ?", (number,))
        return tokens.insert_author(ledger, db, name, f"invitation {number}")
