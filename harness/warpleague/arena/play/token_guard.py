"""Decides which requests reach the play page: only those that know its token and come from its own pages.

Any web page in a browser of this machine could otherwise send requests to the server, since a browser sends them to
any address. So a request needs the token, which is in the address of each page; it must name this server as its host,
which a renamed address does not; and one that changes something must come from a page of this server.
"""

from __future__ import annotations

from secrets import compare_digest, token_urlsafe
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


def new_token() -> str:
    """A token that nobody can guess."""
    return token_urlsafe(24)


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
