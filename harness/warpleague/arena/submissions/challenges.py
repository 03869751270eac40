"""Challenges: matches that an author asks for, against any bots of a league or earlier versions. They rate nobody.

Each has dice of its own, so that nobody learns those of the season. A limit holds for an author's challenges in 24
hours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions import versions
from warpleague.arena.submissions.entering import check_league
from warpleague.arena.submissions.ledger import Ledger, next_waiting
from warpleague.arena.submissions.limits import limits_of
from warpleague.arena.submissions.versions import NoSubmission, asked_in_a_day, over_quota
from warpleague.errors import BadInput
from warpleague.league.season.entry import name_of
from warpleague.league.season.fixture import utc_now
from warpleague.text import counted, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.arena.submissions.accounts import Author
    from warpleague.league.season.config import LeagueConfig

_MAX_CLAIMS: Final = 3
_KEPT: Final = 100
"""So many challenges of an author keep their records and logs."""
_MAX_NUMBER: Final = 1 << 62
_COLUMNS: Final = "challenge.id, author.name, league, seats, state, asked, ended, why, result"
_FROM: Final = "FROM challenge JOIN author ON author.id = challenge.author"


class NoChallenge(NoSubmission):
    """An author has no challenge with a number."""

    shown = "You have no such match on demand."


@attrs.frozen
class ChallengeSeat:
    """A bot of a challenge: its name, and the number of the submission; None for a bot of the league's file."""

    bot: str
    submission: int | None


@attrs.frozen
class Challenge:
    """A challenge: who asked for it, its bots, the author's own first, and how far it is.

    `state` is "waiting", "playing", "played", or "failed", which `why` explains. `result` has ranks, scores and faults
    in the order of the seats of the match, and these seats as places in `seats`.
    """

    id: int
    author: str
    league: str
    seats: tuple[ChallengeSeat, ...]
    state: str
    asked: str
    ended: str | None
    why: str | None
    result: dict[str, Any] | None


def ask(
    ledger: Ledger, config: LeagueConfig, author: Author, bot: str, opponents: Sequence[str]
) -> Challenge:
    """Ask for a match; durable when this returns.

    `bot` is the name of an own bot, or the number of an accepted version. Each opponent is the name of a bot of the
    league, or the number of an own version. Where a table has more seats, opponents sit there again. Raises
    `BadInput` for bots that there are not, and `OverQuota`.
    """
    check_league(config)
    own = _own(ledger, config, author, bot)
    others = [_opponent(ledger, config, author, name) for name in opponents]
    wanted = config.game.players - 1
    if (not others and wanted) or len(others) > wanted:
        raise BadInput(
            f"opponents: {counted(wanted, 'opponent')} at most, and one at least, not {len(others)}"
        )
    seats = [own, *(others[seat % len(others)] for seat in range(wanted))]
    most = limits_of(ledger).challenges
    with ledger.writing() as db:
        count, first_s = asked_in_a_day(ledger, "challenge", author)
        if count >= most:
            raise over_quota(ledger, f"{counted(most, 'match')} on demand", first_s, "asked for")
        row = db.execute(
            "INSERT INTO challenge (author, league, seats, state, asked, asked_s) VALUES (?, ?, ?, 'waiting', ?, ?)",
            (
                author.id,
                config.name,
                json.dumps([attrs.astuple(seat) for seat in seats]),
                utc_now(),
                ledger.now_s(),
            ),
        )
        db.execute(
            "UPDATE challenge SET record = NULL, log = NULL WHERE author = ?1 AND id NOT IN "
            "(SELECT id FROM challenge WHERE author = ?1 ORDER BY id DESC LIMIT ?2)",
            (author.id, _KEPT),
        )
        number = int(row.lastrowid or 0)
        ledger.note(author.name, "match on demand", number=number, league=config.name)
    return challenge(ledger, author, number)


def challenge(ledger: Ledger, author: Author, number: int) -> Challenge:
    """The challenge of an author with this number. Raises `NoChallenge` if there is none."""
    rows = (
        ledger.rows(f"SELECT {_COLUMNS} {_FROM} WHERE challenge.id = ? AND author = ?", number, author.id)
        if 0 < number < _MAX_NUMBER
        else []
    )
    if not rows:
        raise NoChallenge(f"you have no match on demand {number}")
    return _challenge(rows[0])


def challenges(ledger: Ledger, author: Author, most: int = 50) -> list[Challenge]:
    """The last challenges of an author, the newest first."""
    query = f"SELECT {_COLUMNS} {_FROM} WHERE author = ? ORDER BY challenge.id DESC LIMIT ?"
    return [_challenge(row) for row in ledger.rows(query, author.id, most)]


