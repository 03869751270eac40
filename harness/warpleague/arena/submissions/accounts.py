"""Authors, the members of teams, and their tokens; sessions at a page; and invitations of new authors.

A token is shown once and stored as its SHA-256. It has 192 random bits, so a slow hash would protect nothing. It names
its author in plain text, so that only one hash is compared, in constant time. The same holds for invitations.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from hashlib import sha256
from secrets import compare_digest, token_urlsafe
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput
from warpleague.league.season import utc_now
from warpleague.text import nearest

if TYPE_CHECKING:
    import sqlite3

    from warpleague.arena.submissions.ledger import Ledger


# -- tokens ----------------------------------------------------------------------------------------------


_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")
_TOKEN: Final = re.compile(r"wl-([1-9][0-9]{0,9})-([A-Za-z0-9_-]{32})")
_SESSION_S: Final = 12 * 3600.0
_MAX_MEMBERS: Final = 20
_MAX_SESSIONS: Final = 10
"""Sessions of one author at a time; the oldest ends for a new one."""


@attrs.frozen
class Author:
    """Somebody with a token: `revoked` is when it ended (ISO time), or None.

    An author may be a team: `member` is the name of the member whose token was given, empty for the author's own, and
    `member_id` the number of that token.
    """

    id: int
    name: str
    organiser: bool
    added: str
    revoked: str | None
    member: str = ""
    member_id: int | None = None


@attrs.frozen
class Session:
    """An author at a page; each of its forms contains `form`, which no other site knows."""

    author: Author
    key: str
    form: str


def add_author(ledger: Ledger, name: str, who: str, *, organiser: bool = False) -> str:
    """Make an author, and return the token, which is not stored; `BadInput` for a name that is none, or is taken."""
    check_name(name)
    with ledger.writing() as db:
        if db.execute("SELECT 1 FROM author WHERE name = ?", (name,)).fetchone():
            raise BadInput(
                f"there is an author {name} already; a new token: warpleague arena author renew {name}"
            )
        return insert_author(ledger, db, name, who, organiser=organiser)


def check_name(name: str) -> None:
    """Raise `BadInput` if an author or a member cannot have this name."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r}: an author's name has letters, digits, and after the first of them . _ + -, 40 at most"
        )


def insert_author(
    ledger: Ledger, db: sqlite3.Connection, name: str, who: str, *, organiser: bool = False
) -> str:
    """Make an author whose name was checked, and return the token; within `writing`."""
    added = db.execute(
        "INSERT INTO author (name, organiser, added) VALUES (?, ?, ?)", (name, organiser, utc_now())
    )
    number = int(added.lastrowid or 0)
    token, stored = _new_token(number)
    db.execute("UPDATE author SET token = ? WHERE id = ?", (stored, number))
    ledger.note(who, "author added", author=name, organiser=organiser)
    return token


def add_member(ledger: Ledger, name: str, member: str, who: str) -> str:
    """A token for a member of the team that is an author; like that of the author, it is not stored."""
    check_name(member)
    with ledger.writing() as db:
        author = author_named(ledger, name)
        if author.revoked is not None:
            raise BadInput(f"the token of {author.name} has ended; renew it first")
        count = db.execute("SELECT count(*) FROM member WHERE author = ?", (author.id,)).fetchone()[0]
        if count >= _MAX_MEMBERS:
            raise BadInput(f"{author.name}: a team has {_MAX_MEMBERS} members at most")
        if db.execute("SELECT 1 FROM member WHERE author = ? AND name = ?", (author.id, member)).fetchone():
            raise BadInput(f"{author.name} has a member {member} already; remove that one first")
        token, stored = _new_token(author.id)
        db.execute(
            "INSERT INTO member (author, name, token, added) VALUES (?, ?, ?, ?)",
            (author.id, member, stored, utc_now()),
        )
        ledger.note(who, "member added", author=author.name, member=member)
    return token


def remove_member(ledger: Ledger, name: str, member: str, who: str) -> None:
    """End the token of a member of a team, and its sessions."""
    with ledger.writing() as db:
        author = author_named(ledger, name)
        query = "SELECT id FROM member WHERE author = ? AND name = ?"
        row = db.execute(query, (author.id, member)).fetchone()
        if row is None:
            near = nearest(member, members(ledger)[author.name], "there are none")
            raise BadInput(f"{author.name} has no member {member!r}; {near}")
        db.execute("DELETE FROM session WHERE member = ?", row)
        db.execute("DELETE FROM member WHERE id = ?", row)
        ledger.note(who, "member removed", author=author.name, member=member)


def members(ledger: Ledger) -> dict[str, list[str]]:
    """The names of the members of each team, by the author's name."""
    members_of: dict[str, list[str]] = {author.name: [] for author in authors(ledger)}
    query = "SELECT author.name, member.name FROM member JOIN author ON author.id = member.author ORDER BY member.id"
    for author, member in ledger.rows(query):
        members_of[author].append(member)
    return members_of


def renew_token(ledger: Ledger, name: str, who: str) -> str:
    """A new token for an author; the one before it and its sessions end."""
    with ledger.writing() as db:
        author = author_named(ledger, name)
        token, stored = _new_token(author.id)
        db.execute("UPDATE author SET token = ?, revoked = NULL WHERE id = ?", (stored, author.id))
        db.execute("DELETE FROM session WHERE author = ?", (author.id,))
        ledger.note(who, "token renewed", author=author.name)
    return token


def revoke(ledger: Ledger, name: str, who: str) -> None:
    """End the tokens of an author and of all members, and all sessions; the bots stay where they are."""
    with ledger.writing() as db:
        author = author_named(ledger, name)
        db.execute("UPDATE author SET token = NULL, revoked = ? WHERE id = ?", (utc_now(), author.id))
        db.execute("DELETE FROM session WHERE author = ?", (author.id,))
        db.execute("DELETE FROM member WHERE author = ?", (author.id,))
        ledger.note(who, "token revoked", author=author.name)


