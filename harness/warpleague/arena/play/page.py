"""The page on which a person plays, and who may reach it: only those on this machine who know its token."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from functools import partial
from secrets import compare_digest, token_urlsafe
from typing import TYPE_CHECKING, Any, Final

import msgspec
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from warpleague.arena.live import new_frames
from warpleague.arena.play.sitting import PersonSeat, Played, Sitting, ask_bot
from warpleague.errors import BadInput
from warpleague.games.first_turn import first_turn
from warpleague.match.replay import Replay
from warpleague.report.site.delta import plain
from warpleague.report.site.match_page import page_alone
from warpleague.report.site.page_frame import render, served, shared, text_of
from warpleague.report.wording.match_words import labels
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from warpleague.games.api import JsonObject
    from warpleague.games.scene import Scene
    from warpleague.match.spec import SeatFault


# -- the page --------------------------------------------------------------------------------------------


_QUIET_S: Final = 20.0
"""After so long without news a line is sent, so that no proxy closes the connection as dead."""

_encode = msgspec.json.Encoder().encode


class PlayPage:
    """One page for all persons of a sitting: it shows one person's view, and a curtain when another takes over."""

    def __init__(self, sitting: Sitting, bot: str) -> None:
        self.sitting = sitting
        self._bot = bot
        self._seat: int | None = None  # the person who sits at the page
        self._hint: JsonObject | None = None
        self._match = -1

    def app(self) -> Starlette:
        """The application behind the page."""
        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/assets/{name}", _asset),
                Route("/first-turn", self._first_turn),
                Route("/docs/{name}", _docs),
                Route("/news", self._news),
                Route("/outlook/{index:int}", self._outlook),
                Route("/do", self._do, methods=["POST"]),
                Route("/replay/{number:int}", self._replay),
                Route("/record/{number:int}", self._record),
            ]
        )

    # ------------------------------------------------------------------ the page and its stream

    async def _page(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        game = self.sitting.game
        page = render(
            "play.html.j2",
            frame=served("play"),
            game={"id": game.id, "title": game.title},
            guide=game.guide(),
            rules=text_of(game.id) is not None,
            stamp="",
        )
        return HTMLResponse(page)

    async def _first_turn(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        game = self.sitting.game
        guide = game.guide()
        if guide is None:
            raise HTTPException(404)
        moments = [
            {
                "scene": plain(moment.scene),
                "happened": moment.happened,
                "phrase": moment.phrase,
                "why": moment.why,
                "to": moment.targets,
            }
            for moment in first_turn(game, guide)
        ]
        return Response(_encode(moments), media_type="application/json")

    def _asked(self) -> PersonSeat | None:
        """The person whose turn it is, or None."""
        if not self.sitting.matches:
            return None
        persons = self.sitting.now.persons.values()
        return next((person for person in persons if person.draft is not None), None)

    def _sit(self) -> int | None:
        """The seat whose view may be shown now: the only person's, else that of who took the page last.

        The curtain falls as soon as another person has to act.
        """
        if not self.sitting.matches:
            return None
        now = self.sitting.now
        if self._match != len(self.sitting.matches):
            self._match, self._seat, self._hint = len(self.sitting.matches), None, None
        if len(now.persons) == 1:
            self._seat = next(iter(now.persons))
        asked = self._asked()
        if asked is not None and self._seat is not None and asked.number != self._seat:
            self._seat = None
        return self._seat

    def state(self) -> JsonObject:
        """Everything that the page shows except the frames."""
        if not self.sitting.matches:
            return {"match": 0, "phase": "starting"}
        sitting, now, seat = self.sitting, self.sitting.now, self._sit()
        asked = self._asked()
        names = labels([safe(spec.bot, keep="") for spec in now.spec.seats])
        state: JsonObject = {
            "match": len(sitting.matches),
            "phase": "waiting",
            "seat": seat,
            "seats": [
                {
                    "name": names[number],
                    "person": spec.kind == "person",
                    "resigned": number in now.persons and now.persons[number].resigned,
                    **_fault(now.faults.get(number)),
                }
                for number, spec in enumerate(now.spec.seats)
            ],
        }
        if sitting.over:
            state["phase"] = "closed"
        elif now.result is not None:
            state["phase"] = "over"
            state["result"] = _result(now)
        elif asked is not None and seat is None:
            state |= {"phase": "curtain", "curtain": asked.number}
        elif asked is not None:
            state["phase"] = "asked"
            state["question"] = self._question(asked)
        return state

    def _question(self, person: PersonSeat) -> JsonObject:
        draft = person.draft
        assert draft is not None
        game = draft.game
        left_s = person.deadline - trio.current_time()
        question: JsonObject = {
            "id": person.question["id"],
            "ask": game.ask(draft.state, draft.seat) if not draft.complete else "",
            "heading": draft.heading,
            "chosen": list(draft.phrases),
            "complete": draft.complete,
            "talk": person.question.get("talk") or 0,
            "left_s": None if left_s == float("inf") else max(0.0, round(left_s, 1)),
            "actions": [
                {
                    "text": draft.phrase(action),
                    "to": list(game.targets(draft.state, action)),
                    "ends": draft.ends_turn(action),
                }
                for action in draft.legal()
            ],
        }
        if draft.chosen:
            question["scene"] = plain(draft.scene)
        if self._hint is not None and self._hint["of"] == [question["id"], len(draft.chosen)]:
            question["hint"] = self._hint
        return question

    async def _news(self, request: Request) -> Response:  # noqa: ARG002 - as the framework calls it
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(), media_type="text/event-stream", headers=headers)

    async def _stream(self) -> AsyncIterator[bytes]:
        """Server-sent events: first everything, then the changes."""
        count = -1
        at: tuple[int, int | None] = (-1, None)
        sent = 0
        shown: Scene | None = None
        before: JsonObject = {}
        while True:
            count = self.sitting.news.count
            state = self.state()
            message: JsonObject = {"state": state, "frames": []}
            seat = state.get("seat")
            if (state["match"], seat) != at:
                at, sent, shown = (state["match"], seat), 0, None
                message["reset"] = True
            if seat is not None:
                frames = self.sitting.now.frames[seat]
                message["frames"], shown = new_frames(frames, sent, shown)
                sent = len(frames)
            if state != before or len(message) > 2 or message["frames"]:
                yield b"data: " + _encode(message) + b"\n\n"
            before = state
            if state["phase"] == "closed":
                return
            with trio.move_on_after(_QUIET_S) as quiet:
                await self.sitting.news.after(count)
            if quiet.cancelled_caught:
                yield b": still here\n\n"

    async def _outlook(self, request: Request) -> Response:
        """What an action that can be chosen now would lead to; nothing where only sending it would tell."""
        person, index = self._asked(), request.path_params["index"]
        if person is None or person.draft is None or person.number != self._sit():
            raise HTTPException(404)
        legal = person.draft.legal()
        if index >= len(legal):
            raise HTTPException(404)
        scene = person.draft.outlook(legal[index])
        return Response(_encode(None if scene is None else plain(scene)), media_type="application/json")

    # ------------------------------------------------------------------ requests of the person

    async def _do(self, request: Request) -> Response:
        try:
            wanted = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise HTTPException(400, "not JSON") from None
        if not isinstance(wanted, dict):
            raise HTTPException(400, "a JSON object is wanted")
        try:
            await self._act(wanted)
        except BadInput as error:
            return JSONResponse({"error": safe(str(error), keep="")}, 409)
        return Response(status_code=204)

    async def _act(self, wanted: JsonObject) -> None:
        """Do what the page wants. Raises `BadInput` if that is not possible, or no longer possible."""
        sitting, do = self.sitting, wanted.get("do")
        if do == "leave":
            sitting.leave()
        elif not sitting.matches:
            raise BadInput("the match has not begun")
        elif wanted.get("match") != len(sitting.matches):
            raise BadInput("that match is over")
        elif do == "rematch":
            sitting.rematch()
        elif do == "sit":
            asked = self._asked()
            if asked is None or asked.number != wanted.get("seat"):
                raise BadInput("it is not that person's turn")
            self._seat = asked.number
            sitting.news.notify()
        elif do == "resign":
            seat = self._sit()
            if seat is None or sitting.now.result is not None:
                raise BadInput("nobody sits here to resign")
            sitting.now.persons[seat].resign()
        else:
            await self._choose(wanted)

    async def _choose(self, wanted: JsonObject) -> None:
        """Do what belongs to one question; a page that shows an older question must not answer this one."""
        seat, person, do = self._sit(), self._asked(), wanted.get("do")
        if person is None or person.number != seat or person.draft is None:
            raise BadInput("it is not your turn")
        chosen = len(person.draft.chosen)
        if [wanted.get("question"), wanted.get("chosen")] != [person.question["id"], chosen]:
            raise BadInput("that question is answered already")
        if do == "act" and type(wanted.get("index")) is int:
            person.choose(wanted["index"], hold=wanted.get("hold") is True)
        elif do == "undo":
            person.undo()
        elif do == "send":
            person.send()
        elif do == "say" and _is_message(wanted):
            person.say(wanted["to"], wanted["text"])
        elif do == "hint":
            hint = await ask_bot(self._bot, person, self.sitting.now.spec.level)
            self._hint = {"bot": hint.bot, "index": hint.index, "of": [wanted["question"], chosen]}
            self.sitting.news.notify()
        else:
            raise BadInput("there is no such request")

    # ------------------------------------------------------------------ finished matches

    def _finished(self, request: Request) -> tuple[Played, bytes]:
        number = request.path_params["number"]
        if not 1 <= number <= len(self.sitting.matches):
            raise HTTPException(404)
        played = self.sitting.matches[number - 1]
        if played.result is None:
            raise HTTPException(404, "the match is not over")
        return played, played.result.record

    async def _replay(self, request: Request) -> Response:
        played, record = self._finished(request)
        page = await trio.to_thread.run_sync(page_alone, Replay(record), f"{played.spec.id}.jsonl")
        # The page names its own scripts in its policy, and needs nothing else.
        return HTMLResponse(page, headers={"Content-Security-Policy": "frame-ancestors 'none'"})

    async def _record(self, request: Request) -> Response:
        played, record = self._finished(request)
        headers = {"Content-Disposition": f'attachment; filename="{played.spec.id}.jsonl"'}
        return Response(record, media_type="application/x-ndjson", headers=headers)


async def _docs(request: Request) -> Response:
    """A page of the documentation, such as the rules of the game."""
    page_text = text_of(request.path_params["name"], "")
    if page_text is None:
        raise HTTPException(404)
    title, text = page_text
    page = render("play_text.html.j2", frame=served("server", "../"), title=title, text=text, stamp="")
    return HTMLResponse(page)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    data = shared(("play", "server")).get(name)
    if data is None:
        raise HTTPException(404)
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response(data, media_type=kind)


def _result(played: Played) -> JsonObject:
    result = played.result
    assert result is not None
    return {
        "told": played.told(result),
        "ranks": list(result.ranks),
        "scores": list(result.scores),
        "faults": [
            [f"{fault.kind}: {safe(fault.message, keep='')}" for fault in faults] for faults in result.faults
        ],
    }


def _fault(fault: SeatFault | None) -> JsonObject:
    """The text on the page about a seat's last fault.

    The message of an illegal action may reveal private facts, so it is shown only once the seat is out.
    """
    if fault is None:
        return {}
    text = f"{fault.kind}: {safe(fault.message, keep='')}" if fault.retired else fault.kind
    return {"fault": text, "out": fault.retired}


def _is_message(wanted: JsonObject) -> bool:
    to, text = wanted.get("to"), wanted.get("text")
    return isinstance(text, str) and isinstance(to, list) and all(type(seat) is int for seat in to)


# -- which requests reach the page -----------------------------------------------------------------------
# Any web page in a browser of this machine could otherwise send requests to the server, since a browser sends
# them to any address. So a request needs the token, which is in the address of each page; it must name this
# server as its host, which a renamed address does not; and one that changes something must come from a page
# of this server.


MAX_BODY_BYTES: Final = 16 * 1024

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class TokenGuard:
    """Middleware that checks a token: the address /TOKEN/path reaches the application as /path.

    `hosts` are the names with ports by which this server is called; they are known once it listens.
    """

    def __init__(self, app: ASGIApp, token: str, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self.hosts: frozenset[str] = frozenset()
        self._app = app
        self._token = token
        self._max_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the server closes connections that are not accepted

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            await PlainTextResponse(refused[1] + "\n", refused[0])(scope, receive, send_guarded)
            return
        path = "/" + scope["path"][1:].partition("/")[2]
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self._app(inner, _Bounded(receive, self._max_bytes), send_guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason if the request is refused, else None."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.hosts:
            return 421, f"unknown host name; this server is {' or '.join(sorted(self.hosts))}"
        token, slash, _ = scope["path"][1:].partition("/")
        if not slash or not compare_digest(token.encode(), self._token.encode()):
            return 404, "not found"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "another site may not ask this server"
        if scope["method"] in ("GET", "HEAD"):
            return None
        if headers.get("origin", "").lower() not in {f"http://{host}" for host in self.hosts}:
            return 403, "another site may not ask this server"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "the body must be JSON"
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return 411, "the length of the body must be given"
        if int(length) > self._max_bytes:
            return 413, f"the body may have {self._max_bytes} bytes"
        return None


class _Bounded:
    """Receives no more of a body than a request may have, whatever length its header states."""

    def __init__(self, receive: Receive, max_bytes: int) -> None:
        self._receive = receive
        self._left = max_bytes

    async def __call__(self) -> Any:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return {"type": "http.disconnect"} if self._left < 0 else message


# -- the server, in the trio loop that plays the matches -------------------------------------------------


HOST: Final = "127.0.0.1"


@asynccontextmanager
async def serving(app: ASGIApp, *, port: int = 0, token: str | None = None) -> AsyncIterator[str]:
    """Serve `app` behind a token while the block runs; the address of its first page.

    Without a `port` the system chooses one that is free; without a `token` a new one is made.
    """
    token = token or token_urlsafe(24)
    guard = TokenGuard(app, token)
    config = Config()
    config.bind = [f"{HOST}:{port}"]
    config.loglevel = "WARNING"
    config.include_server_header = False
    config.graceful_timeout = 0.2
    # How long a connection may take to send a request.
    config.keep_alive_timeout = 75.0
    async with trio.open_nursery() as nursery:
        try:
            # The types of the server's protocol and of the framework's differ in name only.
            binds = await nursery.start(partial(serve, guard, config))  # type: ignore[arg-type]
        except OSError as error:
            raise BadInput(f"port {port}: cannot listen there: {error.strerror}") from None
        bound_port = int(binds[0].rpartition(":")[2])
        guard.hosts = frozenset({f"{HOST}:{bound_port}", f"localhost:{bound_port}"})
        yield f"http://{HOST}:{bound_port}/{token}/"
        nursery.cancel_scope.cancel()
