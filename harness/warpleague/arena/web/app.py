"""The application: its addresses, and the pages and streams behind them."""

from __future__ import annotations

import re
import shutil
import time
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

import msgspec
import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Match, Route

from warpleague import __version__
from warpleague.arena.live import LiveMatch, new_frames
from warpleague.arena.submissions.conditions import conditions_of, facts
from warpleague.arena.submissions.ledger import WORDS
from warpleague.arena.submissions.requests import Refused, RequestHandler, in_thread
from warpleague.arena.web.league_feed import BEGIN, HEADERS, WATCHER_S, LeagueFeed, Piece, accepts_gzip
from warpleague.arena.web.making import PATIENCE_S, Making
from warpleague.arena.web.middleware import error_answer
from warpleague.arena.web.renderer import MAX_WAITING, Busy, LeaguePage, bot_page, stored_match
from warpleague.games import GAMES, load_game
from warpleague.report.site.match_page import compressed_json
from warpleague.report.site.page_frame import prepare, render, served, shared, text_of
from warpleague.report.wording.brief import brief_text, llms_text
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Iterable,
        Mapping,
        Sequence,
    )
    from pathlib import Path

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from warpleague.games.api import JsonObject
    from warpleague.games.scene import Scene
    from warpleague.league.season.config import LeagueConfig


# -- the home page: the matches being played, the last results, and how the leagues stand ----------------


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
            frame=served("home", server["root"]),
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


# -- the application -------------------------------------------------------------------------------------


_ID: Final = re.compile(r"[0-9a-f]{20}")
_QUIET_S: Final = 15.0
"""After so long without news a line is sent, so that no proxy closes the connection as dead."""
_MAX_STREAM_S: Final = 3600.0
"""How long a stream of news lasts; then the page asks again."""
_MIN_FREE_BYTES: Final = 100_000_000
"""Bytes that must be free on the disk for the server to call itself healthy."""
_KINDS: Final = ("home", "league", "watch", "server", "match", "bot")

_MAX_BOT_PAGES: Final = 200
"""Pages of bots in memory."""

_encode = msgspec.json.Encoder().encode


T = TypeVar("T")


