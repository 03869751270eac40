"""The feed of one league: its page, the matches being played, the last results, and messages about changes."""

from __future__ import annotations

import contextlib
import time
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import attrs
import msgspec
import trio

from warpleague.arena import live
from warpleague.arena.live import ENDED_S, Broadcast, LiveFolder, LiveMatch
from warpleague.arena.processes import log, log_error
from warpleague.arena.web.renderer import PAGES_FOLDER as PAGES
from warpleague.arena.web.renderer import (
    LeagueFiles,
    LeaguePage,
    PageCache,
    Renderer,
    league_page,
    what_is_missing,
)
from warpleague.errors import RecordError, StoreError
from warpleague.games import load_game
from warpleague.league.store.store import Store
from warpleague.report.wording.match_words import ending, labels, number, one_line
from warpleague.runner.host import usable_cores

if TYPE_CHECKING:
    from starlette.requests import Request

    from warpleague.games.api import JsonObject
    from warpleague.league.season.fixture import LatestMatch


# -- streams of events, each piece compressed once for all clients ---------------------------------------
# A stream is one gzip file (RFC 1952) without an end. A piece does not refer to the pieces before it (a full
# flush, RFC 1951), so the same bytes fit clients that have just come and clients that came long ago.


BEGIN: Final = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""The head of the gzip file, before the first piece."""
HEADERS: Final = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}


@attrs.frozen
class Piece:
    """A piece of a stream, plain and compressed."""

    plain: bytes
    gzipped: bytes

    @classmethod
    def of(cls, plain: bytes) -> Piece:
        """Compress a piece: 30 KB of tables take half a millisecond and shrink to a sixth."""
        compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return cls(plain, compressor.compress(plain) + compressor.flush(zlib.Z_FULL_FLUSH))

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.plain + other.plain, self.gzipped + other.gzipped)


def accepts_gzip(request: Request) -> bool:
    """Whether the client accepts gzip, as all browsers do."""
    accepted = request.headers.get("accept-encoding", "").lower().split(",")
    return any(part.replace(" ", "") in ("gzip", "gzip;q=1.0") for part in accepted)


# -- league feed -----------------------------------------------------------------------------------------


_POLL_S: Final = 0.25
_LOOK_S: Final = 2.0
"""How often a league without a page is asked what it waits for."""
_LATEST: Final = 8
_LISTED: Final = 24
_RECENT: Final = 200
"""The newest stored matches among which one is searched that can be shown."""
_MAX_CPU_SHARE: Final = 0.005 * len(usable_cores())
"""The share of one processor's time for making the page of a league again, and the same share for sending changes."""
WATCHER_S: Final = 0.0005 / _MAX_CPU_SHARE
"""Seconds by which each watcher lengthens the pause between messages: to send one takes half a millisecond."""
_BATCH: Final = 10
"""So many watchers get a message at the same time."""

_encode = msgspec.json.Encoder().encode


def _places(names: list[str], match: LatestMatch) -> list[JsonObject]:
    """The bots of a match, the first one first, each with its rank and its score as they are written."""
    order = sorted(range(len(names)), key=match.ranks.__getitem__)
    return [
        {"bot": names[seat], "rank": match.ranks[seat], "score": number(match.scores[seat])} for seat in order
    ]


