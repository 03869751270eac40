"""One question and one answer over a bot's pipes, for answers that come at once: the path of nearly all decisions.

`_exchange.c` is the same in C: it is used where it was compiled, and takes less time. What the readings mean, and what
happens to all other answers, is in `process`.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs

try:
    from warpleague.runner.bot import _exchange  # type: ignore[attr-defined, unused-ignore]

    compiled: Any = _exchange.exchange
except ImportError:
    compiled = None

CHUNK: Final = 1 << 16
"""How much is read at once, in bytes."""

Exchanged = tuple[int, bytes | None, int, int, int | None, int | None]
"""What an exchange tells, in this order:

- how many bytes of the question the pipe took; where that is not all, nothing was read
- what was read, empty at the end of the output; None if nothing came in time
- when the question went out and when the answer was there, in nanoseconds of `time.perf_counter_ns`
- the bot's processor clock at both times, in nanoseconds; None if it was not read
"""

Exchange = Callable[[bytes, int, int, int], Exchanged | None]
"""Asks and waits. It takes the question, how many milliseconds to wait for the answer, the id of the bot's processor
clock, and until when this clock need not be read before the question.

It returns None if the bot had written something before: then nothing was sent."""


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


def exchange_over(to: int, back: int) -> Exchange:
    """The exchange over the non-blocking pipes of a bot, its input `to` and its output `back`."""
    return Pipes(to, back).exchange if compiled is None else partial(compiled, to, back)


class Pipes:
    """The two pipes of a bot, for exchanges in pure Python."""

    __slots__ = ("_back", "_poll", "_to")

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        poll = select.poll()
        poll.register(back, select.POLLIN)
        self._poll = poll.poll

    def exchange(self, line: bytes, wait_ms: int, clock: int, known_ns: int) -> Exchanged | None:
        """Ask and wait; see `Exchange`."""
        if self._poll(0):
            return None
        cpu_begun = cpu = data = None
        begun = time.perf_counter_ns()
        if begun > known_ns:
            cpu_begun = read_clock(clock)
            begun = time.perf_counter_ns()
        try:
            written = os.write(self._to, line)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            written = len(line)  # its last words may be there: reading tells
        if written == len(line) and self._poll(wait_ms):
            try:
                data = os.read(self._back, CHUNK)
            except BlockingIOError:
                return written, None, begun, time.perf_counter_ns(), cpu_begun, None
            now = time.perf_counter_ns()
            cpu = read_clock(clock)
            return written, data, begun, now, cpu_begun, cpu
        return written, None, begun, begun, cpu_begun, None


def read_clock(clock: int) -> int | None:
    """The processor clock with this id, in nanoseconds; None if it cannot be read."""
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return None
