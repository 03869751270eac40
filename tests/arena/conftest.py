"""Shares an arena without a network, and a page on which persons play, served to a client that speaks HTTP."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from tests.arena.harness import ArenaHarness
from tests.waiting import PATIENCE_S

from warpleague.arena.play.page import PlayPage, serving
from warpleague.arena.play.sitting import Sitting
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.runner.play import end_idle

Serve = Callable[..., AbstractAsyncContextManager["Table"]]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ArenaHarness]:
    """A league called cup with two authors, an organiser, and pages for them."""
    found = ArenaHarness(tmp_path)
    yield found
    found.close()


class Client:
    """What a page does, without a browser: it reads the news, and asks for things."""

    def __init__(self, address: str) -> None:
        host, _, rest = address.removeprefix("http://").partition("/")
        self.host = host
        self.root = f"/{rest}"
        self.state: dict[str, Any] = {"phase": ""}
        self.told: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.stream: Generator[dict[str, Any], None, None] | None = None
        self.connection: HTTPConnection | None = None

    def request(self, method: str, path: str, body: Any = None, **headers: str | None) -> tuple[int, bytes]:
        """Status and body of an answer; a header that is None is left out."""
        connection = HTTPConnection(self.host, timeout=PATIENCE_S)
        sent: dict[str, str | None] = {"host": self.host}
        data = None
        if method == "POST":
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent |= {"origin": f"http://{self.host}", "content-type": "application/json"}
            sent["content-length"] = str(len(data))
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def get(self, path: str, **headers: str | None) -> tuple[int, bytes]:
        """A page or a file."""
        return self.request("GET", self.root + path, **headers)

    def do(self, do: str, **wanted: Any) -> tuple[int, bytes]:
        """Ask for something about the question that was told last."""
        question = self.state.get("question") or {}
        body = {
            "do": do,
            "match": self.state["match"],
            "question": question.get("id"),
            "chosen": len(question.get("chosen", [])),
            **wanted,
        }
        return self.request("POST", self.root + "do", body)

    def hear(self) -> dict[str, Any]:
        """The next message of the server, its state kept."""
        if self.stream is None:
            self.stream = self.listen()
        message = next(self.stream)
        self.messages.append(message)
        self.state = message["state"]
        if message.get("reset"):
            self.told = []
        for frame in message["frames"]:
            self.told += frame["told"]
        return message

    def until(self, *phases: str) -> dict[str, Any]:
        """The state once it is in one of the phases."""
        self.hear()
        while self.state["phase"] not in phases:
            self.hear()
        return self.state

    def listen(self) -> Generator[dict[str, Any], None, None]:
        self.connection = HTTPConnection(self.host, timeout=PATIENCE_S)
        self.connection.request("GET", self.root + "news")
        with self.connection.getresponse() as answer:
            assert answer.status == 200
            while line := answer.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def close(self) -> None:
        """Hear no more."""
        if self.connection is not None and self.stream is not None:
            self.stream.close()
            self.connection.close()


@attrs.frozen
class Table:
    """A sitting that is served, and the address of its page."""

    sitting: Sitting
    address: str

    async def run(self, play: Callable[[Client], Any]) -> Any:
        """What `play` returns, which waits for the network, and so runs in a thread."""
        client = Client(self.address)
        try:
            return await trio.to_thread.run_sync(play, client, abandon_on_cancel=True)
        finally:
            client.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves a sitting; persons are names, other seats random bots. The seats move on with each match."""

    @asynccontextmanager
    async def serve(
        game_id: str,
        *players: str | None,
        options: dict[str, Any] | None = None,
        bot: str = "bots/random-python",
    ) -> AsyncIterator[Table]:
        game = load_game(game_id)
        run = (sys.executable, "-P", str(shipped_root() / "bots/random-python/bot.py"))
        seats = [
            SeatSpec("random", "1", "random", run) if name is None else SeatSpec(name, kind="person")
            for name in players
        ]

        def spec_of(number: int) -> MatchSpec:
            turned = seats[-number:] + seats[:-number] if number else seats
            return MatchSpec(
                id=f"match-{number}",
                game=game_id,
                options=options_json(game.Options(**(options or {}))),
                seats=tuple(turned),
                key=match_key(f"arena {number}"),
                seed=f"arena {number}",
                clock=TimeControl(move_s=30.0, start_s=60.0),
            )

        sitting = Sitting(spec_of)
        async with serving(PlayPage(sitting, bot).app()) as address, trio.open_nursery() as nursery:
            nursery.start_soon(sitting.run)
            yield Table(sitting, address)
            nursery.cancel_scope.cancel()

    yield serve
    end_idle()
