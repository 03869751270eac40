"""One question and one answer over a bot's pipes, for answers that come at once: the path of nearly all decisions.

`process` and `waiting` interpret the readings, and handle all other answers.
"""

from __future__ import annotations

import os
import select
import time
from typing import Final, NamedTuple

import attrs

from warpleague.runner.bot.clock import NEVER
from warpleague.runner.bot.pondering import QUIET_NS

CHUNK: Final = 1 << 16
"""How much is read at once, in bytes."""

SHORT_NS: Final = 1_000_000
"""An answer is charged as measured if the bot computed for all but so much of the time, in nanoseconds.

Others can have taken no more than that from it: reading more clocks would cost more than it could show.
"""


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

    written: int
    """How many bytes of the question the pipe took; where that is not all, nothing was read."""
    data: bytes | None
    """The bytes read, empty at the end of the output; None if nothing came in time."""
    begun_ns: int
    """When the question was written, by `time.perf_counter_ns`."""
    cpu_begun_ns: int | None
    """The bot's processor clock before, in nanoseconds; None if it was not read."""


class Pipes:
    """The two pipes of a bot, and what is known of its clocks since its last answer; all times in nanoseconds.

    The pipes are not blocking: `to` is the bot's input, `back` its output. `clock` is the id of its processor clock.
    The bot may run on `cores` cores at once.
    """

    __slots__ = (
        *("_back", "_cores", "_poll", "_to", "alarm_ns", "clock"),
        *("ended_ns", "known_ns", "known_until_ns", "turns_ns"),
    )

    def __init__(self, to: int, back: int, clock: int, cores: int) -> None:
        self._to, self._back, self._cores, self.clock = to, back, cores, clock
        self.known_ns = -1
        """The processor clock at the last answer; -1 if it could not be read."""
        self.known_until_ns = 0
        """Until then, by `time.perf_counter_ns`, the bot cannot have computed more since than every bot may."""
        self.alarm_ns = NEVER
        """The reading of the processor clock beyond which the gap that is ending has to be judged."""
        self.ended_ns = 0
        """When the last answer came."""
        self.turns_ns = 0
        """How long it has been the bot's turn, in all."""
        poll = select.poll()
        poll.register(back, select.POLLIN)
        self._poll = poll.poll

    def silent(self) -> bool:
        """Whether there is nothing to read, not even the end of the output."""
        return not self._poll(0)

    def answered(self, now_ns: int, cpu_ns: int | None) -> None:
        """Note an answer at `now_ns`; read after that, the processor clock showed `cpu_ns`."""
        self.ended_ns = now_ns
        if cpu_ns is None:
            self.known_ns, self.known_until_ns = -1, 0
        else:
            self.known_ns, self.known_until_ns = cpu_ns, now_ns + QUIET_NS // self._cores
            self.alarm_ns = cpu_ns + QUIET_NS

    def exchange(self, line: bytes, wait_ms: int, continues: bool = False) -> Answer | Sent | None:
        """Send a question, and wait for the answer for some milliseconds, without the event loop.

        An `Answer` is exactly one line that may be charged as measured, after a gap that need not be judged; it never
        is if what comes `continues` a line that the bot began before. None says that the bot had written something
        before: then nothing was sent.
        """
        if self._poll(0):
            return None
        cpu_begun = None
        begun = time.perf_counter_ns()
        if begun > self.known_until_ns:
            cpu_begun = read_clock(self.clock)
            begun = time.perf_counter_ns()
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
        if (
            wall - (used or 0) >= SHORT_NS
            or data.find(b"\n") != len(data) - 1
            or not 0 < len(data) < CHUNK
            or continues
            or (cpu_begun is not None and cpu_begun > self.alarm_ns)
        ):
            return Sent(written, data, begun, cpu_begun)
        self.answered(now, cpu)
        self.turns_ns += wall
        return Answer(data[:-1], wall, used, 0)


def read_clock(clock: int) -> int | None:
    """The processor clock with this id, in nanoseconds; None if it cannot be read."""
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return None
