"""What tests of an arena share: leagues with an arena of their own, a client that speaks to it without a network."""

import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, urlencode

import attrs
import trio
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from tests.league.fakes import fakeplay

from warpleague.arena.submissions import accounts, api, jobs, on_demand, versions
from warpleague.arena.submissions.ledger import SANDBOX, Ledger
from warpleague.arena.submissions.requests import BODY_LIMITS, RequestHandler
from warpleague.arena.submissions.workers import run_challenges
from warpleague.arena.web.app import App
from warpleague.arena.web.league_feed import LeagueFeed
from warpleague.arena.web.middleware import RequestMiddleware
from warpleague.arena.web.renderer import LeagueFiles, freeze_time_s, league_page
from warpleague.arena.web.server import OPERATIONS, all_routes, author_routes
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.running import StopWhen, run_league
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.league.season.season import Season
from warpleague.league.store.store import Store
from warpleague.match.spec import MatchResult, MatchSpec, SeatLog
from warpleague.match.zstd import ZstdCompressor
from warpleague.report.site.page_frame import render
from warpleague.report.site.page_frame import served as served_frame
from warpleague.runner.findings import Finding

HOST: Final = "127.0.0.1:8000"
LEAGUE: Final = """
bots = ["bots/random-python", "bots/aliens-greedy"]
[game]
id = "aliens"
options = { max_turns = 10 }
[format]
kind = "ladder"
[rules]
level = "sandbox"
"""
BOT: Final = """
name = "mine"
games = ["aliens"]
run = ["python3", "bot.py"]
"""


class PlainApp:
    """An application without leagues' pages."""

    root = "/"

    def __init__(self, results: Path, *configs: LeagueConfig) -> None:
        self.results = results
        self.leagues = {config.name: config for config in configs}
        self.rendered: list[str] = []
        """The leagues whose pages were to be made again."""

    def render_again(self, league: str) -> None:
        self.rendered.append(league)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        words = {"root": self.root, "title": "Test", "leagues": list(self.leagues), "submits": True}
        return HTMLResponse(
            render(template, frame=served_frame("server", "/", "self"), stamp="", server=words, **values),
            status,
        )


@attrs.frozen
class Answer:
    """An answer: its status, its headers and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """A visitor: keeps its cookie, and sends what it is told to, with the headers of a browser on the same site."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.cookie = ""
        self.form = ""

    def ask(
        self, method: str, path: str, body: bytes = b"", *, cut_at: int | None = None, **headers: Any
    ) -> Answer:
        """The answer to a request; a header that is None is left out. The body may be cut off."""
        return trio.run(self.ask_app, self.scope(method, path, body, **headers), body, cut_at)

    def scope(self, method: str, path: str, body: bytes = b"", **headers: Any) -> dict[str, Any]:
        """What an application is told of a request."""
        sent: dict[str, str | None] = {"host": HOST, "cookie": self.cookie or None}
        if method == "POST":
            sent |= {"origin": f"http://{HOST}", "content-length": str(len(body))}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        where, _, query = path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(where),
            "raw_path": quote(where, safe="/%").encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in sent.items() if v is not None],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8000),
        }

    async def ask_app(self, scope: dict[str, Any], body: bytes = b"", cut_at: int | None = None) -> Answer:
        """The answer to a request, on the event loop that runs."""
        parts: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
        if cut_at is not None:
            parts = [
                {"type": "http.request", "body": body[:cut_at], "more_body": True},
                {"type": "http.disconnect"},
            ]
        told: list[Any] = []

        async def receive() -> dict[str, Any]:
            if parts:
                return parts.pop(0)
            await trio.sleep_forever()
            raise AssertionError

        async def send(message: Any) -> None:
            told.append(message)

        await self.app(scope, receive, send)
        if not told:
            return Answer(0, {}, b"")
        headers = {name.decode(): value.decode("latin-1") for name, value in told[0]["headers"]}
        if "set-cookie" in headers:
            found = SimpleCookie(headers["set-cookie"])["warpleague"]
            self.cookie = f"warpleague={found.value}" if found.value else ""
        body = b"".join(message.get("body", b"") for message in told[1:])
        return Answer(told[0]["status"], headers, body)

    def post(self, path: str, fields: dict[str, str], **headers: Any) -> Answer:
        """Send a form, with the text of the session unless another one is given."""
        data = urlencode({"form": self.form, **fields}).encode()
        headers = {"content_type": "application/x-www-form-urlencoded", **headers}
        return self.ask("POST", path, data, **headers)

    def upload(self, archive: bytes, league: str = "cup", **fields: str) -> Answer:
        """Send the upload form."""
        parts = {"form": self.form, "league": league, **fields}
        body = b"".join(
            f'--xyz\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in parts.items()
        )
        head = '--xyz\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n\r\n'
        body += head.encode() + archive + b"\r\n--xyz--\r\n"
        return self.ask("POST", "/submit/upload", body, content_type="multipart/form-data; boundary=xyz")

    def log_in(self, token: str) -> None:
        """Begin a session."""
        assert self.post("/submit/login", {"token": token}).status == 303
        self.form = self.ask("GET", "/submit").text.partition('name="form" value="')[2].partition('"')[0]
        assert self.form