class LeagueFeed:
    """The page and the messages of one league."""

    def __init__(
        self,
        name: str,
        files: LeagueFiles,
        renderer: Renderer,
        *,
        delay_s: float,
        pages_mb: int,
        watcher_s: float = WATCHER_S,
        freeze_at_s: float | None = None,
    ) -> None:
        self._freeze_at_s = freeze_at_s
        self._watcher_s = watcher_s
        self.name, self.files = name, files
        self.page: LeaguePage | None = None
        self.news = Broadcast()
        """Counts the times at which watchers get a message."""
        self._changes = Broadcast()
        self.watchers = 0
        self.delay_s = delay_s
        folder = files.results / name
        self.live = LiveFolder(folder / live.FOLDER, delay_s)
        self.pages = PageCache(files, folder / PAGES, renderer, pages_mb * 1_000_000)
        self.changed_s = 0.0
        """When the last change of the store was seen, in seconds since 1970."""
        self._folder = folder
        self.renderer = renderer
        self._store: tuple[int, Store] | None = None
        self._seen = -1
        self._latest: list[JsonObject] = []
        self._missing = ""  # what a league waits for that has no page yet
        self.stale = True
        """Whether something has changed since the page was made."""
        self.not_read = self.not_made = ""
        """Why the league cannot be read now, and why its page could not be made; empty if all is well."""
        self._sections: dict[str, tuple[int, str]] = {}
        # Numbers continue after a restart, so that a page that was loaded before it gets newer sections.
        self._version = int(time.time() * 1000)
        self._messages: dict[int, Piece] = {}
        self._matches: Piece | None = None

    async def run(self, server: JsonObject) -> None:
        """Follow the league until this is cancelled; `server` is for the page's navigation."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.render_pages, server)
            nursery.start_soon(self._notify_watchers)
            try:
                while True:
                    await self._refresh()
                    await trio.sleep(_POLL_S)
            finally:
                self.live.close()
                self._close()

    async def _refresh(self) -> None:
        try:
            changed = self.live.refresh(time.time())
            for match in list(self.live.matches.values()):
                if match.watchers:
                    await self._execute(match)
            changed |= self._refresh_from_store()
            if self.page is not None and self.page.frozen != self.frozen:
                self.stale = True  # the time to freeze has come, and perhaps no match is stored any more
        except (OSError, StoreError) as error:
            self.not_read = str(error)
            log("league not read", league=self.name, why=self.not_read)
            self._close()
            await trio.sleep(5.0)
            return
        self.not_read = ""
        if changed:
            self.notify()

    async def _execute(self, match: LiveMatch) -> None:
        """Execute the new lines of a match; an error in one match does not affect the others."""
        try:
            await match.execute()
        except Exception as error:  # noqa: BLE001 - a fault of one game
            log_error("match not shown", error, league=self.name, match=match.id)
            match.give_up()

    def latest(self) -> list[JsonObject]:
        """The matches stored last that may be seen, the newest first."""
        if self.page is None or not self.shows_matches:
            return []
        game = load_game(self.page.game)
        return [{**match, "why": ending(game, match["why"])} for match in self._latest]

    def playing(self) -> list[LiveMatch]:
        """The matches being played that may be watched."""
        return self.live.playing() if self.shows_matches else []

    @property
    def sentence(self) -> str:
        """How the league stands, in a sentence."""
        if self.page is not None:
            return self.page.sentence
        if self._latest:
            return "The tables of this league are being made."
        return f"No match has been played yet. {self._missing}".strip()

    @property
    def version(self) -> int:
        """The number of the league's page, higher with each new one."""
        return self._version

    @property
    def shows_matches(self) -> bool:
        """Whether matches may be seen that are played now, or were just played."""
        page = self.page
        return page is not None and page.open_matches and not self.frozen

    @property
    def frozen(self) -> bool:
        """Whether everybody sees the league as it was at a time, since that has come and the season is not over."""
        page, at_s = self.page, self._freeze_at_s
        return at_s is not None and time.time() >= at_s and not (page is not None and page.published)

    def match_of(self, bot: str, after: str) -> LiveMatch | None:
        """As `LiveFolder.match_of`; a match that was over too soon to be followed is shown from its record."""
        running = self.live.match_of(bot, after)
        if running is not None or self._store is None:
            return running
        store, now_s, at_s = self._store[1], time.time(), 0.0
        watched = self.live.matches.get(after)
        for match in reversed(store.latest(_RECENT)):
            # Of those stored within one second the first one comes first.
            at_s = max(match.stored_s, at_s + 0.001)
            if bot not in match.bots or not now_s - ENDED_S < match.stored_s + self.delay_s <= now_s:
                continue
            if match.id in self.live.matches or (watched is not None and at_s <= watched.began_s):
                continue
            with contextlib.suppress(StoreError, RecordError):
                self.live.add(LiveMatch.of_record(match.id, store.record(match.id), at_s, now_s))
                return self.live.match_of(bot, after)
        return None

    def _refresh_from_store(self) -> bool:
        """Whether the list of last results has changed; the store is opened again if another file replaced it."""
        path = self._folder / "league.sqlite"
        try:
            inode = path.stat().st_ino
        except OSError:
            return False
        if self._store is not None and self._store[0] != inode:
            self._close()
        if self._store is None:
            self._store = inode, Store.open_to_read(self._folder)
        store = self._store[1]
        version = store.version()
        if version == self._seen:
            return False
        self._seen, self.stale, self.changed_s = version, True, time.time()
        latest = []
        for match in store.latest(_LATEST):
            names = labels([one_line(bot) for bot in match.bots])
            latest.append(
                {
                    "id": match.id,
                    "bots": names,
                    "ranks": match.ranks,
                    "places": _places(names, match),
                    "why": match.why,
                    "took_s": round(match.elapsed_s, 1),
                    "stored_s": match.stored_s,
                    "stored": datetime.fromtimestamp(match.stored_s, UTC).isoformat(timespec="seconds"),
                }
            )
        before, self._latest = self._latest, latest
        return latest != before

    def _close(self) -> None:
        if self._store is not None:
            with contextlib.suppress(StoreError):
                self._store[1].close()
        self._store, self._seen = None, -1

    async def render_pages(self, server: JsonObject) -> None:
        """Make the page again as often as its cost allows."""
        look_s = 0.0
        while True:
            if self.page is None and trio.current_time() >= look_s:
                look_s = trio.current_time() + _LOOK_S
                try:
                    self._missing = await self.renderer.make(what_is_missing, self.files, ahead=True)
                except Exception as error:  # noqa: BLE001 - such as a file that is being written
                    log_error("bots not read", error, league=self.name)
            if not self.stale:
                await trio.sleep(_POLL_S)
                continue
            self.stale = False
            version = max(int(time.time() * 1000), self._version + 1)
            took_s = 0.0  # where nothing has been played yet, the page comes soon after the first match
            try:
                ahead = self.page is not None  # visitors wait for the first one
                pages = await self.renderer.make(league_page, self.files, server, version, ahead=ahead)
            except Exception as error:  # noqa: BLE001 - the other pages are there
                log_error("page not made", error, league=self.name)
                self.stale, self.not_made = True, str(error) or type(error).__name__
                await trio.sleep(5.0)
                continue
            self.not_made = ""
            if pages is not None:
                took_s = pages.cpu_s
                self._set_page(pages, version)
            await trio.sleep(max(1.0, took_s / _MAX_CPU_SHARE, self.watchers * self._watcher_s))

    def _set_page(self, page: LeaguePage, version: int) -> None:
        self.page, self._version = page, version
        self._messages.clear()
        for name, text in page.sections.items():
            if self._sections.get(name, (0, ""))[1] != text:
                self._sections[name] = version, text
        self.notify()

    def notify(self) -> None:
        """Something that the page shows has changed."""
        self._matches = None
        self._changes.notify()

    async def _notify_watchers(self) -> None:
        """Notify those who see the page, as often as the number of watchers allows."""
        seen = 0
        while True:
            seen = await self._changes.after(seen)
            self.news.notify()
            await trio.sleep(max(0.5, self.watchers * self._watcher_s))

    def wait_s(self, place: int) -> float:
        """How long after a change the watcher who came as number `place` gets the message, in seconds.

        They get it in small groups: one by one would cost more while bots compute, and all at once would let requests
        for other pages wait.
        """
        return place % max(self.watchers, 1) // _BATCH * _BATCH * self._watcher_s

    def message(self, since: int) -> tuple[int, Piece]:
        """The message for a page that shows the sections of version `since`, and the version that it shows then.

        The sections are large and change seldom, the list of matches is small and changes often: each is encoded once.
        """
        sections = self._messages.get(since)
        if sections is None:
            newer = {name: text for name, (version, text) in self._sections.items() if version > since}
            page = {} if self.page is None else {"played": self.page.sentence}
            sections = Piece.of(b"data: " + _encode({"sections": newer, **page})[:-1])
            if len(self._messages) < 8:  # pages that are open for long are all at one version
                self._messages[since] = sections
        if self._matches is None:
            playing = self.playing()
            matches: JsonObject = {
                "playing": [match.to_json() for match in playing[:_LISTED]],
                "more": max(0, len(playing) - _LISTED),
                "latest": self.latest(),
            }
            self._matches = Piece.of(b"," + _encode(matches)[1:] + b"\n\n")
        return self._version, sections + self._matches
