"""An arena under a path of a site, behind a proxy that takes the path off, or leaves it on."""

import re
from collections.abc import Iterator
from html import unescape
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urljoin

import pytest
from tests.arena.harness import HOST, ApiHarness, Client, served

from warpleague.arena.submissions.requests import BODY_LIMITS, RequestHandler
from warpleague.arena.web.app import App
from warpleague.arena.web.middleware import RequestMiddleware
from warpleague.arena.web.server import all_routes
from warpleague.cli import main

LINK = re.compile(r'\b(href|action|src)="([^"]+)"')


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiHarness]:
    """An arena whose visitors see it under /arena/."""
    found = ApiHarness(tmp_path_factory.mktemp("path"))
    configs = {config.name: config for config in (found.config, found.played)}
    found.whole = App(found.feeds, configs, found.results, submits=True, root="/arena/")
    found.render()
    handler = RequestHandler(found.whole)
    found.api = RequestMiddleware(
        found.whole.app(all_routes(found.whole, handler)),
        hosts=frozenset({HOST}),
        bodies=BODY_LIMITS,
        root="/arena/",
    )
    found.requests.append(handler)
    yield found
    found.close()


def test_every_link_leads_below_the_path(arena: ApiHarness) -> None:
    """From page to page, of visitors, authors and organisers; nothing leads out of the path or nowhere."""
    client = Client(arena.api)
    answer = client.post("/arena/submit/login", {"token": arena.tokens["olga"]})
    assert (answer.status, answer.headers["location"]) == (303, "/arena/submit")
    assert SimpleCookie(answer.headers["set-cookie"])["warpleague"]["path"] == "/arena/"
    found, todo = {"/arena/"}, ["/arena/"]

    def note(place: str, link: str) -> None:
        target = urljoin(place, unescape(link)).partition("#")[0]
        assert target.startswith("/arena/"), (place, link)
        if target not in found:
            found.add(target)
            todo.append(target)

    while todo:
        place = todo.pop()
        answer = client.ask("GET", place)
        if answer.status in (303, 308):
            note(place, answer.headers["location"])
            continue
        assert answer.status == 200 or "/matches/" in place, place  # the records here were not played
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        for kind, link in LINK.findall(answer.text):
            if kind == "action":
                assert urljoin(place, link).startswith("/arena/"), (place, link)
            elif not link.startswith(("data:", "https://")):
                note(place, link)
    kinds = ("bots", "docs/submit", "organise", "l/played/bots/mine", "l/played/conditions", "submit/1")
    assert {f"/arena/{kind}" for kind in kinds} <= found
    assert any(place.startswith("/arena/l/played/matches/") for place in found)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/arena", "/arena/"),
        ("/arena/l/cup", "/arena/l/cup/"),
        ("/docs", "/arena/docs/"),
        ("/l/cup", "/arena/l/cup/"),
    ],
)
def test_a_missing_slash_is_added_below_the_path(arena: ApiHarness, path: str, place: str) -> None:
    """Whether the proxy took the path off or not; without the scheme, which the proxy alone knows."""
    answer = Client(arena.api).ask("GET", path)
    assert (answer.status in (307, 308), answer.headers["location"]) == (True, place)


def test_commands_ask_below_the_path(
    arena: ApiHarness, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address of an arena, or that of the page of one of its leagues."""
    token = tmp_path / "token"
    token.write_text(arena.tokens["ada"])
    token.chmod(0o600)
    with served(Client(arena.api).ask) as address:
        for place in ("/arena", "/arena/", "/arena/l/cup/"):
            assert main(["submit", "status", "--to", f"{address}{place}", "--token-file", str(token)]) == 0
            assert "mine 1" in capsys.readouterr().out
