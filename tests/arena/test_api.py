"""The JSON API: what its document says is what the server does, for every operation and any request."""

import json
import re
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.routing import Route
from tests.arena.harness import HOST, Answer, ApiHarness, ApiRequest, Client, api_requests, document

from warpleague.arena.submissions import workers
from warpleague.arena.submissions.api import PATH
from warpleague.arena.submissions.requests import RequestHandler
from warpleague.arena.web.app import App
from warpleague.arena.web.middleware import METHODS, RequestMiddleware
from warpleague.arena.web.renderer import table_json
from warpleague.arena.web.server import author_routes
from warpleague.report.wording.docs import page_text, pages
from warpleague.runner.findings import CODES, FAULT


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiHarness]:
    found = ApiHarness(tmp_path_factory.mktemp("api"))
    yield found
    found.close()


def fits(operation: dict[str, Any], answer: Answer) -> None:
    """Raise unless an answer is one that the document names, and of the form that it says."""
    assert str(answer.status) in operation["responses"], (answer.status, answer.body)
    told = operation["responses"][str(answer.status)]
    if "$ref" in told:
        told = document()["components"]["responses"][told["$ref"].rpartition("/")[2]]
    (kind, content), *others = told["content"].items()
    assert not others
    assert answer.headers["content-type"].partition(";")[0] == kind
    if kind == "application/json":
        schema = {**content["schema"], "components": document()["components"]}
        Draft202012Validator(schema).validate(answer.json)


def test_the_document_has_every_route_and_no_other(arena: ApiHarness) -> None:
    """A route that is not described, or a description without a route, is an error."""
    routes = {
        (method, route.path.replace(":int", ""))
        for route in arena.whole.app(arena.handlers).routes
        if isinstance(route, Route) and route.path.startswith("/api/")
        for method in (route.methods or set()) - {"HEAD"}
    }
    described = {
        (method.upper(), path) for path, methods in document()["paths"].items() for method in methods
    }
    assert routes == described | {("GET", PATH)}
    names = [one["operationId"] for methods in document()["paths"].values() for one in methods.values()]
    assert len(names) == len(set(names))


def test_the_page_of_the_docs_names_every_operation_and_code() -> None:
    """And no other one; it says which need a token."""
    page = page_text(pages()["api"])
    public, with_token = (set(block.splitlines()) for block in re.findall(r"(?ms)^```text\n(.+?)^```$", page))
    operations = {
        f"{method.upper()} {path}": bool(operation["security"])
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }
    assert dict.fromkeys(public, False) | dict.fromkeys(with_token, True) == operations
    codes = dict(re.findall(r"(?m)^\| `([^`]+)` \| (.+) \|$", page))
    del codes[f"{FAULT}KIND"]
    assert codes == {**CODES, **workers.CODES}


def test_the_document_is_served_at_its_address(arena: ApiHarness) -> None:
    """To everybody, as it is in the file."""
    answer = arena.ask("GET", PATH)
    assert (answer.status, answer.json) == (200, document())


def test_each_resource_is_as_the_document_says(arena: ApiHarness) -> None:
    """Every operation that only reads is answered, with the values that there are."""
    for path, methods in document()["paths"].items():
        operation = methods.get("get")
        if operation is None or path == "/api/leagues/{league}/bots/{bot}/logs/{match}":
            continue
        answer = arena.ask("GET", arena.address(path), "ada")
        assert answer.status == 200, (path, answer.body)
        fits(operation, answer)


def test_what_is_an_authors_own_needs_the_token(arena: ApiHarness) -> None:
    """Without a token, and with one of somebody else, nobody gets anything of it."""
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            if not operation["security"]:
                continue
            address = arena.address(path)
            answer = arena.ask(method.upper(), address, content_type="application/gzip")
            assert answer.status == 401, (path, answer.body)
            if "{" in path and method == "get":
                assert arena.ask("GET", address, "bob").status in (404, 422), path


def test_matches_are_listed_in_parts(arena: ApiHarness) -> None:
    """Each match once, the newest first; with the name of a bot only its matches."""
    seen: list[str] = []
    before = ""
    while True:
        found = arena.ask("GET", f"/api/leagues/played/matches?most=2{before}").json
        seen += [match["match"] for match in found["matches"]]
        if found["before"] is None:
            break
        before = f"&before={found['before']}"
    assert sorted(seen) == sorted(arena.matches)
    assert len(seen) == 6
    stored = [arena.ask("GET", f"/api/leagues/played/matches/{match}").json["stored"] for match in seen]
    assert stored == sorted(stored, reverse=True)
    assert arena.ask("GET", "/api/leagues/played/matches?bot=nobody").json["matches"] == []


def test_the_standings_say_which_version_and_how_it_won(arena: ApiHarness) -> None:
    """Wins by an opponent's fault are told apart, and fit the list of matches."""
    lines = arena.ask("GET", "/api/leagues/played/standings").json["standings"]
    assert {line["bot"]: line["content"] for line in lines} == {
        "mine": "digest of mine",
        "loser": "digest of loser",
    }
    matches = arena.ask("GET", "/api/leagues/played/matches").json["matches"]
    for line in lines:
        retired = won = 0
        for match in matches:
            own = next(seat for seat in match["seats"] if seat["bot"] == line["bot"])
            other = next(seat for seat in match["seats"] if seat["bot"] != line["bot"])
            retired += bool(own["faults"])
            won += bool(own["rank"] == 1 and other["faults"] and not own["faults"])
        assert (line["forfeits"], line["won_by_forfeit"]) == (retired, won)


