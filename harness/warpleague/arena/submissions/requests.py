"""Handles the requests of authors and organisers: who sends a request, what its form contains, and errors.

A browser names its session by a cookie; a command sends `Authorization: Bearer TOKEN`. Every form contains a text of
its session, which no other site knows. The sender is known before any part of a body is read.
"""

from __future__ import annotations

import time
from functools import partial
from secrets import compare_digest
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from warpleague.arena.submissions import accounts
from warpleague.arena.submissions.jobs import NoJob, OverQuota
from warpleague.arena.submissions.ledger import FILE, Ledger
from warpleague.errors import BadInput, StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path
    from typing import TypeVar

    from starlette.datastructures import FormData
    from starlette.requests import Request

    from warpleague.arena.submissions.accounts import Author, Session
    from warpleague.league.season.config import LeagueConfig

    T = TypeVar("T")
    Handler = Callable[[Request], Awaitable[Response]]

API: Final = "/api/submissions"
UPLOAD: Final = "/submit/upload"
BODY_LIMITS: Final = {API: 257 << 20, UPLOAD: 257 << 20}
"""Maximum size of a body at these addresses, in bytes; the lower limits of the ledger hold, too."""

_COOKIE: Final = "warpleague"
_FIELD_BYTES: Final = 4_000
_MAX_FAILURES: Final = 20
_FAILURES_S: Final = 60.0


