"""Matches on demand: who may ask for which, how they are played, and what of them an author gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.arena.harness import ApiHarness, ArenaHarness
from tests.league.fakes import fakeplay

from warpleague.arena.submissions import jobs, on_demand, versions
from warpleague.arena.submissions.jobs import OverQuota
from warpleague.arena.submissions.ledger import set_limit
from warpleague.arena.submissions.workers import run_challenges
from warpleague.errors import BadInput, HarnessFault
from warpleague.match.record import unpack
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult, MatchSpec, SeatLog

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def played() -> list[MatchSpec]:
    """What was played."""
    return []


def submitted(arena: ArenaHarness, author: str, bot: str, version: str = "1") -> int:
    """A version that was accepted, and can be played."""
    return arena.accepted(author, bot, version)


def play_all(arena: ArenaHarness, played: list[MatchSpec], result: Any = None) -> None:
    """Play all that waits, with bots that always answer 0."""

    def play(spec: MatchSpec, seconds: float, log: bool) -> MatchResult | None:
        assert (seconds, log) == (300.0, True)
        played.append(spec)
        if isinstance(result, Exception):
            raise result
        if result == "late":
            return None
        found = fakeplay.play_refereed(spec)
        object.__setattr__(
            found, "logs", tuple(SeatLog.of(f"said {seat.bot}", "wire") for seat in spec.seats)
        )
        return found

    leagues = {arena.config.name: arena.config}
    run_challenges(arena.ledger, leagues, lambda _: False, once=True, play=play)


def test_an_own_bot_plays_a_bot_of_the_league(arena: ArenaHarness, played: list[MatchSpec]) -> None:
    """Under the conditions of the league, with dice of its own; the record holds, and names nobody's output."""
    submitted(arena, "ada", "mine")
    ada, bob = arena.author("ada"), arena.author("bob")
    numbers = [
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"]).id
        for _ in range(8)
    ]
    play_all(arena, played)
    assert {spec.clock for spec in played} == {arena.config.clock}
    assert {(spec.game, spec.level, spec.private) for spec in played} == {("aliens", "sandbox", True)}
    assert len({spec.key for spec in played}) == 8
    assert {tuple(seat.bot for seat in spec.seats) for spec in played} == {
        ("mine", "random-python"),
        ("random-python", "mine"),
    }
    for number, spec in zip(numbers, played, strict=True):
        found = on_demand.challenge(arena.ledger, number, ada)
        assert (found.state, found.why) == ("played", None)
        assert found.result is not None
        assert [found.seats[place].bot for place in found.result["order"]] == [
            seat.bot for seat in spec.seats
        ]
        assert on_demand.log_of(arena.ledger, ada, number, "stderr") == "said mine"
        packed = on_demand.record_of(arena.ledger, ada, number)
        assert packed is not None
        verify_record(unpack(packed))
    with pytest.raises(BadInput):
        on_demand.record_of(arena.ledger, bob, numbers[0])


def test_an_earlier_version_is_an_opponent(arena: ArenaHarness, played: list[MatchSpec]) -> None:
    """By its number, and by it alone; a version of another author is none."""
    old, new = submitted(arena, "ada", "mine", "1"), submitted(arena, "ada", "mine", "2")
    theirs = submitted(arena, "bob", "other")
    ada = arena.author("ada")
    found = on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", [str(old)])
    assert [seat.submission for seat in found.seats] == [new, old]
    on_demand.ask_challenge(arena.ledger, arena.config, ada, str(old), ["other"])
    play_all(arena, played)
    assert sorted(seat.bot for seat in played[0].seats) == ["mine", "mine"]
    assert len({seat.digest for seat in played[0].seats}) == 2
    for bot, opponents in (
        ("mine", [str(theirs)]),
        (str(theirs), ["mine"]),
        ("other", ["mine"]),
        ("mine", ["nobody"]),
        ("mine", []),
        ("mine", ["other", "other"]),
        ("mine", ["9" * 30]),
    ):
        with pytest.raises(BadInput):
            on_demand.ask_challenge(arena.ledger, arena.config, ada, bot, opponents)
    versions.withdraw(arena.ledger, arena.author("bob"), "cup", "other")
    with pytest.raises(BadInput, match="no bot 'other' plays"):
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])


