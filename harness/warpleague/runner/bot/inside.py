# ruff: noqa: ARG002, B027 - a seat stands here where a process stands, and has none
"""A seat that is played inside this process: it speaks the wire as a bot does, but no process is started for it.

A person's seat is one, and a seat whose answers are read from a record. It gets the messages that any bot gets, and no
more.
"""

from __future__ import annotations

import json
import math
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import trio

from warpleague.match.spec import Violation
from warpleague.runner.bot import violations
from warpleague.runner.bot.exchange import Answer
from warpleague.runner.bot.loop import LoopShare
from warpline.codec import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.match.spec import SeatSpec
    from warpleague.runner.bot.waiting import IsLate
    from warpleague.runner.bot.wirelog import BotLog
    from warpline.messages import BotHello

HELLO = b'{"type":"hello","protocol":1,"wants":["state","legal","events"]}'
READY = b'{"type":"ready"}'


class InsideSeat(ABC):
    """A seat without a process. `timed` says whether the clock of the match holds for it."""

    def __init__(self, seat: SeatSpec, *, timed: bool = False) -> None:
        self.seat = seat
        self.timed = timed
        self.hello: BotHello | None = None
        self._share = LoopShare()

    @abstractmethod
    async def reply(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The answer to a question, or why there is none; `left_s` is the time left, infinite without a clock."""

    def start(self, line: bytes) -> None:
        """Store the start message."""

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate | None = None
    ) -> Answer | Violation:
        """Put a line to the seat and take its answer; as of `BotProcess`. Its answers are never late."""
        if line.startswith(b'{"type":"hello"'):
            return Answer(HELLO, 0, None, None)
        if line.startswith(b'{"type":"start"'):
            self.start(line)
            return Answer(READY, 0, None, None)
        begun = time.perf_counter_ns()
        self._share.on_slow()
        left_s = math.inf if budget_ns is None or not self.timed else budget_ns / 1e9
        with trio.move_on_after(left_s):
            answer = await self.reply(line, left_s)
            if isinstance(answer, Violation):
                return answer
            return Answer(to_bytes(answer), time.perf_counter_ns() - begun, None, None)
        return violations.timed_out(budget_ns or 0, 0)

    def greeted(self, hello: BotHello) -> None:
        """Note the seat's `hello`."""
        self.hello = hello

    def tell(self, line: bytes) -> None:
        """Take a line that needs no answer: the end, a fault, quit."""

    def evidence(self) -> dict[str, Any]:
        """The evidence of a process: none."""
        return {}

    def attend(
        self,
        nursery: trio.Nursery,
        share: LoopShare | None = None,
        log: BotLog | None = None,
        *,
        at_once: bool = True,
    ) -> None:
        """Take part in a match; there is no process to watch."""
        self._share = share or self._share

    def begin_tasks(self) -> None:
        """Do nothing: there is no process to watch."""

    async def close(self, grace_s: float) -> None:
        """Do nothing: there is no process to end."""
        await trio.lowlevel.checkpoint()


class RecordedSeat(InsideSeat):
    """A seat that answers as it did in a record, of which it is given the `lines`: a person cannot be asked again."""

    def __init__(self, seat: SeatSpec, number: int, lines: Iterable[dict[str, Any]]) -> None:
        super().__init__(seat)
        self._lines = [
            line
            for line in lines
            if line.get("seat") == number and not line.keys() & {"auto", "substituted", "then"}
        ]

    async def reply(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The next recorded answer or fault; where the record has no more, the match has come apart before."""
        await trio.lowlevel.checkpoint()
        if not self._lines:
            return Violation("crash", "the record has no further answer of this seat")
        recorded = self._lines.pop(0)
        if recorded["type"] == "fault":
            return Violation(recorded["kind"], recorded["detail"]["message"])
        note = {"note": recorded["note"]} if "note" in recorded else {}
        return {"type": "act", "id": json.loads(line)["id"], "action": recorded["action"], **note}
