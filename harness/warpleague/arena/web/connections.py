"""The connections of a server: each speaks HTTP/1.1, has to send requests in time, and counts for its address.

Limits of requests do not bound a connection that sends no request. So connections are counted, too. If there are too
many, the one that has waited longest without a request is ended; one with a request is never ended for another.
HTTP/2 is refused: one of its connections can last without any request.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
from collections import defaultdict
from functools import partial
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

from warpleague.arena.process.log import log_error

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from hypercorn.events import Event
    from starlette.types import ASGIApp

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
