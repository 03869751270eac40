"""Connections of a server: how many there may be, how long one may wait, and that HTTP/2 is refused."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import trio
from tests.waiting import PATIENCE_S

from warpleague.arena.web.middleware import ConnectionLimits, Connections, counted_as

STRANGER = "127.0.0.2"
"""An address of this machine that is not the one whose connections have no limit of their own."""
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Server:
    """A running server, whose application answers `well`, or to /held only once `go` is set."""

    def __init__(self, limits: ConnectionLimits, open_stream: Any = None) -> None:
        self.go, self.asked = trio.Event(), trio.Event()
        self.connections = Connections(self.app, limits)
        self.open_stream = open_stream
        self.visitors = AsyncExitStack()

    async def app(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        del receive
        if scope["type"] != "http":
            return
        if scope["path"] == "/held":
            self.asked.set()
            await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"well"})

    async def visitor(self, data: bytes = b"", address: str = "127.0.0.1") -> trio.SocketStream:
        """A connection that has sent `data`."""
        stream: trio.SocketStream = await self.visitors.enter_async_context(await self.open_stream(address))
        await stream.send_all(data)
        return stream

    async def until_open(self, number: int) -> None:
        """Return when there are so many connections."""
        while self.connections.open != number:
            await trio.lowlevel.checkpoint()


@asynccontextmanager
async def server(**limits: Any) -> AsyncIterator[Server]:
    """A server while the block runs."""
    with trio.fail_after(PATIENCE_S), socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        async def open_stream(address: str) -> trio.SocketStream:
            return await trio.open_tcp_stream("127.0.0.1", port, local_address=address)

        running, stopped = Server(ConnectionLimits(**limits), open_stream), trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(running.connections.serve, listener, stopped)
            async with running.visitors:
                yield running
            stopped.set()


async def ended(stream: trio.SocketStream) -> bytes:
    """What comes until the server has ended a connection."""
    found = b""
    try:
        async for data in stream:
            found += data
    except trio.BrokenResourceError:
        pass
    return found


async def answer(stream: trio.SocketStream) -> bool:
    """Whether an answer comes."""
    found = b""
    while not found.endswith(b"well"):
        if not (data := await stream.receive_some()):
            return False
        found += data
    return True


UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    b"Upgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n"
)
WEBSOCKET = (
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n"
)


@pytest.mark.parametrize(
    "data",
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", UPGRADE, WEBSOCKET, b"\0" * 20_000],
    ids=["HTTP/2", "HTTP/2 by upgrade", "a websocket", "no HTTP"],
)
def test_another_protocol_ends_the_connection_at_once(data: bytes) -> None:
    """No time limit is waited for: the limit here is an hour."""

    async def main() -> None:
        async with server(head_s=3600) as running:
            assert b"well" not in await ended(await running.visitor(data))
            await running.until_open(0)

    trio.run(main)


@pytest.mark.parametrize(
    "data", [b"", REQUEST, REQUEST[:20]], ids=["nothing", "a request before", "half a request"]
)
def test_a_connection_without_a_request_ends(data: bytes) -> None:
    """It ends in time, also if it goes on to send parts of a request."""

    async def main() -> None:
        # A request has to come in time also on a busy machine.
        async with server(head_s=3.0 if data == REQUEST else 0.3) as running:
            stream = await running.visitor(data)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trickle, stream)
                answered = (await ended(stream)).count(b"well")
                nursery.cancel_scope.cancel()
            assert answered == (data == REQUEST)
            await running.until_open(0)

    async def trickle(stream: trio.SocketStream) -> None:
        try:
            while True:
                await stream.send_all(b"x")
                await trio.sleep(0.01)
        except trio.BrokenResourceError:
            return

    trio.run(main)


@pytest.mark.parametrize(
    ("address", "limits"), [(STRANGER, {"per_address": 3}), ("127.0.0.1", {"per_address": 1, "total": 3})]
)
def test_one_connection_too_many_ends_the_one_that_waited_longest(
    address: str, limits: dict[str, int]
) -> None:
    """The new one is answered, and so is one that has a request: it is never ended for another."""

    async def main() -> None:
        async with server(head_s=3600, **limits) as running:
            held = await running.visitor(REQUEST.replace(b"/ ", b"/held "), address)
            await running.asked.wait()
            oldest = await running.visitor(b"", address)
            await running.until_open(2)
            later = await running.visitor(b"", address)
            await running.until_open(3)
            newest = await running.visitor(REQUEST, address)
            assert await ended(oldest) == b""
            assert await answer(newest)
            await later.send_all(REQUEST)
            assert await answer(later)
            running.go.set()
            assert await answer(held)

    trio.run(main)


def test_connections_with_requests_leave_no_room() -> None:
    """Where each connection is being answered, a new one is ended."""

    async def main() -> None:
        async with server(head_s=3600, total=1) as running:
            held = await running.visitor(REQUEST.replace(b"/ ", b"/held "))
            await running.asked.wait()
            assert await ended(await running.visitor(REQUEST)) == b""
            running.go.set()
            assert await answer(held)

    trio.run(main)


def test_a_visitor_who_leaves_is_no_longer_counted() -> None:
    """A connection that its visitor ended makes room at once."""

    async def main() -> None:
        async with server(head_s=3600) as running:
            stream = await running.visitor()
            await running.until_open(1)
            await stream.aclose()
            await running.until_open(0)

    trio.run(main)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("told:by:a:proxy", "told:by:a:proxy"),
    ],
)
def test_which_addresses_count_as_one(address: str, counted: str) -> None:
    """One caller can have all addresses of an IPv6 network of 64 bits."""
    assert counted_as(address) == counted
