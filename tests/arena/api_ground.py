"""What tests of the JSON API share: a server without a network, with a league that was played, and random requests."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

import attrs
from hypothesis import strategies as st
from tests.arena.submission_ground import BOT, HOST, Answer, Client, Ground
from tests.league.fakes import fakeplay

from warpleague.arena.submissions import challenges, trials
from warpleague.arena.submissions.requests import BODY_LIMITS, RequestHandler
from warpleague.arena.web.app import App
from warpleague.arena.web.league_feed import LeagueFeed
from warpleague.arena.web.middleware import RequestMiddleware
from warpleague.arena.web.openapi import document
from warpleague.arena.web.renderer import freeze_time_s, league_page
from warpleague.arena.web.server import all_routes
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.running import run_league
from warpleague.league.season.config import load_config
from warpleague.league.store.store import Store
from warpleague.match.zstd import ZstdCompressor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

_LETTERS: Final = st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co", "Zl", "Zp", "Zs"])
PLAYED: Final = """
bots = ["bots/{}", "bots/loser"]
[game]
id = "aliens"
options = {{ max_turns = 10 }}
[format]
deals = 3
[rules]
level = "sandbox"
"""


class Inline(Executor):
    """Runs a call when it is submitted."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """As any executor."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class InlineRenderer:
    """Renders in this process."""

    waiting = 0

    async def make(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """As the renderer of a server."""
        return function(*arguments)


class ApiGround(Ground):
    """The ground of submissions, with a second league called played: six matches of two bots, one of them ada's."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.requests: list[RequestHandler] = []
        (folder / "bots" / "loser").mkdir(parents=True)
        mine = folder / "bots" / "mine"
        mine.mkdir()
        path = folder / "played.toml"
        path.write_text(PLAYED.format("mine"))
        self.played = load_config(path)
        with open_to_run(self.played, self.results, fakeplay.prepare) as league:
            run_league(league, executor=Inline(), play=fakeplay.play, publish=False)
        number = self.accepted("ada", "mine")
        with self.ledger.writing() as db:
            db.execute(
                "UPDATE submission SET league = 'played', digest = ? WHERE id = ?", ("digest of mine", number)
            )
        self.submission = number
        with Store.open_to_read(self.results / "played") as store:
            self.matches = [str(match) for match in store.ids()]
        logs = self.results / "played" / "logs" / "mine"
        logs.mkdir(parents=True)
        for match in self.matches:
            for seat in (0, 1):
                (logs / f"{match}-{seat}.stderr.txt").write_text("said")
        asked = challenges.ask(self.ledger, self.played, self.author("ada"), "mine", ["loser"])
        self.challenge = asked.id
        with self.ledger.writing() as db:
            trials.begin(self.ledger, db, self.author("ada"), number, 3)
        packed = ZstdCompressor().compress(b"{}\n", ZstdCompressor.FLUSH_FRAME)
        log = {"stderr": "said", "wire": "sent"}
        result = {"order": [0, 1], "ranks": [1, 2]}
        challenges.settle(self.ledger, asked.id, result=result, record=packed, log=log)
        self.serve()

    def close(self) -> None:
        """Close the ledger, which each server has open, too."""
        for requests in self.requests:
            requests.close()
        super().close()

    def serve(self, arena: str = "") -> None:
        """Serve the leagues, with this text in the file of the one that was played."""
        path = self.played.path
        path.write_text(PLAYED.format("mine") + arena)
        self.played = load_config(path)
        renderer: Any = InlineRenderer()
        self.feeds = [
            LeagueFeed(
                config.name,
                config.path,
                self.results,
                renderer,
                delay_s=0.0,
                pages_mb=1,
                freeze_at_s=freeze_time_s(config),
            )
            for config in (self.config, self.played)
        ]
        configs = {config.name: config for config in (self.config, self.played)}
        self.whole = App(self.feeds, configs, self.results, submits=True)
        self.render()
        self.requests.append(RequestHandler(self.whole))
        self.handlers = all_routes(self.whole, self.requests[-1])
        self.api = RequestMiddleware(
            self.whole.app(self.handlers), hosts=frozenset({HOST}), bodies=BODY_LIMITS
        )

    def render(self) -> None:
        """Make the pages of the leagues, as their feeds do."""
        for feed in self.feeds:
            feed.page = league_page(feed.path, self.results, self.whole.words(), 1)

    def ask(
        self, method: str, path: str, author: str | None = None, body: bytes = b"", **more: Any
    ) -> Answer:
        """The answer to a request with the token of an author."""
        if author is not None:
            more["authorization"] = f"Bearer {self.tokens.get(author, author)}"
        return Client(self.api).ask(method, path, body, **more)

    def values(self) -> dict[str, list[str]]:
        """Values that there are, by the names of parameters."""
        return {
            "league": ["played", "cup"],
            "bot": ["mine", "loser"],
            "match": self.matches,
            "table": ["status", "crosstable", "bracket", "seats", "faults", "times", "services"],
            "number": [str(self.submission)],
            "kind": ["stderr", "wire"],
        }


@attrs.frozen
class ApiRequest:
    """A request: the operation as the document has it, and what is sent."""

    operation: dict[str, Any]
    method: str
    path: str
    author: str | None = None
    body: bytes = b""
    headers: dict[str, str] = attrs.Factory(dict)

    def send(self, ground: ApiGround) -> Answer:
        """The answer."""
        return ground.ask(self.method, self.path, self.author, self.body, **self.headers)


def api_requests(ground: ApiGround) -> SearchStrategy[ApiRequest]:
    """Requests of every operation of the document, with values that there are, and others."""
    found = [
        (path, method, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]
    return st.sampled_from(found).flatmap(lambda one: _requests(ground, *one))


def _requests(
    ground: ApiGround, path: str, method: str, operation: dict[str, Any]
) -> SearchStrategy[ApiRequest]:
    known = ground.values()

    def value(parameter: dict[str, Any]) -> SearchStrategy[str | None]:
        schema = parameter["schema"]
        odd: list[SearchStrategy[Any]] = [st.text(_LETTERS, min_size=1, max_size=30), st.text(max_size=5)]
        if schema["type"] == "integer":
            odd.append(st.sampled_from(["-1", "1e3", "٣", "", "9" * 40]))
        good: list[SearchStrategy[Any]] = []
        if parameter["name"] in known:
            good.append(st.sampled_from(known[parameter["name"]]))
        elif schema["type"] == "integer":
            good.append(st.integers(0, schema.get("maximum", 1 << 80)).map(str))
        if parameter["in"] == "query":
            good.append(st.none())
        # Most values are good, since a request with an odd one is refused for it.
        return st.integers(0, 9).flatmap(lambda n: st.one_of(good if n < 9 and good else odd))

    parameters = operation["parameters"]
    bodies: SearchStrategy[bytes] = st.just(b"")
    kinds: SearchStrategy[str | None] = st.none()
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]
        kinds = st.sampled_from([*content, "text/html"])
        archive = ground.bot(BOT)
        bodies = st.one_of(st.binary(max_size=200), st.just(archive), _json_bodies(ground, content))
    return st.builds(
        lambda values, author, body, kind: ApiRequest(
            operation,
            method.upper(),
            _address(path, parameters, values),
            author,
            body,
            {} if kind is None else {"content_type": kind},
        ),
        st.tuples(*(value(parameter) for parameter in parameters)),
        st.sampled_from([*["ada", "bob", "olga"] * 20, None, "wl-1-nonsense", "é"]),
        bodies,
        kinds,
    )


def _json_bodies(ground: ApiGround, content: dict[str, Any]) -> SearchStrategy[bytes]:
    """Objects with the keys of the body, with values that there are, and others; else anything."""
    schema = content.get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    properties = document()["components"]["schemas"].get(name, {}).get("properties", {})
    known = ground.values()
    plain = (
        st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.lists(st.integers(), max_size=2)
    )
    values = {key: st.sampled_from(known.get(key, ["?"])) | plain for key in properties}
    return st.fixed_dictionaries({}, optional=values).map(lambda found: json.dumps(found).encode())


def _address(path: str, parameters: list[dict[str, Any]], values: tuple[str | None, ...]) -> str:
    query = {}
    for parameter, value in zip(parameters, values, strict=True):
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(value or "-", safe=""))
        elif value is not None:
            query[parameter["name"]] = value
    return path + (f"?{urlencode(query)}" if query else "")


@contextmanager
def served(ground: ApiGround) -> Iterator[str]:
    """The address of a server that answers as the one of the ground does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(b"")

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["content-length"])))

        def answer(self, body: bytes) -> None:
            more: dict[str, Any] = {"authorization": self.headers["authorization"]}
            if self.headers["content-type"]:
                more["content_type"] = self.headers["content-type"]
            found = ground.ask(self.command, self.path, None, body, **more)
            self.send_response(found.status)
            self.send_header("content-length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
