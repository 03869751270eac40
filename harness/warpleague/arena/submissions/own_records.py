"""Downloads for authors: the records of their own bot's matches, and the output of the bot in them."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from warpleague.arena.submissions import versions
from warpleague.errors import BadInput
from warpleague.league.store.store import Store
from warpleague.runner.bot.logs import KINDS, log_file

if TYPE_CHECKING:
    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.arena.submissions.tokens import Author
    from warpleague.league.season.config import LeagueConfig

MAX_MATCHES: Final = 100
"""At most so many matches, the last ones."""


def own_records(ledger: Ledger, config: LeagueConfig, author: Author, bot: str) -> bytes:
    """A zip file with the last matches of a bot's versions: each record, and the messages and output of the bot.

    At tables of one all bots play the same deals, so nothing is given out before the season is over. Raises `BadInput`
    if the author has no such bot, or it has played nothing.
    """
    digests = {
        one.digest
        for one in versions.submissions(ledger, author.name, most=100_000)
        if one.league == config.name and one.bot == bot and one.state == "accepted"
    }
    if not digests:
        raise BadInput(f"you have no bot called {bot!r} in {config.name}")
    folder = ledger.results / config.name
    out = io.BytesIO()
    with (
        Store.open_to_read(folder) as store,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        if config.game.players == 1 and store.published() is None:
            raise BadInput(
                f"{config.name}: all bots play the same deals here, so records wait until the season is over"
            )
        found = 0
        for match, seats in store.matches_of(bot, MAX_MATCHES):
            own = [seat for seat, (name, identity) in enumerate(seats) if name == bot and identity in digests]
            if not own:
                continue
            found += 1
            archive.writestr(f"{match}.jsonl", store.record(match))
            for seat in own:
                for kind in KINDS:
                    with suppress(OSError):
                        text = log_file(folder / "logs", bot, match, seat, kind).read_bytes()
                        archive.writestr(f"{match}-{seat}.{kind}.txt", text)
        if not found:
            raise BadInput(f"{bot} has not played a match in {config.name} yet")
    return out.getvalue()