def test_numbers_of_tables_may_be_those_of_numpy() -> None:
    """Ratings are computed with it; what JSON cannot say is null."""
    found = table_json([{"fit": np.float64(1500.5), "played": np.int64(3), "error": np.float64("nan")}])
    assert json.loads(found) == [{"fit": 1500.5, "played": 3, "error": None}]


def test_an_author_reads_the_logs_of_own_bots(arena: ApiHarness) -> None:
    """What a bot printed in a match; not what others' bots did, nor in a match that it did not play."""
    place = f"/api/leagues/played/bots/mine/logs/{arena.matches[0]}"
    assert arena.ask("GET", place, "ada").text == "said"
    assert arena.ask("GET", f"{place}?kind=other", "ada").status == 422
    assert arena.ask("GET", f"{place}?seat=7", "ada").status == 422
    assert arena.ask("GET", place, "bob").status == 422
    assert arena.ask("GET", place.replace("mine", "loser"), "ada").status == 422
    assert arena.ask("GET", f"/api/leagues/played/bots/mine/logs/{'0' * 20}", "ada").status == 422


def test_a_bot_is_withdrawn_and_activated(tmp_path: Any) -> None:
    """By its author's token alone; the versions of others cannot be touched."""
    arena = ApiHarness(tmp_path)
    number = arena.accepted("ada", "other")
    for author, status in (("bob", 404), ("ada", 200)):
        assert arena.ask("POST", f"/api/submissions/{number}/activate", author).status == status
    assert arena.ask("POST", "/api/leagues/cup/bots/other/withdraw", "bob").status == 422
    answer = arena.ask("POST", "/api/leagues/cup/bots/other/withdraw", "ada")
    assert (answer.status, answer.json) == (200, {"league": "cup", "bot": "other"})
    assert not arena.ask("GET", f"/api/submissions/{number}", "ada").json["active"]
    assert arena.ask("POST", f"/api/submissions/{number}/activate", "ada").json["active"]
    arena.close()


def test_the_matches_of_a_solo_league_wait_for_the_end(arena: ApiHarness) -> None:
    """As its pages do: what one bot drew in a deal, others are still to draw."""
    feed = arena.feeds[1]
    page = feed.page
    assert page is not None
    feed.page = attrs.evolve(page, open_matches=False)
    try:
        for path in ("", f"/{arena.matches[0]}", f"/{arena.matches[0]}/record"):
            assert arena.ask("GET", f"/api/leagues/played/matches{path}").status == 403
    finally:
        feed.page = page


@settings(max_examples=300)
@given(data=st.data())
def test_no_request_makes_the_server_fail(arena: ApiHarness, data: st.DataObject) -> None:
    """Whatever is asked, the answer is one that the document names, and of the form that it says."""
    asked: ApiRequest = data.draw(api_requests(arena))
    fits(asked.operation, asked.send(arena))


@pytest.mark.parametrize(
    ("method", "path", "status", "headers"),
    [
        ("GET", "/api/nowhere", 404, {}),
        ("GET", "/api/leagues/%F2%9E%BB%90/bots", 404, {}),
        ("GET", "/api/leagues/a%0Ab", 404, {}),
        ("GET", "/api/leagues/" + "x" * 1000, 414, {}),
        ("GET", "/api/leagues", 400, {"content_length": "2"}),
        ("GET", "/api/leagues", 421, {"host": "elsewhere.example"}),
        ("POST", "/api/submissions", 401, {"origin": "https://elsewhere.example"}),
        ("POST", "/api/submissions", 411, {"content_length": None}),
        ("POST", "/api/challenges", 413, {"content_length": "99999999"}),
    ],
)
def test_an_error_is_json(
    arena: ApiHarness, method: str, path: str, status: int, headers: dict[str, Any]
) -> None:
    """Also where no operation is reached; the document names each of these statuses."""
    answer = arena.ask(method, path, **headers)
    assert (answer.status, list(answer.json)) == (status, ["error"])
    for methods in document()["paths"].values():
        for kind, operation in methods.items():
            if status != 401 and kind == method.lower():
                assert str(status) in operation["responses"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/submissions", "GET, HEAD, POST"),
        ("OPTIONS", "/api/leagues", "GET, HEAD"),
        ("POST", "/api/leagues", "GET, HEAD"),
        ("TRACE", "/api/trials/1", "GET, HEAD"),
        ("GET", "/api/submissions/1/activate", "POST"),
        ("PUT", "/submit", "GET, HEAD"),
    ],
)
def test_another_method_is_told_which_there_are(
    arena: ApiHarness, method: str, path: str, allowed: str
) -> None:
    """In `Allow`, of all routes with that address; and routes take no method but those that are checked."""
    answer = arena.ask(method, path)
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert not path.startswith("/api/") or list(answer.json) == ["error"]
    routes = [route for route in arena.whole.app(arena.handlers).routes if isinstance(route, Route)]
    assert set[str]().union(*(route.methods or {"?"} for route in routes)) == set(METHODS)


def test_where_nobody_is_an_author_a_token_is_wrong(tmp_path: Any) -> None:
    """As it is elsewhere: asking again later would not help."""
    app = App([], {}, tmp_path)
    server = RequestMiddleware(app.app(author_routes(RequestHandler(app))), hosts=frozenset({HOST}))
    for method, path in (("GET", "/api/author"), ("POST", "/api/challenges")):
        answer = Client(server).ask(method, path, authorization="Bearer wl-1-x")
        assert (answer.status, list(answer.json)) == (401, ["error"])
