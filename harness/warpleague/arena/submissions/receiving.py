"""Receives submissions, and hands out what is an author's own, whether a form or a command asks."""

from __future__ import annotations

import io
import zipfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from warpleague.arena.submissions import on_demand, versions
from warpleague.arena.submissions.entering import closed_to_bots, entries_closed, sandbox_refusal
from warpleague.arena.submissions.requests import Refused, in_thread
from warpleague.arena.submissions.upload import suffix_of
from warpleague.errors import BadInput
from warpleague.league.season.config import LeagueConfig, with_dice
from warpleague.league.season.season import Season
from warpleague.league.store.store import Store
from warpleague.match.record import unpack
from warpleague.runner.bot.logs import KINDS, log_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from warpleague.arena.submissions.accounts import Author
    from warpleague.arena.submissions.jobs import Submission
    from warpleague.arena.submissions.ledger import Ledger


_OTHER_FIELDS: Final = 64 << 10
"""Bytes for the other fields of a form."""


def check_length(ledger: Ledger, request: Request) -> None:
    """Raise `Refused` for a body that is too large, before it is read."""
    max_mb = ledger.limits.upload_mb
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
    """Receive an archive; durable when this returns. With `deals` it is for a trial on so many deals."""
    await check_open(ledger, config)
    if not data:
        raise Refused(422, "The archive is empty.")
    if deals is not None:
        on_demand.check_size(ledger, config, deals)
    received = await in_thread(versions.submit, ledger, author, config.name, data, trial_deals=deals)
    if deals is not None and received.active:
        raise Refused(409, f"This is version {received.id}, which plays: there is nothing to compare.")
    return received


async def check_may_leave(ledger: Ledger, config: LeagueConfig) -> None:
    """Raise `Refused` if bots can no longer leave the league."""
    if why := await in_thread(entries_closed, ledger, config):
        raise Refused(409, f"Bots can no longer leave {config.name}: {why}.")


def archive_download(ledger: Ledger, author: Author, submission: Submission) -> Response:
    """The archive of a version as a download; `Refused` unless it is the author's own."""
    check_own(submission, author)  # nobody but its author, not even an organiser
    data = versions.stored_archive(ledger, submission.id)
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
    packed = on_demand.record_of(ledger, author, number)
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


# -- the records and the output of an author's own bots --------------------------------------------------


MAX_MATCHES: Final = 100
"""The most matches in one archive: the last ones."""
_MAX_LOOKED: Final = 10_000
"""The number of a bot's last matches that a search for one match covers."""


def own_records(ledger: Ledger, config: LeagueConfig, author: Author, bot: str) -> bytes:
    """A zip file with the last matches of a bot's versions: each record, and the messages and output of the bot.

    Where others play the same deals, nothing is given out before the season is over. Raises `BadInput` if the author
    has no such bot, or it has played nothing.
    """
    folder = ledger.results / config.name
    out = io.BytesIO()
    with (
        _own_store(ledger, config, author, bot) as (store, digests),
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        count = 0
        for match, own in _own_matches(store, bot, digests, MAX_MATCHES):
            count += 1
            archive.writestr(f"{match}.jsonl", store.record(match))
            for seat in own:
                for kind in KINDS:
                    with suppress(OSError):
                        text = log_file(folder / "logs", bot, match, seat, kind).read_bytes()
                        archive.writestr(f"{match}-{seat}.{kind}.txt", text)
        if not count:
            raise BadInput(f"{bot} has not played a match in {config.name} yet")
    return out.getvalue()


def own_log(
    ledger: Ledger, config: LeagueConfig, author: Author, bot: str, match: str, seat: int | None, kind: str
) -> bytes:
    """The output of an author's bot in a match, or its messages (`kind`, of `KINDS`): in `seat`, or its first one.

    Raises `BadInput` if the match is none of a version of this author's, or nothing of it is stored.
    """
    with _own_store(ledger, config, author, bot) as (store, digests):
        stored = dict(_own_matches(store, bot, digests, _MAX_LOOKED)).get(match)
    if stored is None:
        raise BadInput(f"{bot} has played no match {match} in {config.name}")
    if seat is not None and seat not in stored:
        raise BadInput(f"seat: {bot} had seat {', '.join(map(str, stored))} in this match")
    file = log_file(
        ledger.results / config.name / "logs", bot, match, stored[0] if seat is None else seat, kind
    )
    try:
        return file.read_bytes()
    except OSError:
        raise BadInput(f"the output of {bot} in match {match} is no longer stored") from None


@contextmanager
def _own_store(
    ledger: Ledger, config: LeagueConfig, author: Author, bot: str
) -> Iterator[tuple[Store, frozenset[str]]]:
    """The store of a league, and the contents of an author's versions of a bot.

    Raises `BadInput` if they are hidden.
    """
    versions_of = versions.versions_in(ledger, config.name, author.name)
    digests = frozenset(one.digest for one in versions_of if one.bot == bot)
    if not digests:
        raise BadInput(f"you have no bot called {bot!r} in {config.name}")
    with Store.open_to_read(ledger.results / config.name) as store:
        season = Season.of(with_dice(config, store.dice()), store.bots() or (), b"")
        if season.deals_come_to_others and store.published() is None:
            raise BadInput(
                f"{config.name}: others play the same deals, so records wait until the season is over"
            )
        yield store, digests


def _own_matches(
    store: Store, bot: str, digests: frozenset[str], most: int
) -> Iterator[tuple[str, list[int]]]:
    """The last matches of a bot in which one of these versions played, the newest first, each with its seats."""
    for match, seats in store.matches_of(bot, most):
        own = [seat for seat, (name, identity) in enumerate(seats) if name == bot and identity in digests]
        if own:
            yield match, own
