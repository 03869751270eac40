"""Many requests in one line are answered by one line, in order, and stop at the first that fails."""

import json
from typing import Any

import pytest

from warpleague.sim.serve import MAX_REQUESTS, Session, serve

NEW = {"do": "new", "game": "aliens", "players": 2, "options": {}, "seed": "x"}


def asked(session: Session, requests: object) -> Any:
    """The answer to a line."""
    return session.answer(json.dumps(requests).encode())


@pytest.mark.parametrize("game", ["aliens", "captains", "coasters", "sheets"])
def test_a_list_is_answered_like_its_requests_one_by_one(game: str) -> None:
    """Each answer is the one that the request gets in a line of its own; -1 is the position made last."""
    requests: list[dict[str, Any]] = [NEW | {"game": game}]
    trial = Session()
    while asked(trial, requests[-1])["actor"] == -1:
        requests.append({"do": "roll", "state": len(requests)})
    made = len(requests)
    requests += [
        {"do": "legal", "state": made},
        {"do": "apply", "state": made, "action": 0, "roll": True, "id": "a"},
        {"do": "view", "state": made + 1, "seat": 0},
        {"do": "playout", "state": made + 1, "number": 2},
    ]
    single = Session()
    one_by_one = [asked(single, request) for request in requests]
    assert asked(Session(), requests) == one_by_one
    assert not any("error" in answer for answer in one_by_one)
    assert one_by_one[-3]["id"] == "a"
    last = [request | {"state": -1} if "state" in request else request for request in requests]
    assert asked(Session(), last) == one_by_one


def test_a_list_stops_at_what_fails() -> None:
    """What follows a request that fails is not done, and says so; the next line is answered as ever."""
    session = Session()
    answers = asked(session, [NEW, {"do": "apply", "state": -1, "action": 0}, {"do": "free", "id": 7}])
    assert answers[0]["state"] == 1
    assert "dice are rolled" in answers[1]["error"]
    assert answers[2] == {"id": 7, "error": "not done: a request before it in the list failed"}
    assert asked(session, {"do": "roll", "state": 1})["state"] == 2
    assert asked(session, []) == []
    assert "an object" in asked(session, [[NEW]])[0]["error"]
    assert "at most" in asked(session, [NEW] * (MAX_REQUESTS + 1))["error"]
    assert "there is no state -9" in asked(session, {"do": "legal", "state": -9})["error"]


def test_a_list_is_one_line() -> None:
    """The server writes one line of ASCII for a list."""
    lines: list[str] = []
    serve([json.dumps([NEW, {"do": "legal", "state": 1}, {"do": "ä"}]).encode()], lines.append)
    assert len(lines) == 1
    assert lines[0].isascii()
    assert len(json.loads(lines[0])) == 3
