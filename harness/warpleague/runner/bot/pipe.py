"""The two pipes of a bot: a question and the answer that comes at once, and output that nobody has judged yet.

Nearly all answers come at once, by `Pipes.exchange`. `process` waits for any other answer.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from warpleague.match.faults import quote
from warpleague.match.spec import Violation
from warpleague.runner.bot.child import read_clock
from warpleague.runner.bot.clocks import NEVER
from warpleague.runner.bot.halt import QUIET_NS
from warpleague.text import counted
from warpline.codec import LineBuffer, LineTooLong

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import JsonObject
    from warpleague.runner.bot.logs import WireLog

    # Whether a line answers an earlier question, whose time was up; true once for each such question.
    IsLate = Callable[[bytes], bool]

CHUNK: Final = 1 << 16  # how much is read at once, in bytes
# If a bot computed for all but this much of the time, its answer is charged as measured. Others can have taken no
# more than that from it: reading more clocks would cost more than it could show.
SHORT_NS: Final = 1_000_000

_NOTEWORTHY_NS: Final = 1_000_000


@attrs.define
class Answer:
    """A line that a bot answered, without its newline, and its times in nanoseconds.

    `wall_ns` is the time that is charged, `cpu_ns` the processor time, `wait_ns` how long the bot waited for a
    processor (None if the system does not say; 0 if the answer is charged as measured).
    """

    line: bytes
    wall_ns: int
    cpu_ns: int | None
    wait_ns: int | None


class Sent(NamedTuple):
    """A question that was written to the pipe, where no usual answer came within the first milliseconds."""

    written: int  # how many bytes of the question the pipe took; where that is not all, nothing was read
    data: bytes | None  # the bytes read, empty at the end of the output; None if nothing came in time
    begun_ns: int  # when the question was written, by `time.perf_counter_ns`
    cpu_begun_ns: int | None  # the bot's processor clock before, in nanoseconds; None if it was not read


class Pipes:
    """The two pipes of a bot, and what is known of its clocks since its last answer; all times in nanoseconds.

    `to` is the bot's input, `back` its output. `clock` is the id of its processor clock. The bot may run on `cores`
    cores at once.
    """

    # The pipes are not blocking: a bot that does not read its input must not keep the referee waiting.

    # fmt: off
    __slots__ = ("_back", "_cores", "_poll", "_to", "clock", "ended_ns", "gap_check_at_ns", "known_ns",
                 "skip_clock_until_ns", "turns_ns")
    # fmt: on

    def __init__(self, to: int, back: int, clock: int, cores: int) -> None:
        self._to, self._back, self._cores, self.clock = to, back, cores, clock
        self.known_ns = -1  # the processor clock at the last answer; -1 if it could not be read
        # Until then, by `time.perf_counter_ns`, the bot cannot have computed more since than every bot may.
        self.skip_clock_until_ns = 0
        # The reading of the processor clock beyond which the gap that is ending has to be judged.
        self.gap_check_at_ns = NEVER
        self.ended_ns = 0  # when the last answer came
        self.turns_ns = 0  # how long it has been the bot's turn, in all
        poll = select.poll()
        poll.register(back, select.POLLIN)
        self._poll = poll.poll

    def silent(self) -> bool:
        """Whether there is nothing to read, not even the end of the output."""
        return not self._poll(0)

    def answered(self, now_ns: int, cpu_ns: int | None) -> None:
        """Note an answer at `now_ns`; read after that, the processor clock showed `cpu_ns`."""
        # While the bot cannot have computed for `QUIET_NS`, on all of its cores at once, its clock need not be read
        # before the next question: that saves a system call of a bot that is asked again at once.
        self.ended_ns = now_ns
        if cpu_ns is None:
            self.known_ns, self.skip_clock_until_ns = -1, 0
        else:
            self.known_ns, self.skip_clock_until_ns = cpu_ns, now_ns + QUIET_NS // self._cores
            self.gap_check_at_ns = cpu_ns + QUIET_NS

    def exchange(self, line: bytes, wait_ms: int, continues: bool = False) -> Answer | Sent | None:
        """Send a question, and wait for the answer for some milliseconds, without the event loop.

        An `Answer` is exactly one line that may be charged as measured, after a gap that need not be judged; it never
        is if what comes `continues` a line that the bot began before. None says that the bot had written something
        before: then nothing was sent.
        """
        # A fast bot answers within microseconds, and a wait in the event loop alone costs more than that. So this is
        # a write, a poll and a read: six system calls with the clocks, which in C, too, take 1.40 times as long as a
        # bare ping-pong. None is worth dropping: it is 1.36 without this first poll, 1.38 without the processor clock,
        # and 1.33 with a blocking read and no poll. The same in C saved a fifth of a decision in a game without
        # rules, and too little of a real match.
        if self._poll(0):
            return None
        cpu_begun = None
        begun = time.perf_counter_ns()
        if begun > self.skip_clock_until_ns:
            cpu_begun = read_clock(self.clock)
            begun = time.perf_counter_ns()
        # The time begins before the write: on a shared core the bot may run before the call returns.
        try:
            written = os.write(self._to, line)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            written = len(line)  # its last words may be there: reading tells
        if written < len(line) or not self._poll(wait_ms):
            return Sent(written, None, begun, cpu_begun)
        try:
            data = os.read(self._back, CHUNK)
        except BlockingIOError:
            return Sent(written, None, begun, cpu_begun)
        now = time.perf_counter_ns()
        cpu = read_clock(self.clock)
        wall = now - begun
        before = self.known_ns if cpu_begun is None else cpu_begun
        used = None if cpu is None or before < 0 else min(cpu - before, wall * self._cores)
        # Others may have taken time from it, or it is not exactly one line, or what the bot did since its last answer
        # has to be judged first: then the caller goes on from here.
        if (
            wall - (used or 0) >= SHORT_NS
            or data.find(b"\n") != len(data) - 1
            or not 0 < len(data) < CHUNK
            or continues
            or (cpu_begun is not None and cpu_begun > self.gap_check_at_ns)
        ):
            return Sent(written, data, begun, cpu_begun)
        self.answered(now, cpu)
        self.turns_ns += wall
        return Answer(data[:-1], wall, used, 0)


class Output:
    """The output of one bot, read from its non-blocking `pipe`: whole lines, the beginning of one, and the end."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._buffer = LineBuffer()
        self.unread = False  # whether there is anything that was read and not taken as a line
        self.ended = False  # whether the output has ended
        self.wire: WireLog | None = None  # where to log what is read

    def read(self) -> bool:
        """Read what is there; false if there was nothing."""
        with contextlib.suppress(BlockingIOError):
            self.take(os.read(self._pipe, CHUNK))
            return True
        return False

    def take(self, data: bytes) -> None:
        """Take what was read; if it is empty, the output has ended."""
        if data:
            if self.wire is not None:
                self.wire.received(data)
            self._buffer.feed(data)
            self.unread = True
        else:
            self.ended = True

    def line(self) -> bytes | Violation | None:
        """The next whole line; None if there is none yet."""
        try:
            line = self._buffer.next_line()
        except LineTooLong as error:
            return Violation("flood", str(error), quote(error.head))
        if line is not None:
            self.unread = len(self._buffer) > 0
        return line

    def unasked(self, is_late: IsLate) -> Violation | None:
        """Read what came before the question: a fault, unless its lines are late answers."""
        if not self.ended:
            self.read()
        # The beginning of a line stays: the rest may follow, and is judged then.
        while (line := self.line()) is not None:
            if isinstance(line, Violation):
                return line
            if not is_late(line):
                return Violation("protocol", "it wrote a line without having been asked", quote(line))
        return None

    def with_unfinished(self, trouble: Violation) -> Violation:
        """Add to a fault, in words and as evidence, the line that the bot has begun and not ended, if there is one."""
        if self.unread and (size := len(self._buffer)):
            head = self._buffer.peek()
            how = "without a newline"
            if head.endswith(b"\r") and size == len(head):
                how = "that end with a carriage return and no newline"
            trouble.message += f"; {counted(size, 'byte')} came {how}"
            trouble.detail |= {"unfinished_line_bytes": size, **quote(head), "line_bytes": size}
        return trouble


def timed_out(limit_ns: int, extended_ns: int, why: str = "") -> Violation:
    """No answer came within `limit_ns`, nor in the time that others took from the bot; `why`, if that is known."""
    text = f"no answer within {limit_ns / 1e9:.3f} s"
    detail: JsonObject = {"limit_ms": round(limit_ns / 1e6, 3)}
    if extended_ns >= _NOTEWORTHY_NS:
        text += f", extended by {extended_ns / 1e9:.3f} s that others took from it"
        detail["extended_ms"] = round(extended_ns / 1e6, 3)
    if why:
        text += f": {why}"
    return Violation("timeout", text, detail)