class App:
    """All leagues of a server, for everybody."""

    def __init__(
        self,
        feeds: Sequence[LeagueFeed],
        configs: Mapping[str, LeagueConfig],
        results: Path,
        *,
        title: str = "Warp League",
        submits: bool = False,
        root: str = "/",
    ) -> None:
        self.feeds = {feed.name: feed for feed in feeds}
        self.leagues = configs
        self.results = results
        self.title = title
        self.submits = submits
        self.root = root
        """The path under which visitors see the server: that of the home page."""
        self.began_s = time.time()
        self.health: Callable[[], JsonObject] = dict
        """Returns more values for the health page: the processes that the server has started."""
        self._assets = shared(_KINDS)
        self._home_page = Home(feeds, configs)
        self._bot_pages: dict[tuple[str, str], tuple[LeaguePage | None, bytes]] = {}
        self._making = Making()

    def prepare(self) -> None:
        """Load templates and texts now, so that the first requests need not wait for them."""
        prepare("home", "server", "watch", "submi", "organise")
        for config in self.leagues.values():
            self._text_of(config.game.id)

    def words(self) -> JsonObject:
        """The values that the navigation of each page needs."""
        return {"root": self.root, "title": self.title, "leagues": list(self.feeds), "submits": self.submits}

    def render_again(self, league: str) -> None:
        """Make the page of a league again soon, though no match was stored."""
        self.feeds[league].stale = True

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of the server: `template` extends `server.html.j2`."""
        frame = served("server", self.root, "self")
        text = render(template, frame=frame, stamp="", server=self.words(), **values)
        return HTMLResponse(text, status)

    def app(self, more: Sequence[BaseRoute] = ()) -> Starlette:
        """The application; `more` are additional routes."""
        league = "/l/{league}"
        return Starlette(
            routes=[
                Route("/", self._home),
                Route("/news", self._home_news),
                Route("/health", self._health),
                Route("/assets/{name}", self._asset),
                Route("/bots", self._bots),
                Route("/authors", self._authors),
                Route("/docs/", self._texts),
                Route("/docs/{name}", self._text),
                Route("/rules/{name}", self._text),
                Route("/llms.txt", self._llms),
                Route("/brief/{game}.md", self._brief),
                Route(league, _with_slash),
                Route(league + "/", self._league),
                Route(league + "/index.html", self._league),
                Route(league + "/news", self._news),
                Route(league + "/assets/{name}", self._asset),
                Route(league + "/live", self._league),
                Route(league + "/live/{match}", self._watch),
                Route(league + "/live/{match}/news", self._watch_news),
                Route(league + "/matches/order.js", self._order),
                Route(league + "/matches/{match}.html", self._match),
                Route(league + "/matches/{match}.js", self._match_script),
                Route(league + "/bots/{bot}", self._bot),
                Route(league + "/bots/{bot}/live", self._watch_bot),
                *more,
            ],
            exception_handlers={HTTPException: self._wrong},
        )

    async def _wrong(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        if error.status_code == 405:  # of the routes with this path the framework names the first alone
            found = [route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE]
            headers["Allow"] = ", ".join(sorted(set().union(*(route.methods for route in found))))
        titles = {404: "There is no such page", 405: "This page does not take this method"}
        title = titles.get(error.status_code, "That did not work")
        if request.url.path.startswith("/api/"):
            text = titles.get(error.status_code, str(error.detail))
            return error_answer(request.url.path, text, error.status_code, headers)
        answer = self._notice(title, str(error.detail), error.status_code)
        answer.headers.update(headers)
        return answer

    def _notice(self, title: str, text: str, status: int, *, again: bool = False) -> Response:
        answer = self.page("server_notice.html.j2", status, title=title, text=text, again=again)
        if again:
            answer.headers["Refresh"] = "1"
        return answer

    async def soon(self, title: str, key: tuple[str, ...], make: Callable[[], Awaitable[T]]) -> T | Response:
        """What `make` returns; if that takes long, a page that says so, while it is made on."""
        try:
            with trio.move_on_after(PATIENCE_S):
                return await self._making.result(key, make)
        except Busy:
            return self._notice(
                title, "Too many pages are wanted. This one will be made soon.", 503, again=True
            )
        since = f"It has been made for {self._making.age_s(key):.0f} s"
        others = self.feeds[key[1]].renderer.waiting - 1
        text = (
            f"{since}, and visitors wait for {counted(others, 'other page')}." if others > 0 else f"{since}."
        )
        return self._notice(title, text, 202, again=True)

    def _feed(self, request: Request) -> LeagueFeed:
        feed = self.feeds.get(request.path_params["league"])
        if feed is None:
            raise HTTPException(404, "No league of this server has that name.")
        return feed

    # ------------------------------------------------------------------ all leagues

    async def _home(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        return HTMLResponse(self._home_page.page(self.words()))

    async def _home_news(self, request: Request) -> Response:
        gzipped = accepts_gzip(request)
        stream = _sent(self._home_page.news(_MAX_STREAM_S, _QUIET_S), gzipped=gzipped)
        return _events(request, stream, gzipped=gzipped)

    async def _health(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        free = shutil.disk_usage(self.results).free
        more = self.health()
        shown = all(not (feed.not_read or feed.not_made) for feed in self.feeds.values())
        well = free >= _MIN_FREE_BYTES and shown and bool(more.pop("well", True))
        health = {
            "status": "ok" if well else "failing",
            "version": __version__,
            "up_s": round(time.time() - self.began_s),
            "disk_free_bytes": free,
            "leagues": {
                feed.name: {
                    "played": feed.page.played if feed.page else 0,
                    "complete": bool(feed.page and feed.page.complete),
                    "changed_s_ago": round(time.time() - feed.changed_s, 1) if feed.changed_s else None,
                    "playing": len(feed.playing()),
                    "watchers": feed.watchers,
                    "why_not_shown": feed.not_read or feed.not_made or None,
                }
                for feed in self.feeds.values()
            },
            **more,
        }
        return JSONResponse(health, 200 if well else 503)

    async def _asset(self, request: Request) -> Response:
        """A style sheet or a script: named by its content, so it never changes."""
        name = request.path_params["name"]
        data = self._assets.get(name)
        feed = self.feeds.get(request.path_params.get("league", ""))
        if data is None and feed is not None and feed.page is not None:
            data = feed.page.parts.get(name)
        if data is None:
            raise HTTPException(404, "There is no such file.")
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Response(
            data, media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"}
        )

    async def _bots(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        leagues = [
            {"name": feed.name, "bots": feed.page.bots if feed.page else ()} for feed in self.feeds.values()
        ]
        return self.page("server_bots.html.j2", title="Bots", leagues=leagues)

    async def _authors(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        bots_of: dict[str, list[JsonObject]] = {}
        for feed in self.feeds.values():
            for bot in feed.page.bots if feed.page else ():
                for author in filter(None, (name.strip() for name in str(bot["authors"]).split(","))):
                    bots_of.setdefault(author, []).append({"league": feed.name, "bot": bot["bot"]})
        authors = [{"name": name, "bots": bots_of[name]} for name in sorted(bots_of, key=str.casefold)]
        return self.page("server_authors.html.j2", authors=authors)

    async def _texts(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        return await self._shown_text("index")

    async def _text(self, request: Request) -> Response:
        return await self._shown_text(request.path_params["name"])

    async def _shown_text(self, name: str) -> Response:
        text = await trio.to_thread.run_sync(self._text_of, name)  # long pages take some time the first time
        if text is None:
            raise HTTPException(404, "No page of the documentation has that name.")
        return self.page("server_text.html.j2", title=text[0], text=text[1], brief=name in GAMES and name)

    def _text_of(self, name: str) -> tuple[str, Markup] | None:
        return text_of(name, f"{self.root}docs/")

    async def _llms(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        return PlainTextResponse(llms_text())

    async def _brief(self, request: Request) -> Response:
        game = request.path_params["game"]
        if game not in GAMES:
            raise HTTPException(404, "There is no brief of a game with this name.")
        text = await trio.to_thread.run_sync(brief_text, game)
        return Response(text, media_type="text/markdown")

    # ------------------------------------------------------------------ one league

    async def _league(self, request: Request) -> Response:
        feed = self._feed(request)
        if feed.page is None:
            return self._notice(feed.name, feed.sentence, 200, again=True)
        return HTMLResponse(feed.page.page)

    async def _news(self, request: Request) -> Response:
        try:
            since = int(request.query_params.get("v", "0"))
        except ValueError:
            raise HTTPException(400, "v is a number") from None
        gzipped = accepts_gzip(request)
        stream = _sent(self._league_news(self._feed(request), since), gzipped=gzipped)
        return _events(request, stream, gzipped=gzipped)

    @staticmethod
    async def _league_news(feed: LeagueFeed, since: int) -> AsyncGenerator[Piece, None]:
        end_s = trio.current_time() + _MAX_STREAM_S
        place = feed.watchers
        feed.watchers += 1
        try:
            while trio.current_time() < end_s:
                count = feed.news.count
                since, message = feed.message(since)
                yield message
                while not await feed.news.comes_within(_QUIET_S, count):
                    yield _KEEP_ALIVE
                await trio.sleep(feed.wait_s(place))
        finally:
            feed.watchers -= 1

    async def _order(self, request: Request) -> Response:
        page = self._feed(request).page
        return Response(page.order if page else b"", media_type="text/javascript")

    async def _match(self, request: Request) -> Response:
        feed, match = self._feed(request), request.path_params["match"]
        content: bytes | str | Response | None = None
        if await self._may_show(feed, match):
            make = partial(self._replay, feed, match, ".html")
            content = await self.soon("The replay is being made", ("match", feed.name, match), make)
        if isinstance(content, Response):
            return content
        if content is None:
            live = feed.live.matches.get(match)
            if live is not None and live.shown and feed.shows_matches:
                return self._notice("Not yet", "The match is not stored yet.", 404, again=True)
            raise HTTPException(404, "No match that may be seen has that id.")
        if isinstance(content, str):
            return self._notice(
                "There is no replay", f"The record of this match does not hold: {content}", 500
            )
        return HTMLResponse(content)

    @staticmethod
    async def _replay(feed: LeagueFeed, match: str, suffix: str) -> bytes | str | None:
        page = feed.page
        assert page is not None
        return await feed.pages.page(match, page.game, published=page.published, suffix=suffix)

    async def _may_show(self, feed: LeagueFeed, match: str) -> bool:
        """Whether there may be a page of a match; where the league is frozen, only of those that its copy has."""
        if not _ID.fullmatch(match) or feed.page is None:
            return False
        if not feed.frozen:
            return True
        return (
            await trio.to_thread.run_sync(stored_match, self.leagues[feed.name], self.results, match)
            is not None
        )

    async def _match_script(self, request: Request) -> Response:
        """The script of a match's page that it loads only on demand: the view of each seat, and the record."""
        feed, match = self._feed(request), request.path_params["match"]
        content: bytes | str | None = None
        if await self._may_show(feed, match):
            make = partial(self._replay, feed, match, ".js")
            try:
                content = await self._making.result(("script", feed.name, match), make)
            except Busy:
                return Response(status_code=503)
        if not isinstance(content, bytes):
            raise HTTPException(404, "No match that may be seen has that id.")
        return Response(content, media_type="text/javascript")

    async def _bot(self, request: Request) -> Response:
        feed = self._feed(request)
        page, bot = feed.page, request.path_params["bot"]
        if page is None or all(one["bot"] != bot for one in page.bots):
            raise HTTPException(404, "No bot of this league has that name.")
        made_for, content = self._bot_pages.get((feed.name, bot), (None, b""))
        if made_for is page:
            return HTMLResponse(content)
        make = partial(self._make_bot, feed, bot)
        made = await self.soon("The page of this bot is being made", ("bot", feed.name, bot), make)
        if made is None:
            raise HTTPException(404, "There is nothing to be seen of this bot.")
        return HTMLResponse(made) if isinstance(made, bytes) else made

    async def _make_bot(self, feed: LeagueFeed, bot: str) -> bytes | None:
        if feed.renderer.waiting >= MAX_WAITING:
            raise Busy
        page = feed.page
        content = await feed.renderer.make(bot_page, feed.files, bot, self.words(), feed.version)
        if content is not None:
            if len(self._bot_pages) >= _MAX_BOT_PAGES:
                self._bot_pages.clear()
            self._bot_pages[feed.name, bot] = page, content
        return content

    async def _watch_bot(self, request: Request) -> Response:
        """Redirect to a match of a bot that can be watched. If there is none, wait for one."""
        feed, bot = self._feed(request), request.path_params["bot"]
        after = request.query_params.get("after", "")
        if feed.page is not None and not feed.shows_matches:
            raise HTTPException(404, "The matches of this league may be seen when the season is over.")
        match = feed.match_of(bot, after) if feed.page is not None else None
        if match is not None:
            return RedirectResponse(f"../../live/{match.id}?bot={quote(bot)}", 303)
        known = any(one["bot"] == bot for one in feed.page.bots) if feed.page else False
        # A bot that was submitted a moment ago may be unknown here: the page asks again all the same.
        answer = self.page(
            "server_wait.html.j2", 200 if known else 404, league=feed.name, bot=bot, known=known
        )
        answer.headers["Refresh"] = "1" if known else "2"
        return answer

    # ------------------------------------------------------------------ a match being played

    def _live(self, request: Request) -> tuple[LeagueFeed, LiveMatch]:
        feed = self._feed(request)
        match = feed.live.matches.get(request.path_params["match"])
        if match is None or not match.shown or not feed.shows_matches:
            raise HTTPException(404, "No match with that id is being played that may be watched.")
        return feed, match

    async def _watch(self, request: Request) -> Response:
        feed = self._feed(request)
        match = feed.live.matches.get(request.path_params["match"])
        bot = request.query_params.get("bot", "")
        # Who watches a bot sees a match that has just ended from its beginning.
        late = match is not None and match.over and not match.has(bot)
        if (match is None or late) and _ID.fullmatch(request.path_params["match"]):
            return RedirectResponse(f"../matches/{request.path_params['match']}.html", 303)
        feed, match = self._live(request)
        text = render(
            "watch.html.j2",
            frame=served("watch", self.root),
            stamp="",
            server=self.words(),
            league=feed.name,
            match=match.id,
            names=match.names,
            over=match.over,
            title=load_game(self.leagues[feed.name].game.id).title,
            delay_s=f"{feed.delay_s:g}" if feed.delay_s else "",
            bot=bot if match.has(bot) else "",
        )
        return HTMLResponse(text)

    async def _watch_news(self, request: Request) -> Response:
        match_id = request.path_params["match"]
        if match_id not in self._feed(request).live.matches and _ID.fullmatch(match_id):
            return _events(request, _gone())
        return _events(request, self._moves(*self._live(request)))

    @staticmethod
    async def _moves(feed: LeagueFeed, match: LiveMatch) -> AsyncIterator[bytes]:
        """The frames of a match as spectators may see them, and at its end who has won."""
        sent = 0
        shown: Scene | None = None
        feed.watchers += 1
        match.watchers += 1
        try:
            await match.execute()
            while feed.shows_matches:
                count, over = match.news.count, match.over
                if over:
                    await match.execute()  # to its last line
                frames, shown = new_frames(list(match.frames), sent, shown, match.before)
                message: JsonObject = {"frames": frames, "over": over}
                if over:
                    message["outcome"] = match.outcome
                if sent == 0:
                    message["reset"] = True
                if match.trouble:
                    message["trouble"] = match.trouble
                sent = match.before + len(match.frames)
                yield b"data: " + _encode(message) + b"\n\n"
                if over:
                    return
                while not await match.news.comes_within(_QUIET_S, count):
                    yield _KEEP_ALIVE.plain
        finally:
            feed.watchers -= 1
            match.watchers -= 1