def test_there_is_a_budget_for_each_day(arena: ArenaHarness, played: list[MatchSpec]) -> None:
    """A match that could not be played does not count; who asked for less comes first."""
    submitted(arena, "ada", "mine")
    submitted(arena, "bob", "other")
    ada, bob = arena.author("ada"), arena.author("bob")
    set_limit(arena.ledger, "challenges", 2, "test")
    on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])
    play_all(arena, played, HarnessFault("the moon is full"))
    (failed,) = on_demand.challenges(arena.ledger, ada)
    assert (failed.state, failed.why) == ("failed", "the moon is full")
    for _ in range(2):
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])
    with pytest.raises(OverQuota, match="2 matches on demand within 24 hours"):
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])
    on_demand.ask_challenge(arena.ledger, arena.config, bob, "other", ["mine"])
    first, second = (jobs.claim(arena.ledger, jobs.CHALLENGE) for _ in range(2))
    bobs = [one.id for one in on_demand.challenges(arena.ledger, bob)]
    assert len({first, second} & {*bobs}) == 1


def test_what_was_being_played_is_played_again(arena: ArenaHarness, played: list[MatchSpec]) -> None:
    """After a kill; but not for ever."""
    submitted(arena, "ada", "mine")
    ada = arena.author("ada")
    number = on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"]).id
    for again in ([], [], [number]):
        assert jobs.claim(arena.ledger, jobs.CHALLENGE) == number
        assert jobs.recover(arena.ledger, jobs.CHALLENGE) == again
    play_all(arena, played)
    assert played == []
    assert on_demand.challenge(arena.ledger, number, ada).state == "failed"
    late = on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"]).id
    play_all(arena, played, "late")
    assert on_demand.challenge(arena.ledger, late, ada).why == "it was not over within 300 s"


def test_pages_and_commands_ask_for_matches(arena: ArenaHarness, played: list[MatchSpec]) -> None:
    """With the session's form, and with the token; the result is shown to its author alone."""
    submitted(arena, "ada", "mine")
    ada, bob = arena.client("ada"), arena.client("bob")
    fields = {"league": "cup", "bot": "mine", "opponents": "random-python"}
    assert ada.post("/submit/challenge", {**fields, "form": "other"}).status == 403
    assert ada.post("/submit/challenge", fields).status == 303
    assert bob.post("/submit/challenge", fields).status == 422
    play_all(arena, played)
    page = ada.ask("GET", "/submit").text
    assert "mine (1) – random-python, <b>played</b>" in page
    assert "You can ask for 19 more today." in page
    (asked,) = on_demand.challenges(arena.ledger, arena.author("ada"))
    record = ada.ask("GET", f"/submit/challenges/{asked.id}/record")
    assert record.status == 200
    verify_record(record.body)
    assert bob.ask("GET", f"/submit/challenges/{asked.id}/record").status == 404
    assert "random-python, <b>" not in bob.ask("GET", "/submit").text


def test_a_command_waits_for_its_match(tmp_path: Path) -> None:
    """The API answers it; what is no challenge is refused."""
    arena = ApiHarness(tmp_path)
    submitted(arena, "ada", "mine2")
    kind = {"content_type": "application/json"}
    body = json.dumps({"bot": "mine2", "opponents": ["random-python"], "league": "cup"}).encode()
    assert arena.ask("POST", "/api/challenges", "ada", body, content_type="text/plain").status == 415
    for wrong in (b"", b"{}", b"[1]", b'{"bot": 5}', b'{"bot": "mine2", "opponents": "x"}', b"\xff"):
        assert arena.ask("POST", "/api/challenges", "ada", wrong, **kind).status == 422
    answer = arena.ask("POST", "/api/challenges", "ada", body, **kind)
    assert (answer.status, answer.json["state"]) == (202, "waiting")
    number = answer.json["id"]
    assert arena.ask("GET", f"/api/challenges/{number}/record", "ada").status == 404
    play_all(arena, [])
    assert arena.ask("GET", f"/api/challenges/{number}", "ada").json["state"] == "played"
    assert arena.ask("GET", f"/api/challenges/{number}/log", "ada").text == "said mine2"
    assert arena.ask("GET", f"/api/challenges/{number}/record", "ada").status == 200
    for path in ("", "/record", "/log"):
        assert arena.ask("GET", f"/api/challenges/{number}{path}", "bob").status == 404
    assert arena.ask("GET", "/api/challenges", "bob").json == []
    assert arena.ask("GET", "/api/author", "ada").json["challenges_today"] == 2
    arena.close()
