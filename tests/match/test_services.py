"""Bots that say that a service failed, and what services took for their answers."""

import json
from typing import Any

import pytest

from warpleague.errors import RecordError
from warpleague.league.upkeep.verifying import RecordReader
from warpleague.match.replay import verify_record
from warpleague.match.scribe import seal
from warpleague.match.spec import TimeControl


def failing(times: int, at: int = 1) -> Any:
    """A bot whose service fails so many times in its decision number `at`; then it answers index 0."""
    left, decisions = times, 0

    def choose(question: dict[str, Any]) -> Any:
        nonlocal left, decisions
        if decisions + 1 == at and left:
            left -= 1
            return {"type": "act", "id": question["id"], "failed": "503\nbusy"}
        decisions += 1
        return 0

    return choose


def first(question: dict[str, Any]) -> int:
    """The bot that answers index 0 forever."""
    return 0


def lines_of(result: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.record.splitlines()]


def test_a_failure_that_is_allowed_costs_nothing(spec: Any, table: Any) -> None:
    """The very same question comes again, with all of its time; the match is the one without failures."""
    clock = TimeControl(move_s=1.0, bank_s=10.0, increment_s=0.5)
    played = table(spec(failures=2, clock=clock), failing(2), first)
    played.wall_ns = 100_000_000
    result = played.play()
    mine = [question for seat, question in played.questions if seat == 0]
    once, twice, thrice = mine[:3]
    assert [question["id"] for question in mine[:3]] == [1, 2, 3]
    assert {**once, "id": 0} == {**twice, "id": 0} == {**thrice, "id": 0}
    assert result.faults == ((), ())
    assert result.digest != table(spec()).play().digest, "what is allowed is a condition of the match"
    assert result.digest == table(spec(failures=2, clock=clock)).play().digest
    act = next(line for line in lines_of(result) if line.get("seat") == 0 and "ms" in line)
    assert act["detail"]["failed"] == [{"message": "503 busy", "ms": 100}] * 2
    assert (act["bank_s"], act["ms"][0]) == (10.4, 100)
    assert (result.times[0].failures, result.times[1].failures) == (2, 0)
    assert verify_record(result.record).digest == result.digest
    assert RecordReader(result.record).read().result.times == result.times


@pytest.mark.parametrize("allowed", [0, 2])
def test_one_failure_too_many_is_a_fault_of_its_own_kind(spec: Any, table: Any, allowed: int) -> None:
    """It is charged as any other, its evidence has the reason and those before; by default nothing is allowed."""
    result = table(spec(failures=allowed), failing(allowed + 1, at=2), first).play()
    (fault,) = result.faults[0]
    assert (fault.kind, fault.retired, fault.message) == ("service", True, "its service failed: 503 busy")
    assert result.times[0].failures == allowed + 1
    (line,) = (line for line in lines_of(result) if line["type"] == "fault")
    assert len(line["detail"].get("failed", ())) == allowed
    assert verify_record(result.record).digest == result.digest
    assert RecordReader(result.record).read().result.times == result.times


def test_failures_are_counted_over_the_match(spec: Any, table: Any) -> None:
    """What one decision has used up is gone for the next one."""

    def choose(question: dict[str, Any]) -> Any:
        return {"type": "act", "id": question["id"], "failed": "busy"} if question["id"] % 2 else 0

    result = table(spec(failures=3), choose, first).play()
    assert [fault.kind for fault in result.faults[0]] == ["service"]
    told = [line["detail"]["failed"] for line in lines_of(result) if "failed" in line.get("detail", ())]
    assert len(told) == 3
    assert verify_record(result.record)


def test_an_answer_with_an_action_is_one(spec: Any, table: Any) -> None:
    """Beside an action `failed` is a field that nobody knows."""

    def choose(question: dict[str, Any]) -> Any:
        return {"type": "act", "id": question["id"], "action": 0, "failed": "busy"}

    assert table(spec(), choose, first).play().faults == ((), ())


def test_tokens_and_cost_are_recorded_and_summed(spec: Any, table: Any) -> None:
    """Of all answers of a decision, the failed ones too; they are in no digest, since they differ each time."""
    usage = {"input_tokens": 10, "output_tokens": 2, "cost": 0.25}

    def choose(question: dict[str, Any]) -> Any:
        told = {"type": "act", "id": question["id"], "usage": usage}
        return {**told, "failed": "busy"} if question["id"] == 1 else {**told, "action": 0}

    result = table(spec(failures=1), choose, first).play()
    asked = [line for line in lines_of(result) if line.get("seat") == 0 and "ms" in line]
    assert asked[0]["detail"]["usage"] == {"input_tokens": 20, "output_tokens": 4, "cost": 0.5}
    assert asked[1]["detail"]["usage"] == {"input_tokens": 10, "output_tokens": 2, "cost": 0.25}
    times = result.times[0]
    answers = len(asked) + 1
    assert (times.input_tokens, times.output_tokens, times.cost) == (
        10 * answers,
        2 * answers,
        0.25 * answers,
    )
    assert result.digest == table(spec(failures=1)).play().digest
    assert RecordReader(result.record).read().result.times == result.times


@pytest.mark.parametrize("change", ["more than allowed", "no message", "bad usage"])
def test_a_record_that_claims_more_is_refused(spec: Any, table: Any, change: str) -> None:
    """A reader may rely on the form of what is told, and on the limit."""
    head, *body = table(spec(failures=2), failing(2), first).play().record.splitlines(keepends=True)[:-1]
    at = next(number for number, line in enumerate(body) if b'"failed":[' in line)
    line = json.loads(body[at])
    if change == "more than allowed":
        head = head.replace(b'"failures":2,', b'"failures":1,')
    elif change == "no message":
        del line["detail"]["failed"][0]["message"]
    else:
        line["detail"]["usage"] = {"input_tokens": -1, "output_tokens": 0, "cost": 0}
    body[at] = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    with pytest.raises(RecordError, match=r"failures|failed|usage"):
        verify_record(b"".join([head, *body, seal([head, *body])]))
