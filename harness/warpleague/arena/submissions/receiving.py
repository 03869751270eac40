"""Receives submissions and hands out files of authors, whether a form or a command asks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from warpleague.arena.submissions import challenges, trials, versions
from warpleague.arena.submissions.checking import sandbox_refusal
from warpleague.arena.submissions.entering import closed_to_bots, settled
from warpleague.arena.submissions.limits import limits_of
from warpleague.arena.submissions.requests import Refused, in_thread
from warpleague.arena.submissions.upload import suffix_of
from warpleague.match.record import unpack

if TYPE_CHECKING:
    import sqlite3

    from starlette.requests import Request

    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.arena.submissions.tokens import Author
    from warpleague.arena.submissions.versions import Submission
    from warpleague.league.season.config import LeagueConfig

_OTHER_FIELDS: Final = 64 << 10
"""Bytes for the other fields of a form."""


def check_length(ledger: Ledger, request: Request) -> None:
    """Raise `Refused` for a body that is too large, before it is read."""
    max_mb = limits_of(ledger).upload_mb
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal()):
        raise Refused(411, "The length of the body must be given.")
    if len(length) > 12 or int(length) > (max_mb << 20) + _OTHER_FIELDS:
        raise Refused(413, f"An upload may have {max_mb} MiB.")


async def check_open(ledger: Ledger, config: LeagueConfig) -> None:
    """Raise `Refused` if the league takes no bots now."""
    if why := sandbox_refusal(ledger):
        raise Refused(503, why)
    if why := await in_thread(closed_to_bots, ledger, config):
        raise Refused(409, why)


async def receive(
    ledger: Ledger, author: Author, config: LeagueConfig, data: bytes, deals: int | None = None
) -> Submission:
    """Receive an archive; durable when this returns. With `deals` it is for a trial on `deals` deals."""
    await check_open(ledger, config)
    if not data:
        raise Refused(422, "The archive is empty.")
    if deals is None:
        return await in_thread(versions.submit, ledger, author, config.name, data)
    trials.check_size(ledger, config, deals)
    begin = partial(_begin_trial, ledger, author, deals)
    received = await in_thread(partial(versions.submit, ledger, author, config.name, data, trial=begin))
    if received.active:
        raise Refused(409, f"This is version {received.id}, which plays: there is nothing to compare.")
    return received


def _begin_trial(ledger: Ledger, author: Author, deals: int, db: sqlite3.Connection, submission: int) -> None:
    trials.begin(ledger, db, author, submission, deals)


async def check_not_settled(ledger: Ledger, config: LeagueConfig) -> None:
    """Raise `Refused` if bots can no longer leave the league."""
    if why := await in_thread(settled, ledger, config):
        raise Refused(409, f"Bots can no longer leave {config.name}: {why}.")


def archive_of(ledger: Ledger, author: Author, submission: Submission) -> Response:
    """The archive of a version as a download; `Refused` unless it is the author's own."""
    check_own(submission, author)  # nobody but its author, not even an organiser
    data = versions.archive(ledger, submission.id)
    if data is None:
        raise Refused(404, "The archive of a refused submission is not stored.")
    return download(data, f"{submission.bot}-{submission.id}.{suffix_of(data)}")


def own_submission(ledger: Ledger, author: Author, number: int) -> Submission:
    """A submission of an author; an organiser may see all. `Refused` if it is somebody else's."""
    submission = versions.submission(ledger, number)
    if not author.organiser:
        check_own(submission, author)
    return submission


def check_own(submission: Submission, author: Author) -> None:
    """Raise `Refused` for a submission of somebody else."""
    if submission.author != author.name:
        raise Refused(404, "You have no such submission.")


async def challenge_record(ledger: Ledger, author: Author, number: int) -> bytes:
    """The record of a match on demand of an author. Raises `Refused` if it is no longer stored."""
    packed = challenges.record_of(ledger, author, number)
    if packed is None:
        raise Refused(404, "No record of this match is stored.")
    return await in_thread(unpack, packed)


def download(data: bytes, name: str, media: str = "application/octet-stream") -> Response:
    """Data that a browser stores as a file of this name."""
    safe_name = "".join(
        char if char.isascii() and (char.isalnum() or char in "._+-") else "-" for char in name
    )
    return Response(
        data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{safe_name}"'}
    )
