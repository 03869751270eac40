"""The home page of a server: the matches being played, the last results, and how the leagues stand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import msgspec
import trio

from warpleague.arena.web.gzip_stream import Piece
from warpleague.arena.web.league_feed import WATCHER_S, LeagueFeed
from warpleague.games import load_game
from warpleague.report.site.match_page import compressed_json
from warpleague.report.site.page_frame import render, served

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from warpleague.games.api import JsonObject
    from warpleague.league.season.config import LeagueConfig

_PLAYING: Final = 8
"""Matches being played that the page lists."""
_LATEST: Final = 8
"""Results that the page lists."""
_BOTS: Final = 5
"""Bots of each league that the page lists, from the first on."""
_PAUSE_S: Final = 1.0
"""The page is made again at most so often, and less often if many people watch it."""
_SECTIONS: Final = ("playing", "latest", "leagues")
_KEEP_ALIVE: Final = Piece.of(b": still here\n\n")


class Home:
    """The home page and its changes; all who see it get the same."""

    def __init__(self, feeds: Iterable[LeagueFeed], configs: Mapping[str, LeagueConfig]) -> None:
        self._feeds = list(feeds)
        self._configs = configs
        self._watchers = 0
        self._message: tuple[float, Piece] | None = None

    def page(self, server: JsonObject) -> bytes:
        """The whole page; `server` is for its navigation."""
        picture, pick = self._picture()
        return render(
            "server_home.html.j2",
            frame=served("home", "/"),
            stamp="",
            server=server,
            block=compressed_json({"picture": picture}),
            shown=pick,
            **self._values(),
        )

    def _values(self) -> dict[str, Any]:
        """The values of the sections that change."""
        playing = [
            {"league": feed.name, **match.to_json()} for feed in self._feeds for match in feed.playing()
        ]
        playing.sort(key=lambda match: match["began"])
        latest = [{"league": feed.name, **match} for feed in self._feeds for match in feed.latest()]
        latest.sort(key=lambda match: match["stored_s"], reverse=True)
        return {
            "playing": playing[:_PLAYING],
            "more": max(0, len(playing) - _PLAYING),
            "latest": latest[:_LATEST],
            "leagues": [
                {
                    "name": feed.name,
                    "game": self._configs[feed.name].game.id,
                    "title": load_game(self._configs[feed.name].game.id).title,
                    "sentence": feed.sentence,
                    "notice": feed.page.notice if feed.page else "",
                    "bots": feed.page.bots[:_BOTS] if feed.page else (),
                    "count": len(feed.page.bots) if feed.page else 0,
                }
                for feed in self._feeds
            ],
        }

    def _picture(self) -> tuple[JsonObject | None, JsonObject | None]:
        """The board of a match of the league that changed last, and its caption. Both are None without a match."""
        for feed in sorted(self._feeds, key=lambda feed: -feed.changed_s):
            page = feed.page
            if page is not None and page.picture is not None and page.pick is not None:
                return page.picture, {
                    "league": feed.name,
                    "title": page.pick.title,
                    "text": page.pick.text,
                    "match": page.pick.match,
                    "number": page.pick.number,
                }
        return None, None

    def _piece(self) -> Piece:
        """The message with the sections as they are, made at most once in a while."""
        now_s = time.monotonic()
        if self._message is None or now_s - self._message[0] >= self._pause_s():
            values = self._values()
            sections = {name: render(f"home_{name}.html.j2", **values).decode() for name in _SECTIONS}
            text = b"data: " + msgspec.json.encode({"sections": sections}) + b"\n\n"
            last = self._message
            same = last is not None and last[1].plain == text
            self._message = now_s, last[1] if same and last is not None else Piece.of(text)
        return self._message[1]

    def _pause_s(self) -> float:
        return max(_PAUSE_S, self._watchers * WATCHER_S)

    async def news(self, most_s: float, quiet_s: float) -> AsyncGenerator[Piece, None]:
        """The changes of the page for one spectator, for at most `most_s`; a comment after `quiet_s` without any."""
        end_s = trio.current_time() + most_s
        self._watchers += 1
        sent: Piece | None = None
        sent_s = 0.0
        try:
            while trio.current_time() < end_s:
                piece = self._piece()
                if piece is not sent:
                    sent, sent_s = piece, trio.current_time()
                    yield piece
                elif trio.current_time() - sent_s >= quiet_s:
                    sent_s = trio.current_time()
                    yield _KEEP_ALIVE
                await trio.sleep(self._pause_s())
        finally:
            self._watchers -= 1
