"""Which requests a server answers at all, and what every answer carries."""

from typing import Any

import pytest
import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from warpleague.arena.web.middleware import RequestLimits, RequestMiddleware

HOST = "arena.example.org"
POST = {"origin": f"https://{HOST}", "content-length": "2"}


async def _answer(request: Request) -> Response:
    if request.url.path == "/bug":
        raise ValueError("a bug")
    return PlainTextResponse(f"{request.method} {len(await request.body())}")


def guarded(**more: Any) -> RequestMiddleware:
    """The middleware around a small application."""
    routes = [Route("/{path:path}", _answer, methods=["GET", "POST"])]
    return RequestMiddleware(
        Starlette(routes=routes), hosts=frozenset({HOST}), bodies={"/large": 1000}, **more
    )


async def ask(
    app: RequestMiddleware, path: str = "/", method: str = "GET", body: list[bytes] | None = None, **more: Any
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer; with a `body` of parts, the last part does not come where it is None."""
    headers = {"host": HOST, **more.pop("headers", {})}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": more.pop("lines", None)
        or [(name.encode(), value.encode()) for name, value in headers.items() if value is not None],
        "client": ("203.0.113.7", 1234),
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        **more,
    }
    parts = list(body if body is not None else [b""])
    told: list[Any] = []

    async def receive() -> Any:
        if not parts:
            await trio.sleep_forever()
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": body is not None and bool(parts or part)}

    async def send(message: Any) -> None:
        told.append(message)

    await app(scope, receive, send)
    found = {name.decode(): value.decode() for name, value in told[0]["headers"]}
    return told[0]["status"], found, b"".join(message.get("body", b"") for message in told[1:])


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (200, {}),
        (200, {"headers": {"host": HOST.upper()}}),
        (421, {"headers": {"host": "rebound.example"}}),
        (421, {"headers": {"host": None}}),
        (421, {"headers": {"host": f"{HOST}:99"}}),
        (421, {"headers": {"host": f"{HOST}.evil.example"}}),
        (505, {"http_version": "2"}),
        (405, {"method": "PUT"}),
        (405, {"method": "TRACE"}),
        (405, {"method": "CONNECT"}),
        (405, {"method": "OPTIONS"}),
        (414, {"path": "/" + "x" * 2000}),
        (404, {"path": "/a\nb"}),
        (404, {"path": "/\x1b[2J"}),
        (404, {"path": "/\u202egnp.exe"}),
        (400, {"headers": {"content-length": "5"}}),
        (400, {"headers": {"transfer-encoding": "chunked"}}),
        (403, {"method": "POST", "headers": {"content-length": "2"}}),
        (403, {"method": "POST", "headers": {**POST, "origin": "null"}}),
        (403, {"method": "POST", "headers": {**POST, "origin": "https://evil.example"}}),
        (403, {"method": "POST", "headers": {**POST, "origin": f"https://{HOST}.evil.example"}}),
        (403, {"method": "POST", "headers": {**POST, "sec-fetch-site": "cross-site"}}),
        (403, {"method": "POST", "headers": {**POST, "sec-fetch-site": "same-site"}}),
        (405, {"method": "DELETE", "headers": {"content-length": "0"}}),
        (403, {"method": "POST", "headers": {"content-length": "2", "authorization": "Basic eDp5"}}),
        (411, {"method": "POST", "headers": {**POST, "content-length": None}}),
        (411, {"method": "POST", "headers": {**POST, "content-length": "-1"}}),
        (411, {"method": "POST", "headers": {**POST, "content-length": "1e3"}}),
        (411, {"method": "POST", "headers": {**POST, "content-length": "\u0662"}}),
        (411, {"method": "POST", "headers": {**POST, "transfer-encoding": "chunked"}}),
        (413, {"method": "POST", "headers": {**POST, "content-length": "16385"}}),
        (413, {"method": "POST", "headers": {**POST, "content-length": "9" * 400}}),
        (413, {"method": "POST", "path": "/large", "headers": {**POST, "content-length": "1001"}}),
        (200, {"method": "POST", "headers": POST, "body": [b"{", b"}", b""]}),
        (200, {"method": "POST", "headers": {"content-length": "2", "authorization": "Bearer wl-1-x"}}),
        (500, {"path": "/bug"}),
    ],
)
def test_what_is_answered(status: int, request_: dict[str, Any]) -> None:
    """Each hostile request has its refusal; what is right is answered; every answer has the same guards."""

    async def main() -> None:
        found, headers, body = await ask(guarded(), **request_)
        assert (found, b"a bug" in body) == (status, False)
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"

    trio.run(main)


@pytest.mark.parametrize(
    ("behind", "told", "seen"),
    [
        (True, ["203.0.113.1, 198.51.100.2"], "198.51.100.2"),
        (True, ["203.0.113.1", "198.51.100.2"], "198.51.100.2"),
        (True, [], "127.0.0.1"),
        (False, ["203.0.113.1"], "127.0.0.1"),
    ],
)
def test_the_application_sees_whom_the_proxy_saw(behind: bool, told: list[str], seen: str) -> None:
    """Behind a proxy a caller's address is what the proxy said last, not what the caller put in front of it."""
    found: list[str] = []

    async def note(request: Request) -> Response:
        found.append("" if request.client is None else request.client.host)
        return PlainTextResponse("")

    async def main() -> None:
        app = RequestMiddleware(
            Starlette(routes=[Route("/", note)]), hosts=frozenset({HOST}), behind_proxy=behind
        )
        lines = [(b"host", HOST.encode()), *((b"x-forwarded-for", line.encode()) for line in told)]
        assert (await ask(app, client=("127.0.0.1", 5), lines=lines))[0] == 200

    trio.run(main)
    assert found == [seen]


def test_a_websocket_is_refused() -> None:
    """With a status and a reason, before anything is accepted; not as a failure of the server."""

    async def main() -> None:
        told: list[Any] = []

        async def send(message: Any) -> None:
            told.append(message)

        scope: dict[str, Any] = {
            "type": "websocket",
            "path": "/api/leagues",
            "http_version": "1.1",
            "extensions": {},
        }
        scope |= {"headers": [(b"host", HOST.encode())], "client": ("203.0.113.7", 1234)}
        await guarded()(scope, trio.sleep_forever, send)
        assert [message["type"].rpartition(".")[0] for message in told] == [
            "websocket.http.response",
            "websocket.http.response",
        ]
        assert (told[0]["status"], told[1]["body"]) == (400, b'{"error":"this server has no WebSockets"}')

    trio.run(main)


def test_a_body_that_is_longer_than_it_said(autojump_clock: trio.abc.Clock) -> None:
    """It is not read to its end, whatever its length was said to be."""

    async def main() -> None:
        status, _, _ = await ask(guarded(), "/large", "POST", [b"x" * 600, b"x" * 600], headers=POST)
        assert status == 413

    trio.run(main, clock=autojump_clock)


def test_a_body_that_does_not_come(autojump_clock: trio.abc.Clock) -> None:
    """A body that stops has half a minute; the answer says how fast it must come, and what to do."""

    async def main() -> None:
        begun = trio.current_time()
        status, _, body = await ask(guarded(), "/", "POST", [b"x"], headers=POST)
        assert status == 408
        assert b": 1 bytes in 30 s, " in body
        assert b"Send it over a faster line, or make it smaller." in body
        assert 29 < trio.current_time() - begun < 31

    trio.run(main, clock=autojump_clock)


@pytest.mark.parametrize(("rate", "status"), [(60_000, 200), (10_000, 408)])
def test_a_body_has_time_by_its_size(rate: int, status: int, autojump_clock: trio.abc.Clock) -> None:
    """A large upload over a slow line takes minutes; one far below the least rate ends before it is complete."""
    parts = 100
    app = RequestMiddleware(
        Starlette(routes=[Route("/large", _answer, methods=["POST"])]),
        hosts=frozenset({HOST}),
        bodies={"/large": 16 << 20},
    )

    async def main() -> None:
        told: list[Any] = []
        left = parts

        async def receive() -> Any:
            nonlocal left
            left -= 1
            await trio.sleep((16 << 20) / parts / rate)
            return {"type": "http.request", "body": bytes((16 << 20) // parts), "more_body": left > 0}

        async def send(message: Any) -> None:
            told.append(message)

        lines = {"host": HOST, "origin": f"https://{HOST}", "content-length": str(16 << 20)}
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": "/large",
            "query_string": b"",
        }
        scope |= {
            "headers": [(name.encode(), line.encode()) for name, line in lines.items()],
            "client": ("a", 1),
        }
        await app(scope, receive, send)
        assert told[0]["status"] == status

    trio.run(main, clock=autojump_clock)


def test_rates() -> None:
    """An address has a burst and then waits; others are not hindered; behind a proxy it is the visitor who counts."""

    async def main() -> None:
        app = guarded(limits=RequestLimits(per_s=1e-6, burst=3))
        assert [(await ask(app))[0] for _ in range(5)] == [200, 200, 200, 429, 429]
        assert (await ask(app, client=("203.0.113.8", 1)))[0] == 200
        assert (await ask(app, client=("127.0.0.1", 1)))[0] == 200
        assert [(await ask(app, client=("127.0.0.1", 1)))[0] for _ in range(9)] == [200] * 9
        app = guarded(limits=RequestLimits(per_s=1e-6, burst=1), behind_proxy=True)
        visitors = ["1.1.1.1", "9.9.9.9, 1.1.1.2", "9.9.9.9, 1.1.1.2", "1.1.1.1"]
        found = [
            (await ask(app, client=("127.0.0.1", 1), headers={"x-forwarded-for": visitor}))[0]
            for visitor in visitors
        ]
        assert found == [200, 200, 429, 429]
        assert app.refused == 2

    trio.run(main)


def test_open_requests_are_counted(autojump_clock: trio.abc.Clock) -> None:
    """An address may keep so many pages open, and all addresses together so many; what ends makes room."""

    async def main() -> None:
        async def hold(*_: Any) -> None:
            await trio.sleep(10)

        app = RequestMiddleware(
            hold, hosts=frozenset({HOST}), limits=RequestLimits(streams=2, all_requests=3)
        )
        found: list[int] = []

        async def one(address: str) -> None:
            try:
                found.append((await ask(app, client=(address, 1)))[0])
            except IndexError:
                found.append(0)  # it was let in, and had no answer

        async with trio.open_nursery() as nursery:
            for address in ("a", "a", "a", "b", "c"):
                nursery.start_soon(one, address)
                await trio.testing.wait_all_tasks_blocked()
        assert found == [429, 503, 0, 0, 0]
        assert app.open == 0

    trio.run(main, clock=autojump_clock)