async def _gone() -> AsyncIterator[bytes]:
    """The message for a page whose match was over before it asked."""
    yield b"data: " + _encode({"frames": [], "over": True, "gone": True}) + b"\n\n"


async def _sent(pieces: AsyncGenerator[Piece, None], *, gzipped: bool) -> AsyncIterator[bytes]:
    """The bytes to send of a stream."""
    async with aclosing(pieces):
        if gzipped:
            yield BEGIN
        async for piece in pieces:
            yield piece.gzipped if gzipped else piece.plain


def _events(request: Request, stream: AsyncIterator[bytes], *, gzipped: bool = False) -> Response:
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    headers = {"X-Accel-Buffering": "no", **(HEADERS if gzipped else {})}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _with_slash(request: Request) -> Response:
    return RedirectResponse(f"/l/{request.path_params['league']}/", 308)


# -- what an author must know of a league ----------------------------------------------------------------


class ConditionsPage:
    """The page of a league's conditions; commands get the same as JSON."""

    def __init__(self, app: App, requests: RequestHandler) -> None:
        self._app, self._requests = app, requests

    def route(self) -> Route:
        """Its route."""
        return self._requests.route("/l/{league}/conditions", self._show)

    async def _show(self, request: Request) -> Response:
        config = self._app.leagues.get(request.path_params["league"])
        if config is None:
            raise Refused(404, "No league of this server has that name.")
        make = partial(in_thread, conditions_of, self._requests.ledger_if_made, config)
        conditions = await self._app.soon("The machine is being asked", ("conditions", config.name), make)
        if isinstance(conditions, Response):
            return conditions
        return self._app.page(
            "server_conditions.html.j2",
            found=conditions,
            facts=facts(conditions),
            limits=[(conditions.limits[name], words) for name, words in WORDS.items()],
        )
