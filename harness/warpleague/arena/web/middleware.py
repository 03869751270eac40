"""Bounds what visitors can do: their connections, and requests by host, origin, size and rate.

Everybody may ask for pages. A request that changes something must come from a page of this server, or carry a token
of an author, which no other site can add. The size of a body is checked before any of it is read.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import time
from collections import defaultdict
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, RawData, Updated
from hypercorn.protocol.h11 import H2CProtocolRequiredError, H2ProtocolAssumedError, H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from warpleague.arena.processes import log, log_error

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Mapping

    from hypercorn.events import Event
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


# -- connections -----------------------------------------------------------------------------------------
# Each speaks HTTP/1.1, has to send requests in time, and counts for its address. Limits of requests do not bound
# a connection that sends no request, so connections are counted, too. If there are too many, the one that has
# waited longest without a request is ended; one with a request is never ended for another. HTTP/2 is refused:
# one of its connections can last without any request.

LOOPBACK: Final = ("127.0.0.1", "::1")
_RECEIVE_BYTES: Final = 2**16
_GRACE_S: Final = 1.0
"""How long requests may take to end when the server stops."""


@attrs.frozen(kw_only=True)
class ConnectionLimits:
    """Limits of connections: `per_address` and `total` at a time; `head_s` seconds to send the head of a request.

    The loopback address has no limit of its own, since behind it is a proxy or a person on this machine.
    """

    per_address: int = 60
    total: int = 4_000
    head_s: float = 15.0


def counted_as(address: str) -> str:
    """The key under which an address is counted: all IPv6 addresses of one /64 network belong to one caller."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(parsed) if parsed.is_loopback else str(ipaddress.IPv6Network((parsed, 64), strict=False))


class Connections:
    """All connections of a server, each run by `serve`."""

    def __init__(self, app: ASGIApp, limits: ConnectionLimits) -> None:
        self._app = app
        self._limits = limits
        self._of: defaultdict[str, set[_Connection]] = defaultdict(set)
        self._context = WorkerContext(None)
        self._config = Config()
        self._config.errorlog = self._config.accesslog = None
        self._config.include_server_header = False

    @property
    def open(self) -> int:
        """How many connections there are."""
        return sum(map(len, self._of.values()))

    async def serve(self, listener: socket.socket, stopped: trio.Event) -> None:
        """Accept connections until `stopped` is set; then requests that are being answered may end."""
        async with trio.open_nursery() as handlers:
            async with (
                trio.SocketListener(trio.socket.from_stdlib_socket(listener)) as listening,
                trio.open_nursery() as accepting,
            ):
                accepting.start_soon(
                    partial(trio.serve_listeners, self._handle, [listening], handler_nursery=handlers)
                )
                await stopped.wait()
                accepting.cancel_scope.cancel()
            await self._context.terminated.set()
            handlers.cancel_scope.deadline = trio.current_time() + _GRACE_S

    async def _handle(self, stream: trio.SocketStream) -> None:
        try:
            client = stream.socket.getpeername()[:2]
            server = stream.socket.getsockname()[:2]
        except OSError:
            return  # the visitor has left
        address = counted_as(client[0])
        if not self._has_room(address):
            return
        connection = _Connection(stream, self._limits.head_s)
        self._of[address].add(connection)
        try:
            await connection.run(
                lambda group, send: H11Protocol(
                    ASGIWrapper(self._app),  # type: ignore[arg-type]  # the frameworks' types differ in name only
                    self._config,
                    self._context,
                    group,
                    ConnectionState({}),
                    False,
                    client,
                    server,
                    send,
                )
            )
        except Exception as error:  # noqa: BLE001 - one connection must not end the server
            log_error("connection failed", error, address=client[0])
        finally:
            self._of[address].discard(connection)
            if not self._of[address]:
                del self._of[address]

    def _has_room(self, address: str) -> bool:
        """Whether one more connection may come from an address, after another was ended for it where necessary."""
        own = self._of.get(address, set())
        if len(own) >= self._limits.per_address and address not in LOOPBACK:
            return _end_oldest(own)
        if self.open < self._limits.total:
            return True
        return _end_oldest(max(self._of.values(), key=len)) or _end_oldest(set().union(*self._of.values()))


