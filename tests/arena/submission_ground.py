"""What tests of submissions share: a league with an arena of its own, a client that speaks to it without a network."""

from __future__ import annotations

import io
import json
import tarfile
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlencode

import attrs
import trio

from warpleague.arena.submissions import accounts, versions
from warpleague.arena.submissions.ledger import Ledger
from warpleague.arena.submissions.requests import BODY_LIMITS, RequestHandler
from warpleague.arena.submissions.workers import SANDBOX
from warpleague.arena.web.middleware import RequestMiddleware
from warpleague.arena.web.server import routes_of
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.league.season.season import Season
from warpleague.league.store.store import Store
from warpleague.report.site.page_frame import render, served
from warpleague.runner.checkup import Finding

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.responses import Response


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


class App:
    """An application without leagues' pages."""

    def __init__(self, results: Path, *configs: LeagueConfig) -> None:
        self.results = results
        self.leagues = {config.name: config for config in configs}
        self.rendered: list[str] = []
        """The leagues whose pages were to be made again."""

    def render_again(self, league: str) -> None:
        self.rendered.append(league)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        from starlette.responses import HTMLResponse

        words = {"title": "Test", "leagues": list(self.leagues), "submits": True}
        return HTMLResponse(
            render(template, frame=served("server", "/", "self"), stamp="", server=words, **values), status
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
        sent: dict[str, str | None] = {"host": HOST, "cookie": self.cookie or None}
        if method == "POST":
            sent |= {"origin": f"http://{HOST}", "content-length": str(len(body))}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        where, _, query = path.partition("?")
        scope = {
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
        return trio.run(self.ask_app, scope, body, cut_at)

    async def ask_app(self, scope: dict[str, Any], body: bytes, cut_at: int | None) -> Answer:
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


class Ground:
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
        self.app = App(self.results, self.config)
        from starlette.applications import Starlette

        self.handler = RequestHandler(self.app)
        routes = Starlette(routes=routes_of(self.handler))
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

    def accepted(self, author: str, bot: str = "mine", version: str = "1", content: str = "") -> int:
        """The number of a submission that was accepted, by a checker that looks at nothing."""
        data = self.bot(BOT.replace('"mine"', f'"{bot}"'), **{"notes.txt": content + version})
        found = versions.submit(self.ledger, self.author(author), "cup", data)
        with self.ledger.writing() as db:
            db.execute("UPDATE submission SET state = 'checking', claims = 1 WHERE id = ?", (found.id,))
        versions.add_finding(self.ledger, found.id, Finding("bundle", "ok", "<script>alert(1)</script>"))
        versions.accept(self.ledger, found.id, bot, version, f"{found.id:064x}")
        return found.id

    def end_season(self) -> None:
        """Let the season be over, and its secret public."""
        season = Season.of(self.config, (), bytes(32))
        with Store.open_to_write(self.results / "cup") as store:
            store.commit(self.config, season)
            store.publish_secret()

    def sandbox(self, told: str) -> None:
        """Let the probe of the sandbox have said this."""
        self.ledger.set(SANDBOX, told, "test")
