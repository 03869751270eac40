"""One question and one answer over a bot's pipes, for answers that come at once: the path of nearly all decisions.

`_exchange.c` is the same in C: it is used where it was compiled, and takes less time. What the readings mean, and what
happens to all other answers, is in `process`.
"""

from __future__ import annotations

import os
import select
import time
from typing import Any, Final, Protocol

import attrs

try:
    from warpleague.runner.bot import _exchange  # type: ignore[attr-defined, unused-ignore]

    compiled: Any = _exchange.Pipes
except ImportError:
    compiled = None

CHUNK: Final = 1 << 16
"""How much is read at once, in bytes."""

SHORT_NS: Final = 1_000_000
"""An answer within this time is charged as measured: reading the clocks would cost more than it could show."""

QUIET_NS: Final = 1_000_000
"""What every bot may do between two decisions, in nanoseconds of processor time: flush, clear up, wait
for input. Most were seen to take 0.01 to 0.1 ms, Java's compiler up to 0.8 ms."""

NEVER: Final = 1 << 62
"""A reading that no clock comes to."""

_HEAD: Final = b'{"type":"act","id":'
_INDICES: Final = {b',"action":%d}\n' % index: index for index in range(1000)}

Answered = tuple[int | bytes, int, int | None]
"""An answer that came at once: a line without its newline, or the index that it is no more than; the time that is
charged, and the processor time (None if it cannot be read), in nanoseconds."""

Exchanged = tuple[int, bytes | None, int, int, int | None, int | None]
"""What another exchange tells, in this order:

- how many bytes of the question the pipe took; where that is not all, nothing was read
- what was read, empty at the end of the output; None if nothing came in time
- when the question went out and when the answer was there, in nanoseconds of `time.perf_counter_ns`
- the bot's processor clock at both times, in nanoseconds; None if it was not read
"""


class Exchange(Protocol):
    """The two pipes of a bot, and what is known of its clocks since its last answer; all times in nanoseconds."""

    clock: int
    """The id of the bot's processor clock."""
    known_ns: int
    """What this clock showed at the last answer; -1 if it could not be read."""
    known_until_ns: int
    """Until then, by `time.perf_counter_ns`, it cannot have computed more since than every bot may."""
    alarm_ns: int
    """The reading of the processor clock beyond which the gap that is ending has to be judged."""
    ended_ns: int
    """When the last answer came."""
    turns_ns: int
    """How long it has been the bot's turn, in all."""

    def answered(self, now_ns: int, cpu_ns: int | None, /) -> None:
        """An answer was there at `now_ns`; read after that, the processor clock showed `cpu_ns`."""
        ...

    def exchange(self, line: bytes, wait_ms: int, /) -> Answered | Exchanged | None:
        """Send a question, and wait for the answer for so many milliseconds.

        `Answered` is one whole line within `SHORT_NS` after a gap that need not be judged; then all of the above is
        brought up to date. None says that the bot had written something before: then nothing was sent.
        """
        ...


@attrs.define
class BotReply:
    """A line that a bot answered, without its newline, and its times in nanoseconds.

    `wall_ns` is the time that is charged, `cpu_ns` the processor time, `wait_ns` how long the bot waited for a
    processor (None if the system does not say; measured only if the answer takes longer than a millisecond).
    """

    line: bytes
    wall_ns: int
    cpu_ns: int | None
    wait_ns: int | None


def exchange_over(to: int, back: int, clock: int, cores: int) -> Exchange:
    """The exchange over the non-blocking pipes of a bot, its input `to` and its output `back`.

    The bot may run on so many `cores` at once.
    """
    made: Exchange = (Pipes if compiled is None else compiled)(to, back, clock, cores)
    return made


class Pipes:
    """The two pipes of a bot, for exchanges in pure Python."""

    __slots__ = (
        *("_back", "_cores", "_poll", "_to", "alarm_ns", "clock"),
        *("ended_ns", "known_ns", "known_until_ns", "turns_ns"),
    )

    def __init__(self, to: int, back: int, clock: int, cores: int) -> None:
        self._to, self._back, self._cores, self.clock = to, back, cores, clock
        self.known_ns = -1
        self.known_until_ns = self.ended_ns = self.turns_ns = 0
        self.alarm_ns = NEVER
        poll = select.poll()
        poll.register(back, select.POLLIN)
        self._poll = poll.poll

    def answered(self, now_ns: int, cpu_ns: int | None, /) -> None:
        """Take note of an answer; see `Exchange`."""
        self.ended_ns = now_ns
        if cpu_ns is None:
            self.known_ns, self.known_until_ns = -1, 0
        else:
            self.known_ns, self.known_until_ns = cpu_ns, now_ns + QUIET_NS // self._cores
            self.alarm_ns = cpu_ns + QUIET_NS

    def exchange(self, line: bytes, wait_ms: int, /) -> Answered | Exchanged | None:
        """Ask and wait; see `Exchange`."""
        if self._poll(0):
            return None
        cpu_begun = cpu = data = None
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
            return written, None, begun, begun, cpu_begun, None
        try:
            data = os.read(self._back, CHUNK)
        except BlockingIOError:
            return written, None, begun, time.perf_counter_ns(), cpu_begun, None
        now = time.perf_counter_ns()
        cpu = read_clock(self.clock)
        wall = now - begun
        whole = data and data.find(b"\n") == len(data) - 1 < CHUNK - 1
        if not whole or wall >= SHORT_NS or (cpu_begun is not None and cpu_begun > self.alarm_ns):
            return written, data, begun, now, cpu_begun, cpu
        before = self.known_ns if cpu_begun is None else cpu_begun
        used = None if cpu is None or before < 0 else min(cpu - before, wall * self._cores)
        self.answered(now, cpu)
        self.turns_ns += wall
        # The same id as in the question, and no more than an index, as most bots write it.
        if line.startswith(_HEAD) and data.startswith(line[: (end := line.find(b",", len(_HEAD)))]):
            index = _INDICES.get(data[end:])
            if index is not None:
                return index, wall, used
        return data[:-1], wall, used


def line_of(answer: int | bytes, question: bytes) -> bytes:
    """The line, without its newline, that an answer to `question` was of which `Answered` tells."""
    if isinstance(answer, bytes):
        return answer
    return b'%b,"action":%d}' % (question[: question.find(b",", len(_HEAD))], answer)


def read_clock(clock: int) -> int | None:
    """The processor clock with this id, in nanoseconds; None if it cannot be read."""
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return None