def player(
    played: list[MatchSpec],
    strength: Callable[[str], float] | None = None,
    outcome: Exception | Literal["late", ""] = "",
) -> Callable[[MatchSpec, float, bool], MatchResult | None]:
    """Plays matches of bots that always answer 0, and notes them in `played`.

    With `strength`, of a bot's content, the stronger bot wins. With an `outcome` no match has a result.
    """

    def play(spec: MatchSpec, seconds: float, log: bool) -> MatchResult | None:
        assert (seconds, log, spec.level, spec.private) == (300.0, True, "sandbox", True)
        played.append(spec)
        if isinstance(outcome, Exception):
            raise outcome
        if outcome == "late":
            return None
        logs = tuple(SeatLog.of(f"said {seat.bot}", "wire") for seat in spec.seats)
        found = attrs.evolve(fakeplay.play_refereed(spec), logs=logs)
        if strength is None:
            return found
        levels = tuple(strength(seat.digest) for seat in spec.seats)
        ranks = tuple(1 + sum(other > own for other in levels) for own in levels)
        return attrs.evolve(found, ranks=ranks, scores=levels, faults=tuple(() for _ in levels))

    return play


class ArenaHarness:
    """A league called cup with two authors, an organiser, and pages for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        (folder / "cup.toml").write_text(LEAGUE)
        self.config = load_config(folder / "cup.toml")
        self.ledger = Ledger.open(self.results)
        self.tokens = {
            name: accounts.add_author(self.ledger, name, "test", organiser=name == "olga")
            for name in ("ada", "bob", "olga")
        }
        self.app = PlainApp(self.results, self.config)
        self.handler = RequestHandler(self.app)
        routes = Starlette(routes=author_routes(self.handler))
        self.server = RequestMiddleware(routes, hosts=frozenset({HOST}), bodies=BODY_LIMITS)

    def close(self) -> None:
        """Close the ledger, which the pages have open, too."""
        self.handler.close()
        self.ledger.close()

    def client(self, author: str | None = None) -> Client:
        """A visitor, or an author with a session."""
        client = Client(self.server)
        if author is not None:
            client.log_in(self.tokens[author])
        return client

    def author(self, name: str) -> accounts.Author:
        """An author."""
        return accounts.author_named(self.ledger, name)

    def bot(self, manifest: str = BOT, **files: str) -> bytes:
        """The archive of a bot."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, text in {"bot.toml": manifest, "bot.py": "", **files}.items():
                head = tarfile.TarInfo(name)
                head.size = len(text.encode())
                archive.addfile(head, io.BytesIO(text.encode()))
        return out.getvalue()

    def submit(self, author: str, data: bytes, league: str = "cup", *, trial_deals: int | None = None) -> int:
        """Submit an archive; its number."""
        who = self.author(author)
        return versions.submit(self.ledger, who, league, data, trial_deals=trial_deals).id

    def submission(self, number: int) -> jobs.Submission:
        """A submission."""
        return versions.submission(self.ledger, number)

    def claim(self) -> int | None:
        """Begin the next check, as the checker does."""
        return jobs.claim(self.ledger, jobs.SUBMISSION)

    def refuse(self, number: int, text: str, code: str = "bundle", state: str = "refused") -> None:
        """Refuse a submission that is being checked."""
        what = code if state == "failed" else "bundle"
        versions.refuse(self.ledger, number, Finding(what, "failed", text, code), state=state)

    def active(self) -> list[int]:
        """The numbers of the versions that play in cup."""
        return [one.id for one in versions.versions_in(self.ledger, "cup", active=True)]

    def accepted(self, author: str, bot: str = "mine", version: str = "1", content: str = "") -> int:
        """The number of a submission that was accepted, by a checker that looks at nothing."""
        data = self.bot(BOT.replace('"mine"', f'"{bot}"'), **{"notes.txt": content + version})
        number = self.submit(author, data)
        with self.ledger.writing() as db:
            db.execute("UPDATE job SET state = 'checking', claims = 1 WHERE id = ?", (number,))
        versions.add_finding(self.ledger, number, Finding("bundle", "ok", "<script>alert(1)</script>"))
        versions.accept(self.ledger, number, bot, version, f"{number:064x}")
        return number

    def play_all(self, play: Any, *more: LeagueConfig) -> None:
        """Play all matches on demand and trials that wait, as the worker does."""
        leagues = {config.name: config for config in (self.config, *more)}
        run_challenges(self.ledger, leagues, lambda _: False, once=True, play=play)

    def end_season(self) -> None:
        """Let the season be over, and its secret public."""
        season = Season.of(self.config, (), bytes(32))
        with Store.open_to_write(self.results / "cup") as store:
            store.commit(self.config, season)
            store.publish_secret()

    def sandbox(self, told: str) -> None:
        """Let the probe of the sandbox have said this."""
        self.ledger.set(SANDBOX, told, "test")