def _end_oldest(connections: set[_Connection]) -> bool:
    """End the connection that has waited longest without a request; False if each of them has a request."""
    waiting = [connection for connection in connections if connection.waiting_since_s < math.inf]
    if not waiting:
        return False
    min(waiting, key=lambda connection: connection.waiting_since_s).end()
    return True


class _Connection:
    """One connection. It ends if no request begins within `head_s` seconds, even if other bytes come."""

    def __init__(self, stream: trio.SocketStream, head_s: float) -> None:
        self.waiting_since_s = trio.current_time()  # infinite while a request is answered
        self._stream = stream
        self._head_s = head_s
        self._sending = trio.Lock()
        self._reading = trio.CancelScope(deadline=self.waiting_since_s + head_s)
        self._protocol: Any = None

    def end(self) -> None:
        """End a connection that waits."""
        self.waiting_since_s = math.inf
        self._reading.cancel()

    async def run(
        self, protocol: Callable[[TaskGroup, Callable[[Event], Awaitable[None]]], H11Protocol]
    ) -> None:
        """Read and answer requests until either side ends the connection."""
        async with TaskGroup() as group:
            self._protocol = protocol(group, self._send)
            with self._reading:
                await self._read()
            await self._protocol.handle(Closed())
        await self._close()

    async def _read(self) -> None:
        try:
            while True:
                data = await self._stream.receive_some(_RECEIVE_BYTES)
                await self._protocol.handle(RawData(bytes(data)))
                if not data:
                    return
        except (H2ProtocolAssumedError, H2CProtocolRequiredError):
            return  # it asks for HTTP/2
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def _send(self, event: Event) -> None:
        if isinstance(event, RawData):
            try:
                async with self._sending:
                    await self._stream.send_all(event.data)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                await self._protocol.handle(Closed())
        elif isinstance(event, Closed):
            await self._close()
            await self._protocol.handle(Closed())
        elif isinstance(event, Updated):
            self.waiting_since_s = trio.current_time() if event.idle else math.inf
            self._reading.deadline = self.waiting_since_s + self._head_s

    async def _close(self) -> None:
        gone = (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError)
        with contextlib.suppress(*gone):
            await self._stream.send_eof()
        await self._stream.aclose()


# -- requests --------------------------------------------------------------------------------------------


MAX_BODY_BYTES: Final = 16 * 1024
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
METHODS: Final = ("GET", "HEAD", "POST")
"""The methods that routes may take: a request with another one is not checked for its origin."""
_MAX_PATH: Final = 1_000


@attrs.frozen(kw_only=True)
class RequestLimits:
    """Limits of requests, for one address and for all together.

    `per_s` requests a second in the long run, `burst` at once; `streams` live pages open at a time, `all_requests`
    requests at a time from everywhere. A body has `body_s` seconds, and one more for every `body_rate` bytes that have
    come: so a large one has time also on a slow line, and one that stops coming ends soon. A proxy or a person on this
    machine is trusted: for the loopback address only the common limits hold.
    """

    per_s: float = 20.0
    burst: int = 100
    streams: int = 20
    all_requests: int = 2_000
    body_s: float = 30.0
    body_rate: int = 16 * 1024
    spares_loopback: bool = True


@attrs.define
class _Caller:
    """The recent requests of an address: `left` of its burst at the time `at_s`, and the number of `open` ones."""

    left: float
    at_s: float
    open: int = 0