def asked_today(ledger: Ledger, author: Author) -> int:
    """How many challenges of an author within 24 hours count towards the limit."""
    return asked_in_a_day(ledger, "challenge", author)[0]


def record_of(ledger: Ledger, author: Author, number: int) -> bytes | None:
    """The packed record of a challenge, or None."""
    challenge(ledger, author, number)
    record: bytes | None = ledger.rows("SELECT record FROM challenge WHERE id = ?", number)[0][0]
    return record


def log_of(ledger: Ledger, author: Author, number: int, kind: str) -> str | None:
    """The output of the author's own bot, or its messages (`kind`, of `KINDS`), or None."""
    challenge(ledger, author, number)
    log = ledger.rows("SELECT log FROM challenge WHERE id = ?", number)[0][0]
    return None if log is None else str(json.loads(log)[kind])


def _own(ledger: Ledger, config: LeagueConfig, author: Author, text: str) -> ChallengeSeat:
    mine = [
        one
        for one in versions.submissions(ledger, author.name, most=100_000)
        if one.league == config.name and one.state == "accepted" and one.bot is not None
    ]
    if text.isascii() and text.isdecimal():
        own = next((one for one in mine if one.id == int(text)), None) if len(text) < 18 else None
        if own is None:
            raise BadInput(f"{text}: you have no accepted version of this number in {config.name}")
        return ChallengeSeat(str(own.bot), own.id)
    own = next((one for one in mine if one.bot == text and one.active), None)
    if own is None:
        names = sorted({str(one.bot) for one in mine if one.active})
        raise BadInput(
            f"you have no bot {text!r} that plays in {config.name}; {nearest(text, names, 'you have none')}"
        )
    return ChallengeSeat(text, own.id)


def _opponent(ledger: Ledger, config: LeagueConfig, author: Author, text: str) -> ChallengeSeat:
    if text.isascii() and text.isdecimal():
        return _own(ledger, config, author, text)
    active = {one.bot: one.id for one in versions.active(ledger, config.name) if one.bot is not None}
    if text in active:
        return ChallengeSeat(text, active[text])
    names = [name_of(config, entry) for entry in config.entries]
    if text not in names:
        raise BadInput(f"no bot {text!r} plays in {config.name}; {nearest(text, [*names, *active])}")
    return ChallengeSeat(text, None)


# ---------------------------------------------------------------------- the steps of the process that plays them


def recover(ledger: Ledger) -> None:
    """Take up the challenge of a killed process; one that ended the process too often has failed."""
    with ledger.writing() as db:
        db.execute(
            "UPDATE challenge SET state = 'waiting' WHERE state = 'playing' AND claims < ?", (_MAX_CLAIMS,)
        )
        db.execute(
            "UPDATE challenge SET state = 'failed', ended = ?, why = ? WHERE state = 'playing'",
            (utc_now(), f"it ended the process that played it {_MAX_CLAIMS} times"),
        )


def claim(ledger: Ledger) -> Challenge | None:
    """The challenge to play next: of who asked for least today. None if none waits."""
    if not ledger.rows("SELECT 1 FROM challenge WHERE state = 'waiting' LIMIT 1"):
        return None
    with ledger.writing() as db:
        row = next_waiting(db, "challenge", "waiting", "asked_s", ledger.now_s())
        if row is None:
            return None
        db.execute("UPDATE challenge SET state = 'playing', claims = claims + 1 WHERE id = ?", row)
        return _challenge(db.execute(f"SELECT {_COLUMNS} {_FROM} WHERE challenge.id = ?", row).fetchone())


def settle(
    ledger: Ledger,
    number: int,
    *,
    why: str | None = None,
    result: dict[str, Any] | None = None,
    record: bytes | None = None,
    log: dict[str, str] | None = None,
) -> None:
    """Store how a challenge ended: with a result and a packed record, or without, which `why` explains."""
    with ledger.writing() as db:
        db.execute(
            "UPDATE challenge SET state = ?, ended = ?, why = ?, result = ?, record = ?, log = ? WHERE id = ?",
            (
                "failed" if result is None else "played",
                utc_now(),
                why,
                None if result is None else json.dumps(result),
                record,
                None if log is None else json.dumps(log),
                number,
            ),
        )


def _challenge(row: tuple[Any, ...]) -> Challenge:
    number, author, league, seats, state, asked, ended, why, result = row
    return Challenge(
        number,
        author,
        league,
        tuple(ChallengeSeat(*seat) for seat in json.loads(seats)),
        state,
        asked,
        ended,
        why,
        None if result is None else json.loads(result),
    )
