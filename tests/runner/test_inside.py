# ruff: noqa: ARG002 - seats that do not look at the time left
"""Seats that are played inside the process: told what a bot is told, recorded as persons, and played again."""

import json
from typing import Any

import pytest
import trio
from tests.runner.conftest import MakeSeat, MakeSpec

from warpleague.errors import BadInput
from warpleague.match.replay import verify_record
from warpleague.match.spec import SeatSpec, TimeControl, Violation
from warpleague.runner.bot.inside import InsideSeat, RecordedSeat
from warpleague.runner.play import play_match

FIRST = "from warpline.client import run\nrun(lambda question: 0, wants=())\n"
PERSON = SeatSpec("Ada", kind="person")


class LastSeat(InsideSeat):
    """Takes the last legal action, and leaves after so many answers."""

    def __init__(self, leaves_after: int = 1000, **more: Any) -> None:
        super().__init__(PERSON, **more)
        self.lines: list[dict[str, Any]] = []
        self.leaves_after = leaves_after

    def start(self, line: bytes) -> None:
        self.lines.append(json.loads(line))

    def tell(self, line: bytes) -> None:
        self.lines.append(json.loads(line))

    async def reply(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        question = json.loads(line)
        self.lines.append(question)
        await trio.lowlevel.checkpoint()
        if len(self.lines) > self.leaves_after:
            return Violation("crash", "it left")
        return {"type": "act", "id": question["id"], "action": len(question["legal"]) - 1}


def test_a_person_is_an_entrant_of_the_record(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """It is asked over the wire, and the record says that it was a person, holds, and can be played again."""
    spec = make_spec(PERSON, make_seat("first", FIRST))
    seat = LastSeat()
    result = play_match(spec, present={0: seat})
    assert [line["type"] for line in seat.lines[-2:]] == ["end", "quit"]
    assert seat.lines[0]["type"] == "start"
    assert {"state", "legal", "events"} < seat.lines[1].keys()
    lines = [json.loads(line) for line in result.record.splitlines()]
    assert lines[0]["seats"][0] == {"bot": "Ada", "version": "", "digest": "", "kind": "person"}
    assert "kind" not in lines[0]["seats"][1]
    assert verify_record(result.record).digest == result.digest
    assert play_match(spec, present={0: RecordedSeat(PERSON, 0, lines)}).digest == result.digest


def test_who_leaves_is_out(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """What a seat says instead of an answer is judged as a bot's fault is, and is played again likewise."""
    spec = make_spec(PERSON, make_seat("first", FIRST))
    result = play_match(spec, present={0: LastSeat(leaves_after=3)})
    assert [fault.message for fault in result.faults[0]] == ["it left"]
    assert result.ranks == (2, 1)
    lines = [json.loads(line) for line in result.record.splitlines()]
    assert play_match(spec, present={0: RecordedSeat(PERSON, 0, lines)}).digest == result.digest


def test_nobody_sits_for_a_person(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A person's seat is never run as a bot."""
    with pytest.raises(BadInput, match="seat 0 is a person's"):
        play_match(make_spec(PERSON, make_seat("first", FIRST)))


def test_a_clock_holds_only_for_who_wants_it(make_seat: MakeSeat, make_spec: MakeSpec) -> None:
    """A seat without a clock may take longer than a bot may."""

    class Slow(LastSeat):
        async def reply(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
            self.left_s = left_s
            if left_s < 1:
                await trio.sleep_forever()
            return await super().reply(line, left_s)

    spec = make_spec(PERSON, make_seat("first", FIRST), clock=TimeControl(move_s=0.5))
    free, timed = Slow(), Slow(timed=True)
    assert play_match(spec, present={0: free}).faults[0] == ()
    assert free.left_s == float("inf")
    assert [fault.kind for fault in play_match(spec, present={0: timed}).faults[0]] == ["timeout"]
