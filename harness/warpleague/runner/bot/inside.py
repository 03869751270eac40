# ruff: noqa: ARG002, B027 - a seat stands here where a process stands, and has none
"""A seat that is played inside this process: it speaks the wire as a bot does, but no process is started for it.

A person's seat is one, and a seat whose answers are read from a record. It knows what any bot is told, and no more.
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
from warpleague.runner.bot.exchange import BotReply
from warpleague.runner.bot.pondering import Pondering
from warpline.codec import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from warpleague.match.spec import SeatSpec
    from warpleague.runner.bot.exchange import Answered
    from warpline.messages import BotHello

HELLO = b'{"type":"hello","protocol":1,"wants":["state","legal","events"]}'
READY = b'{"type":"ready"}'


class InsideSeat(ABC):
    """What the runner asks instead of a process. `timed` says whether the clock of the match holds for it."""

    def __init__(self, seat: SeatSpec, *, timed: bool = False) -> None:
        self.seat = seat
        self.timed = timed
        self.hello: BotHello | None = None
        self.pondering = Pondering()
        self.on_slow: Callable[[], None] | None = None
        self._put: tuple[bytes, int | None] = (b"", None)

    @abstractmethod
    async def reply(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The answer to a question, or why there is none; `left_s` is the time left, infinite without a clock."""

    def start(self, line: bytes) -> None:
        """Take note of the start message."""

    def told(self, line: bytes) -> None:
        """Take note of a line that needs no answer: the end, a fault, quit."""

    async def ask(
        self, line: bytes, budget_ns: int | None, forgive: Callable[[bytes], bool] | None = None
    ) -> BotReply | Violation:
        """Put a line to the seat and take its answer; as of `BotProcess`."""
        if line.startswith(b'{"type":"hello"'):
            return BotReply(HELLO, 0, None, None)
        if line.startswith(b'{"type":"start"'):
            self.start(line)
            return BotReply(READY, 0, None, None)
        begun = time.perf_counter_ns()
        if self.on_slow is not None:
            self.on_slow()  # the others need no processor while this one thinks
        left_s = math.inf if budget_ns is None or not self.timed else budget_ns / 1e9
        with trio.move_on_after(left_s):
            answer = await self.reply(line, left_s)
            if isinstance(answer, Violation):
                return answer
            return BotReply(to_bytes(answer), time.perf_counter_ns() - begun, None, None)
        return violations.timed_out(budget_ns or 0, 0)

    def put(
        self, line: bytes, budget_ns: int | None, forgive: Callable[[bytes], bool] | None = None
    ) -> Answered | Violation | None:
        """Put a line to the seat, whose answer is `awaited`."""
        self._put = line, budget_ns
        return None

    async def awaited(self) -> BotReply | Violation:
        """The answer to what was `put`."""
        return await self.ask(*self._put)

    async def again(self) -> BotReply | Violation:
        """Nothing more comes: an answer is one line."""
        raise AssertionError("a seat inside was asked for a second line")

    def tell(self, line: bytes) -> None:
        """Send a line that needs no answer."""
        self.told(line)

    def evidence(self) -> dict[str, Any]:
        """What a process would have left: nothing."""
        return {}

    def locate(self) -> None:
        """There is no process to find."""

    def attend(self, nursery: trio.Nursery, *, at_once: bool = True) -> None:
        """There is no process to watch."""

    def look_after(self) -> None:
        """There is no process to watch."""

    def pause(self) -> None:
        """There is no process to stop."""

    def hush(self) -> None:
        """There is no process to stop."""

    async def close(self, grace_s: float) -> None:
        """There is no process to end."""
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