def authors(ledger: Ledger) -> list[Author]:
    """All authors, in the order in which they were added."""
    return [_author(row) for row in ledger.rows(f"SELECT {_COLUMNS} FROM author ORDER BY id")]


def author_named(ledger: Ledger, name: str) -> Author:
    """The author of this name. Raises `BadInput` if there is none."""
    rows = ledger.rows(f"SELECT {_COLUMNS} FROM author WHERE name = ?", name)
    if not rows:
        known = [author.name for author in authors(ledger)]
        raise BadInput(f"there is no author {name!r}; {nearest(name, known, 'there are none yet')}")
    return _author(rows[0])


def who_has(ledger: Ledger, token: str) -> Author | None:
    """The author whose token this is, or None."""
    form = _TOKEN.fullmatch(token)
    number = int(form[1]) if form else 0
    rows = ledger.rows(f"SELECT {_COLUMNS}, token FROM author WHERE id = ?", number)
    stored = rows[0][-1] if rows else None
    given = hash_of(token)
    same = compare_digest(given, stored if isinstance(stored, bytes) else bytes(32))
    if stored is None:
        return None
    author = _author(rows[0][:-1])
    if same:
        return author
    for member, name, own in ledger.rows("SELECT id, name, token FROM member WHERE author = ?", number):
        if compare_digest(given, own):
            return attrs.evolve(author, member=str(name), member_id=int(member))
    return None


# -- sessions --------------------------------------------------------------------------------------------


def begin_session(ledger: Ledger, author: Author) -> Session:
    """A session of an author who gave a token."""
    key, form = token_urlsafe(32), token_urlsafe(24)
    with ledger.writing() as db:
        db.execute("DELETE FROM session WHERE ends_s < ?", (time.time(),))
        db.execute(
            "DELETE FROM session WHERE author = ? AND id NOT IN "
            "(SELECT id FROM session WHERE author = ? ORDER BY ends_s DESC LIMIT ?)",
            (author.id, author.id, _MAX_SESSIONS - 1),
        )
        ends_s = time.time() + _SESSION_S
        db.execute(
            "INSERT INTO session (id, author, form, ends_s, member) VALUES (?, ?, ?, ?, ?)",
            (hash_of(key), author.id, form, ends_s, author.member_id),
        )
        ledger.note(author.name, "session begun", member=author.member)
    return Session(author, key, form)


def session_of(ledger: Ledger, key: str) -> Session | None:
    """The session with this key, if it has not ended."""
    query = (
        f"SELECT {_COLUMNS}, form, member FROM session JOIN author ON author.id = session.author "
        "WHERE session.id = ? AND ends_s > ? AND token IS NOT NULL"
    )
    rows = ledger.rows(query, hash_of(key), time.time())
    if not rows:
        return None
    *values, form, member = rows[0]
    author = _author(tuple(values))
    for (name,) in ledger.rows("SELECT name FROM member WHERE id = ?", member):
        author = attrs.evolve(author, member=str(name), member_id=int(member))
    return Session(author, key, form)


def end_session(ledger: Ledger, session: Session) -> None:
    """End a session."""
    with ledger.writing() as db:
        db.execute("DELETE FROM session WHERE id = ?", (hash_of(session.key),))


_COLUMNS: Final = "author.id, name, organiser, added, revoked"


def _author(row: tuple[object, ...]) -> Author:
    number, name, organiser, added, revoked = row
    assert isinstance(number, int)
    return Author(number, str(name), bool(organiser), str(added), None if revoked is None else str(revoked))


def _new_token(number: int) -> tuple[str, bytes]:
    token = f"wl-{number}-{token_urlsafe(24)}"
    return token, hash_of(token)


def hash_of(secret: str) -> bytes:
    """The stored form of a secret. It has enough random bits, so a fast hash is safe."""
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()


# -- invitations: links with which people make themselves authors ----------------------------------------


_FORM: Final = re.compile(r"wi-([1-9][0-9]{0,9})-([A-Za-z0-9_-]{32})")
_DAY_S: Final = 24 * 3600.0
MAX_USES: Final = 1000
MAX_DAYS: Final = 365
_INVITATION_COLUMNS: Final = "id, note, uses, used, made, ends, revoked"


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
        db.execute("UPDATE invitation SET secret = ? WHERE id = ?", (hash_of(secret), number))
        ledger.note(who, "invitation made", invitation=number, uses=uses, ends=ends, note=note)
    return secret


def invitations(ledger: Ledger) -> list[Invitation]:
    """All invitations, the newest first."""
    return [
        Invitation(*row)
        for row in ledger.rows(f"SELECT {_INVITATION_COLUMNS} FROM invitation ORDER BY id DESC")
    ]


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
    same = compare_digest(hash_of(secret), stored)
    if not same or revoked is not None or used >= uses or ends_s <= time.time():
        raise NoInvitation(
            "this invitation is not valid, or no longer valid; ask the organiser for another one"
        )
    return number


def accept_invitation(ledger: Ledger, secret: str, name: str) -> str:
    """Make the owner of an invitation an author, and return the token. Raises `BadInput` for a bad name."""
    check_name(name)
    with ledger.writing() as db:
        number = check_invitation(ledger, secret)
        if db.execute("SELECT 1 FROM author WHERE name = ?", (name,)).fetchone():
            raise BadInput(f"there is an author {name} already; choose another name")
        db.execute("UPDATE invitation SET used = used + 1 WHERE id = ?", (number,))
        return insert_author(ledger, db, name, f"invitation {number}")
