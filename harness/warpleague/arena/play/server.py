"""Serves the play page on a port of the loopback address, in the trio loop that plays the matches."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from warpleague.arena.play.token_guard import TokenGuard, new_token
from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp

LOOPBACK: Final = "127.0.0.1"


@asynccontextmanager
async def serving(app: ASGIApp, *, port: int = 0, token: str | None = None) -> AsyncIterator[str]:
    """Serve `app` behind a token while the block runs; the address of its first page.

    Without a `port` the system chooses one that is free; without a `token` a new one is made.
    """
    token = token or new_token()
    guard = TokenGuard(app, token)
    config = Config()
    config.bind = [f"{LOOPBACK}:{port}"]
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
        guard.hosts = frozenset({f"{LOOPBACK}:{bound_port}", f"localhost:{bound_port}"})
        yield f"http://{LOOPBACK}:{bound_port}/{token}/"
        nursery.cancel_scope.cancel()
