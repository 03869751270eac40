"""The parts of their own bots' matches that authors may have: the records and the bot's output."""

from __future__ import annotations

import io
import zipfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from warpleague.arena.submissions import versions
from warpleague.errors import BadInput
from warpleague.league.season.config import LeagueConfig, with_dice
from warpleague.league.season.season import Season
from warpleague.league.store.store import Store
from warpleague.runner.bot.logs import KINDS, log_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.arena.submissions.tokens import Author

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
) -> Iterator[tuple[Store, frozenset[str | None]]]:
    """The store of a league, and the contents of an author's versions of a bot.

    Raises `BadInput` if they are hidden.
    """
    digests = frozenset(
        one.digest
        for one in versions.submissions(ledger, author.name, most=100_000)
        if one.league == config.name and one.bot == bot and one.state == "accepted"
    )
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
    store: Store, bot: str, digests: frozenset[str | None], most: int
) -> Iterator[tuple[str, list[int]]]:
    """The last matches of a bot in which one of these versions played, the newest first, each with its seats."""
    for match, seats in store.matches_of(bot, most):
        own = [seat for seat, (name, identity) in enumerate(seats) if name == bot and identity in digests]
        if own:
            yield match, own