# -- the JSON API of a league that was played ---------------------------------------------------------------

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
    """Renders in this process, after so many `seconds`."""

    waiting = 0
    seconds = 0.0

    def __init__(self) -> None:
        self.made: list[str] = []

    async def make(self, function: Callable[..., Any], *arguments: Any, ahead: bool = False) -> Any:  # noqa: ARG002
        """As the renderer of a server."""
        self.made.append(function.__name__)
        await trio.sleep(self.seconds)
        return function(*arguments)


class ApiHarness(ArenaHarness):
    """The same, with a second league called played: six matches of two bots, one of them ada's."""

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
            run_league(league, executor=Inline(), play=fakeplay.play, stop_when=StopWhen(more_may_come=True))
        number = self.accepted("ada", "mine")
        with self.ledger.writing() as db:
            db.execute("UPDATE job SET league = 'played', digest = 'digest of mine' WHERE id = ?", (number,))
        self.number = number
        with Store.open_to_read(self.results / "played") as store:
            self.matches = [str(match) for match in store.ids()]
        logs = self.results / "played" / "logs" / "mine"
        logs.mkdir(parents=True)
        for match in self.matches:
            for seat in (0, 1):
                (logs / f"{match}-{seat}.stderr.txt").write_text("said")
        ada = self.author("ada")
        self.challenge = on_demand.ask_challenge(self.ledger, self.played, ada, "mine", ["loser"]).id
        with self.ledger.writing() as db:
            self.trial = versions.add_trial(
                self.ledger, db, ada, "played", number, {"deals": 3}, state="checking"
            )
        packed = ZstdCompressor().compress(b"{}\n", ZstdCompressor.FLUSH_FRAME)
        log = {"stderr": "said", "wire": "sent"}
        result = {"order": [0, 1], "ranks": [1, 2]}
        assert jobs.claim(self.ledger, jobs.CHALLENGE) == self.challenge
        on_demand.finish_challenge(self.ledger, self.challenge, result, packed, log)
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
                LeagueFiles(config.path, self.results),
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
            feed.page = league_page(feed.files, self.whole.words(), 1)

    def ask(
        self, method: str, path: str, author: str | None = None, body: bytes = b"", **more: Any
    ) -> Answer:
        """The answer to a request with the token of an author."""
        if author is not None:
            more["authorization"] = f"Bearer {self.tokens.get(author, author)}"
        return Client(self.api).ask(method, path, body, **more)

    def answer(self, method: str, path: str, body: bytes, **headers: Any) -> Answer:
        """As `served` asks."""
        return self.ask(method, path, None, body, **headers)

    def values(self) -> dict[str, list[str]]:
        """Values that there are, by the names of parameters."""
        return {
            "league": ["played", "cup"],
            "bot": ["mine", "loser"],
            "match": self.matches,
            "table": ["status", "crosstable", "bracket", "seats", "faults", "times", "services"],
            "number": [str(number) for number in (self.number, self.challenge, self.trial)],
            "kind": ["stderr", "wire"],
        }

    def address(self, path: str) -> str:
        """The address of an operation, with values that there are in the place of its parameters."""
        numbers = {"submissions": self.number, "challenges": self.challenge, "trials": self.trial}
        path = path.replace("{number}", str(numbers.get(path.split("/")[2])))
        for name, values in self.values().items():
            path = path.replace("{" + name + "}", values[0])
        return path


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return api.document(OPERATIONS)


@attrs.frozen
class ApiRequest:
    """A request: the operation as the document has it, and what is sent."""

    operation: dict[str, Any]
    method: str
    path: str
    author: str | None = None
    body: bytes = b""
    headers: dict[str, str] = attrs.Factory(dict)

    def send(self, arena: ApiHarness) -> Answer:
        """The answer."""
        return arena.ask(self.method, self.path, self.author, self.body, **self.headers)


def api_requests(arena: ApiHarness) -> SearchStrategy[ApiRequest]:
    """Requests of every operation of the document, with values that there are, and others."""
    found = [
        (path, method, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]
    return st.sampled_from(found).flatmap(lambda one: _requests(arena, *one))


def _requests(
    arena: ApiHarness, path: str, method: str, operation: dict[str, Any]
) -> SearchStrategy[ApiRequest]:
    known = arena.values()

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
        archive = arena.bot(BOT)
        bodies = st.one_of(st.binary(max_size=200), st.just(archive), _json_bodies(arena, content))
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


def _json_bodies(arena: ApiHarness, content: dict[str, Any]) -> SearchStrategy[bytes]:
    """Objects with the keys of the body, with values that there are, and others; else anything."""
    schema = content.get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    properties = document()["components"]["schemas"].get(name, {}).get("properties", {})
    known = arena.values()
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
def served(ask: Callable[..., Answer | None]) -> Iterator[str]:
    """The address of a server that answers with `ask(method, path, body, **headers)`; None breaks the connection."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(b"")

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["content-length"])))

        def answer(self, body: bytes) -> None:
            headers: dict[str, Any] = {"authorization": self.headers["authorization"]}
            if self.headers["content-type"]:
                headers["content_type"] = self.headers["content-type"]
            found = ask(self.command, self.path, body, **headers)
            if found is None:
                self.close_connection = True
                return
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
