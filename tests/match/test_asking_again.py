"""Decisions that are asked again after an illegal action, where the match lets bots err."""

import json
from typing import Any

import pytest

from warpleague.errors import RecordError
from warpleague.match.replay import verify_record
from warpleague.match.scribe import seal
from warpleague.match.spec import TimeControl


def erring(times: int) -> Any:
    """A bot that answers each decision with that many illegal actions first, then with the first legal one."""
    wrong = 0

    def choose(question: dict[str, Any]) -> Any:
        nonlocal wrong
        assert ("error" in question) == (wrong > 0)
        if wrong < times:
            wrong += 1
            return 99_999 if wrong % 2 else {"do": "fly"}
        wrong = 0
        return 0

    return choose


def first(question: dict[str, Any]) -> int:
    """The bot that answers index 0 forever."""
    return 0


def acts(result: Any) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, result.record.splitlines()) if line["type"] == "act"]


def test_a_bot_that_errs_within_the_limit_plays_on(spec: Any, table: Any) -> None:
    """No fault; the same decision comes again under the next id, with the reason; the record has what was refused."""
    played = table(spec(again=2), erring(2), first)
    result = played.play()
    assert result.faults == ((), ())
    assert verify_record(result.record).digest == result.digest
    mine = [question for seat, question in played.questions if seat == 0]
    assert [question["id"] for question in mine] == list(range(1, len(mine) + 1))
    once, twice, thrice = mine[:3]
    assert once["legal"] == twice["legal"] == thrice["legal"]
    assert twice["error"].startswith("action 99999 is out of range")
    assert twice["events"] == []
    asked = next(act for act in acts(result) if act["seat"] == 0 and "ms" in act)
    assert [told["message"] for told in asked["detail"]["again"]] == [twice["error"], thrice["error"]]
    assert json.loads(asked["detail"]["again"][1]["line"])["action"] == {"do": "fly"}
    assert asked["ms"] == [3, 1.5, 0], "all answers together"
    assert result.times[0].decisions == len([act for act in acts(result) if act["seat"] == 0 and "ms" in act])


def test_erring_changes_nothing_that_is_played(spec: Any, table: Any) -> None:
    """What was refused is evidence: the digest is that of a match in which nobody erred."""
    assert table(spec(again=2), erring(2), first).play().digest == table(spec(again=2)).play().digest


def test_one_error_too_many_is_the_fault(spec: Any, table: Any) -> None:
    """The fault is the last illegal answer's, and its evidence has those before."""
    played = table(spec(again=2), erring(3), first)
    result = played.play()
    (fault,) = result.faults[0]
    assert (fault.kind, fault.retired) == ("illegal", True)
    (violation,) = played.violations
    assert len(violation.detail["again"]) == 2
    verify_record(result.record)


def test_substitution_begins_anew(spec: Any, table: Any) -> None:
    """After a substituted action the next decision may be asked again as often as any."""
    played = table(spec(again=1, faults="substitute", strikes=1_000), lambda _: 99_999, first)
    result = played.play()
    asked = [question for seat, question in played.questions if seat == 0]
    assert len(asked) == 2 * len(result.faults[0]) > 2
    assert len(played.violations) == len(result.faults[0])
    verify_record(result.record)


def test_all_answers_share_the_time_of_the_decision(spec: Any, table: Any) -> None:
    """The time that is told shrinks by what the refused answers took, and so does the bank, once for each."""
    clock = TimeControl(move_s=1.0, bank_s=10.0, increment_s=0.5)
    played = table(spec(again=2, clock=clock), erring(2), first)
    played.wall_ns = 100_000_000
    result = played.play()
    told = [question["clock"] for seat, question in played.questions if seat == 0][:4]
    assert [clock["move_s"] for clock in told] == [1.0, 0.9, 0.8, 1.0]
    assert [clock["bank_s"] for clock in told] == [10.5, 10.4, 10.3, 10.7]
    assert next(act for act in acts(result) if act["seat"] == 0 and "ms" in act)["bank_s"] == 10.2


def test_an_illegal_action_given_ahead_is_asked_for(spec: Any, table: Any) -> None:
    """What does not hold in a `then` list costs one of the times, and the bot is asked in its place."""

    def hasty(question: dict[str, Any]) -> Any:
        if "error" in question:
            assert question["error"].startswith("in the then list: ")
            return 0
        return {"type": "act", "id": question["id"], "action": 0, "then": [{"do": "fly"}]}

    played = table(spec(again=1), hasty, first)
    result = played.play()
    assert result.faults == ((), ())
    assert any("error" in question for _, question in played.questions)
    assert verify_record(result.record).digest == result.digest


@pytest.mark.parametrize("change", ["longer", "no message", "no limit"])
def test_a_record_that_claims_more_is_refused(spec: Any, table: Any, change: str) -> None:
    """A reader may rely on the form of what was refused, and on its length."""
    head, *body = table(spec(again=2), erring(2), first).play().record.splitlines(keepends=True)[:-1]
    at = next(number for number, line in enumerate(body) if b'"again":[' in line)
    line = json.loads(body[at])
    again = line["detail"]["again"]
    if change == "longer":
        again.append(again[0])
    elif change == "no message":
        del again[0]["message"]
    else:
        head = head.replace(b'"again":2,', b"")
    body[at] = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    lines = [head, *body]
    with pytest.raises(RecordError, match=r"again"):
        verify_record(b"".join([*lines, seal(lines)]))