class RequestMiddleware:
    """Passes on the requests that are allowed, and refuses all others.

    `hosts` are the names, with ports, by which this server is called. `bodies` are paths whose bodies may have so
    many bytes, instead of `MAX_BODY_BYTES`. `root` is the path under which visitors see the server: a proxy may take
    it off or leave it on, and redirections get it. With `behind_proxy` the address of a caller is what the proxy on
    this machine says.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str] = frozenset(),
        bodies: Mapping[str, int] | None = None,
        limits: RequestLimits | None = None,
        behind_proxy: bool = False,
        root: str = "/",
    ) -> None:
        self.hosts = hosts
        self.open = 0
        self.refused = 0
        self._app = app
        self._bodies = bodies or {}
        self._limits = limits or RequestLimits()
        self._behind_proxy = behind_proxy
        self._prefix = root.removesuffix("/")
        self._callers: dict[str, _Caller] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"].endswith("http.response.start"):
                begun = True
                self._add_headers(message, own)
            await send(message)

        headers = Headers(scope=scope)
        own = f"{scope.get('scheme')}://{headers.get('host')}"
        address = self._address(scope, headers)
        # As the application sees it.
        scope = {**scope, "client": (address, (scope.get("client") or ("", 0))[1]), **self._below_root(scope)}
        caller = self._caller(address)
        refused = self._refusal(scope, headers) or self._crowded(caller)
        if refused is not None:
            self.refused += 1
            log("refused", status=refused[0], why=refused[1], address=address, path=scope["path"][:200])
            # The rest of its body is not read.
            answer = error_answer(scope["path"], refused[1], refused[0], {"Connection": "close"})
            await answer(scope, receive, send_guarded)
            return
        self.open += 1
        if caller is not None:
            caller.open += 1
        try:
            body = _Body(receive, self._max_bytes(scope["path"]), self._limits)
            app = RedirectResponse("/", 308) if scope["path"] == self._prefix else self._app
            await app(scope, body, send_guarded)
        except ClientDisconnect:
            pass
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            log_error("request failed", error, path=scope["path"][:200])
            if not begun:
                answer = error_answer(scope["path"], "the server has failed; its log says how", 500)
                await answer(scope, receive, send_guarded)
        finally:
            self.open -= 1
            if caller is not None:
                caller.open -= 1

    def _below_root(self, scope: Scope) -> dict[str, Any]:
        """The path of a request without the root, where it begins with that."""
        path, raw, prefix = scope["path"], scope.get("raw_path") or b"", self._prefix
        if not prefix or not path.startswith(f"{prefix}/"):
            return {}
        return {"path": path.removeprefix(prefix), "raw_path": raw.removeprefix(prefix.encode())}

    def _address(self, scope: Scope, headers: Headers) -> str:
        address = str((scope.get("client") or ("", 0))[0])
        if self._behind_proxy and address in LOOPBACK:
            lines = headers.getlist("x-forwarded-for")  # the last one is the proxy's
            return lines[-1].rpartition(",")[2].strip()[:64] or address if lines else address
        return address

    def _caller(self, address: str) -> _Caller | None:
        """The recent requests of an address, or None if it has no limits of its own."""
        if self._limits.spares_loopback and address in LOOPBACK and not self._behind_proxy:
            return None
        now_s = time.monotonic()
        address = counted_as(address)
        caller = self._callers.get(address)
        if caller is None:
            if len(self._callers) >= 10_000:
                full_s = self._limits.burst / self._limits.per_s
                for name, other in list(self._callers.items()):
                    if not other.open and now_s - other.at_s > full_s:
                        del self._callers[name]
            caller = self._callers[address] = _Caller(self._limits.burst, now_s)
        caller.left = min(self._limits.burst, caller.left + (now_s - caller.at_s) * self._limits.per_s)
        caller.at_s = now_s
        return caller

    def _crowded(self, caller: _Caller | None) -> tuple[int, str] | None:
        if self.open >= self._limits.all_requests:
            return 503, "the server is busy; try again in a minute"
        if caller is None:
            return None
        if caller.left < 1:
            return 429, "too many requests; come back in a minute"
        caller.left -= 1
        if caller.open >= self._limits.streams:
            return 429, "too many pages are open from your address"
        return None

    def _max_bytes(self, path: str) -> int:
        return self._bodies.get(path, MAX_BODY_BYTES)

    def _add_headers(self, message: Message, own: str) -> None:
        """Add what every answer carries; `own` is how the visitor's request called this server."""
        headers = MutableHeaders(scope=message)
        for name, value in _HEADERS.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
        headers.setdefault("Content-Security-Policy", POLICY)
        if message["status"] >= HTTPStatus.BAD_REQUEST:
            headers["Cache-Control"] = "no-store"
        if "location" in headers:
            # The framework gives the whole address where a slash is missing: behind a proxy its scheme is wrong.
            place = headers["location"].removeprefix(own)
            headers["location"] = self._prefix + place if place.startswith("/") else place

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and reason if the request is refused, else None."""
        if scope.get("http_version") not in ("1.0", "1.1"):
            return 505, "this server speaks HTTP/1.1"
        if headers.get("host", "").lower() not in self.hosts or len(headers.getlist("host")) > 1:
            return 421, f"unknown host name; this server is {' or '.join(sorted(self.hosts))}"
        if scope["type"] == "websocket":
            return 400, "this server has no WebSockets"
        path = scope["path"]
        if len(scope.get("raw_path") or path) > _MAX_PATH:
            return 414, f"the path of the address may have {_MAX_PATH} bytes"
        if not path.isprintable():
            return 404, "no address here has such characters"
        method = scope["method"]
        if method not in METHODS:
            return None  # no route takes it, and the router says which methods the address takes
        if method in ("GET", "HEAD"):
            if headers.get("transfer-encoding") or headers.get("content-length", "0") != "0":
                return 400, "a request for a page has no body"
            return None
        # Cookies count for nothing in the JSON API: it asks for a token by itself.
        if not path.startswith("/api/") and not headers.get("authorization", "").startswith("Bearer "):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "another site may not ask this server"
            own = {f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https")}
            if headers.get("origin", "").lower() not in own:
                return 403, "another site may not ask this server"
        return self._wrong_length(headers, path)

    def _wrong_length(self, headers: Headers, path: str) -> tuple[int, str] | None:
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdecimal() or headers.get("transfer-encoding"):
            return 411, "the length of the body must be given"
        if len(length) > 15 or int(length) > self._max_bytes(path):
            return 413, f"the body may have {self._max_bytes(path)} bytes"
        return None


def error_answer(path: str, text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """An error as the address promises it: the object of the JSON API, or a line of text."""
    if path.startswith("/api/"):
        return JSONResponse({"error": text}, status, headers)
    return PlainTextResponse(text + "\n", status, headers)


class _Body:
    """Receives no more of a body than a request may have, and not more slowly than it must come."""

    def __init__(self, receive: Receive, max_bytes: int, limits: RequestLimits) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._limits = limits
        self._begun_s = math.inf
        self._come = 0
        self._over = False

    async def __call__(self) -> Any:
        if self._over:
            return await self._receive()
        limits = self._limits
        if self._begun_s == math.inf:
            self._begun_s = trio.current_time()
        with trio.CancelScope(
            deadline=self._begun_s + limits.body_s + self._come / limits.body_rate
        ) as scope:
            message = await self._receive()
        if scope.cancelled_caught:
            self._over = True
            raise HTTPException(
                408,
                f"The body of the request came too slowly: {self._come:,} bytes in "
                f"{trio.current_time() - self._begun_s:.0f} s, and after {limits.body_s:g} s there must be "
                f"{limits.body_rate:,} more each second. Send it over a faster line, or make it smaller.",
            )
        self._over = not message.get("more_body", False)
        self._come += len(message.get("body", b""))
        if self._come > self._max_bytes:
            raise HTTPException(413, "The body of the request is longer than its Content-Length.")
        return message