class App(Protocol):
    """The parts that these pages use of the application to which they belong."""

    @property
    def leagues(self) -> Mapping[str, LeagueConfig]:
        """The leagues by name."""

    @property
    def results(self) -> Path:
        """The folder of results."""

    @property
    def root(self) -> str:
        """The path under which visitors see the server; it begins and ends with a slash."""

    def render_again(self, league: str) -> None:
        """Make the page of a league again soon, though no match was stored."""

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page made of a template."""


class Refused(Exception):
    """A request that is refused: the status, and why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class RequestHandler:
    """Handles requests of authors: finds out who sends them, reads their forms, and answers errors."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._ledger: Ledger | None = None
        self._failures: dict[str, list[float]] = {}

    @property
    def ledger(self) -> Ledger:
        """The ledger; `Refused` as long as the organiser has made no author."""
        if self._ledger is None:
            if not (self.app.results / FILE).exists():
                raise Refused(503, "Nobody can submit bots here yet: the organiser has made no author.")
            self._ledger = Ledger.open(self.app.results)
        return self._ledger

    @property
    def ledger_if_made(self) -> Ledger | None:
        """The ledger, or None as long as the organiser has made no author."""
        return self.ledger if (self.app.results / FILE).exists() else None

    def close(self) -> None:
        """Close the ledger, if it was opened."""
        if self._ledger is not None:
            self._ledger.close()

    def route(self, path: str, handler: Handler, *methods: str, api: bool = False) -> Route:
        """A route whose errors are answered with a page, or with JSON."""
        return Route(path, partial(self._answer, handler, api=api), methods=methods or ("GET",))

    async def _answer(self, handler: Handler, request: Request, *, api: bool) -> Response:
        try:
            answer = await handler(request)
        except Refused as error:
            answer = self._wrong(str(error), error.status, api=api)
        except OverQuota as error:
            answer = self._wrong(str(error), 429, api=api)
        except StoreError as error:
            full = "full" in str(error)
            answer = self._wrong(_without_path(error), 507 if full else 503, api=api)
        except OSError as error:  # a file of a form has no place
            answer = self._wrong(f"The server cannot take this now: {error.strerror}", 507, api=api)
        except NoJob as error:
            answer = self._wrong(error.shown, 404, api=api)
        except BadInput as error:
            answer = self._wrong(str(error), 422, api=api)
        except HTTPException as error:  # of the framework: the body is not a form
            answer = self._wrong(str(error.detail), error.status_code, api=api)
        finally:
            await request.close()  # with the file of its form
        # The pages of an author must not be in any cache.
        answer.headers["Cache-Control"] = "no-store"
        return answer

    def _wrong(self, text: str, status: int, *, api: bool) -> Response:
        if api:
            return JSONResponse({"error": text}, status)
        return self.app.page(
            "server_notice.html.j2", status, title="That did not work", text=text, again=False
        )

    # ------------------------------------------------------------------ the sender

    def check_failures(self, request: Request) -> None:
        """Raise `Refused` if too many wrong tokens came from an address of late."""
        now_s, address = time.monotonic(), _address(request)
        late = [at_s for at_s in self._failures.get(address, ()) if now_s - at_s < _FAILURES_S]
        if len(late) >= _MAX_FAILURES:
            raise Refused(429, "Too many wrong tokens; come back in a minute.")

    def count_failure(self, request: Request) -> None:
        """Note that a wrong token or invitation came with a request."""
        now_s = time.monotonic()
        if len(self._failures) > 10_000:
            self._failures = {
                name: times for name, times in self._failures.items() if now_s - times[-1] < _FAILURES_S
            }
        self._failures.setdefault(_address(request), []).append(now_s)
        del self._failures[_address(request)][:-_MAX_FAILURES]

    def who_has(self, request: Request, token: str) -> Author:
        """The author of the request's token. Raises `Refused` without a valid token."""
        self.check_failures(request)
        ledger = self.ledger_if_made
        author = None if ledger is None else accounts.who_has(ledger, token.strip()[:200])
        if author is None:
            self.count_failure(request)
            raise Refused(401, "This is not the token of an author, or it was revoked.")
        return author

    def bearer(self, request: Request) -> Author:
        """The author whose token the request carries, looked up once. Raises `Refused` without a token."""
        author: Author | None = getattr(request.state, "author", None)
        if author is None:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            if scheme != "Bearer" or not token:
                raise Refused(401, "A token is needed: Authorization: Bearer TOKEN.")
            author = request.state.author = self.who_has(request, token)
        return author

    def session(self, request: Request) -> Session | None:
        """The session of the request, or None."""
        key = request.cookies.get(_COOKIE, "")
        return accounts.session_of(self.ledger, key) if key else None

    def need_session(self, request: Request) -> Session:
        """The session of the request. Raises `Refused` if there is none."""
        session = self.session(request)
        if session is None:
            raise Refused(401, "Give your token first, under Submit a bot.")
        return session

    def need_organiser(self, request: Request) -> Session:
        """The session of an organiser. Raises `Refused` if there is none, or its user is not an organiser."""
        session = self.need_session(request)
        if not session.author.organiser:
            raise Refused(403, "Only an organiser may see this.")
        return session

    def begin(self, request: Request, author: Author) -> Response:
        """Begin a session, and go to the author's page."""
        session = accounts.begin_session(self.ledger, author)
        answer = RedirectResponse("/submit", 303)
        answer.set_cookie(
            _COOKIE,
            session.key,
            path=self.app.root,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https",
        )
        return answer

    def end(self, session: Session) -> Response:
        """End a session."""
        accounts.end_session(self.ledger, session)
        answer = RedirectResponse("/submit", 303)
        answer.delete_cookie(_COOKIE, path=self.app.root, httponly=True, samesite="strict")
        return answer

    # ------------------------------------------------------------------ forms

    async def form(self, request: Request, session: Session | None) -> FormData:
        """The form of a request; with a session it must contain the text of that. `Refused` if it does not."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
            raise Refused(415, "A form is expected.")
        form = await request.form(max_files=1, max_fields=12, max_part_size=_FIELD_BYTES)
        if session is not None:
            given = form.get("form")
            if not isinstance(given, str) or not compare_digest(given.encode(), session.form.encode()):
                raise Refused(403, "This form is of another session; open the page again.")
        return form

    def league(self, name: str | None) -> LeagueConfig:
        """The league of this name, or the only one. Raises `Refused` if there is none."""
        leagues = self.app.leagues
        if not name and len(leagues) == 1:
            return next(iter(leagues.values()))
        config = leagues.get(name or "")
        if config is None:
            unknown = f"There is no league {name[:80]!r} here. " if name else ""
            raise Refused(404, f"{unknown}Say to which league: {', '.join(leagues)}.")
        return config


def field(form: FormData, name: str) -> str:
    """A text of a form, on one line. Raises `Refused` if it is missing."""
    value = form.get(name)
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > _FIELD_BYTES
        or not value.isprintable()
    ):
        raise Refused(422, f"{name}: a text on one line is needed.")
    return value.strip()


def number_field(form: FormData, name: str) -> int:
    """A number of a form. Raises `Refused` if it is not a number."""
    text = field(form, name)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused(422, f"{name}: must be a whole number.")
    return int(text)


def file_of(form: FormData, name: str) -> UploadFile:
    """A file of a form. Raises `Refused` if it is missing."""
    value = form.get(name)
    if not isinstance(value, UploadFile) or not value.size:
        raise Refused(422, f"{name}: choose a file.")
    return value


async def in_thread(call: Callable[..., T], *args: Any, **more: Any) -> T:
    """Run a call that waits for the disk in a thread; returns its result."""
    return await trio.to_thread.run_sync(partial(call, *args, **more))


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _without_path(error: StoreError) -> str:
    """An error about a file, for somebody who need not know where that is."""
    return f"The server cannot write this down now: {str(error).partition(': ')[2]}"
