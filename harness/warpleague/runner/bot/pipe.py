"""One question and one answer over a bot's pipes.

Nearly all answers come at once, and take the first, short path. Any other answer is waited for, and meanwhile the
clocks are read. `process` interprets the readings.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import time
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
import trio

from warpleague.match.faults import quote
from warpleague.match.spec import Violation
from warpleague.runner.bot import violations
from warpleague.runner.bot.clocks import INTERVAL_NS, NEVER, SLACK_NS, LoopShare, Stopwatch
from warpleague.runner.bot.halt import QUIET_NS, Halt
from warpleague.runner.bot.violations import Unfinished
from warpline.codec import LineBuffer, LineTooLong
from warpline.limits import STDERR_READ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warpleague.runner.bot.child import Child
    from warpleague.runner.bot.logs import StderrLog, WireLog
    from warpleague.runner.confine.launch import MemoryWatch

    IsLate = Callable[[bytes], bool]
    """Whether a line answers an earlier question, whose time was up; true once for each such question."""


# -- exchange --------------------------------------------------------------------------------------------


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


# -- waiting ---------------------------------------------------------------------------------------------
# Waits for an answer that does not come at once, and reads the clocks meanwhile.
#
# Nobody else waits while a bot answers at once: that is in `exchange`. Here the event loop runs between two
# readings of the clocks. What the readings mean is in `clock`.


QUICK_NS: Final = 5_000_000
"""How long to wait for an answer with a plain poll before the event loop takes over, in nanoseconds.

Below 2 ms, bots that think a little would cost a second system call; much longer, and the other tasks would have to
wait. While the loop waits for other bots, there is no such wait: it would keep their answers waiting.
"""

_FIRST_CHECK_NS: Final = 1_000_000  # when to check whether a bot sleeps, so that another match may ask
_MAX_WAIT_NS: Final = 1_000_000_000  # how long a task waits at most; meanwhile the loop reads the clocks
_UNTIMED_WRITE_S: Final = 60.0  # how long a bot without a budget may take to read its question


@attrs.define(eq=False)
class Connection:
    """The pipes to one bot, and all that times and controls its process."""

    bot: str
    child: Child
    halt: Halt
    memory: MemoryWatch
    stopwatch: Stopwatch
    pipes: Pipes
    output: Output
    stderr: StderrLog
    share: LoopShare
    asked_ns: int = 0
    """The time of the question, while the referee waits for the answer; else 0."""
    is_player: bool = False
    """Whether it is known which process is the bot's own, so that its other processes can be judged."""

    def check_children(self) -> None:
        """Measure what the bot's other processes compute; stop the bot if they compute out of turn."""
        turns_ns = self.pipes.turns_ns
        if self.asked_ns:
            turns_ns += time.perf_counter_ns() - self.asked_ns
        self.halt.check(turns_ns, self.asked_ns > 0, judged=self.is_player)

    def gone(self) -> Violation:
        """Why no more answers come; `HarnessFault` if the bot did not cause it."""
        return violations.gone(
            self.child, self.halt, self.memory, self.stderr, self.bot, self.output.unfinished
        )

    def timed_out(self, budget_ns: int, excused_ns: int, why: str) -> Violation:
        """That no answer came in time, with what may explain it."""
        why = why or ("it closed its input" if self._is_deaf() else "")
        if self.stderr.full:
            why = f"it wrote {STDERR_READ >> 20} MiB to standard error, and no more is read"
        return violations.timed_out(budget_ns, excused_ns, self.output.unfinished, why)

    def _is_deaf(self) -> bool:
        """Whether the bot has closed its input, so that it cannot read the question."""
        poll = select.poll()
        poll.register(self.child.stdin, 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))


class Wait:
    """The wait for the answer to one question, which was `sent` and then polled for `polled_ns`."""

    def __init__(self, to: Connection, sent: Sent, budget_ns: int | None, polled_ns: int) -> None:
        self._to = to
        self._budget_ns = budget_ns
        self._cpu_begun_ns = sent.cpu_begun_ns
        if self._cpu_begun_ns is None and to.pipes.known_ns >= 0:
            self._cpu_begun_ns = (
                to.pipes.known_ns
            )  # what it did since its last answer is too little to be judged
        self.decision = to.stopwatch.start(sent.begun_ns, budget_ns, self._cpu_begun_ns or 0, to.share.loop)
        # How long was meant to be waited since the clocks were read; None: the event loop has waited, and read them.
        self._unread_ns: int | None = polled_ns
        self._came = to.output.unread  # at that time
        self.unsent = b""
        """The unwritten rest of the question: it goes before the next line, so that no two lines mix."""

    async def answer(self, rest: bytes, is_late: IsLate) -> Answer | Violation:
        """Write the `rest` of the question, and take one line in answer; answers that are late are skipped."""
        to = self._to
        if rest or to.output.unread:
            self._read_clocks()
        try:
            line = None if rest else to.output.line()
            if line is None or (isinstance(line, bytes) and is_late(line)):
                to.asked_ns = self.decision.begun_ns
                with to.share.asked():
                    line = await self._line(rest, is_late)
            if isinstance(line, bytes):
                return self._answer(line)
            self._read_clocks()
            return line
        finally:
            to.pipes.ended_ns = now = time.perf_counter_ns()
            to.pipes.turns_ns += now - self.decision.begun_ns
            to.asked_ns = 0

    def _answer(self, line: bytes) -> Answer:
        to, decision = self._to, self.decision
        cpu_ns = to.child.cpu_ns()
        if not self._charged_as_measured(cpu_ns):
            self._read_clocks()
        to.pipes.answered(time.perf_counter_ns(), cpu_ns)
        if cpu_ns is not None:
            begun_ns = self._cpu_begun_ns
            cpu_ns = None if begun_ns is None else max(cpu_ns - begun_ns, decision.own_ns)
        return Answer(line, decision.charged_ns, cpu_ns, to.stopwatch.wait_ns)

    def _read_clocks(self) -> None:
        """Read the clocks, if they have not been read since the bot was waited for without the event loop."""
        to, planned_ns, self._unread_ns = self._to, self._unread_ns, None
        if planned_ns is not None:
            to.stopwatch.read(self.decision, planned_ns, self._came, to.share, in_loop=False)

    def _charged_as_measured(self, cpu_ns: int | None) -> bool:
        """Charge an answer of a bot that computed nearly all the time as measured, as `Pipes.exchange` does.

        Of a bot whose clocks have not been read in this decision, which shows `cpu_ns` on its own.
        """
        decision, begun_ns = self.decision, self._cpu_begun_ns
        if self._unread_ns is None or cpu_ns is None or begun_ns is None:
            return False
        wall_ns = time.perf_counter_ns() - decision.begun_ns
        own_ns = min(cpu_ns - begun_ns, wall_ns * self._to.halt.cores)
        if wall_ns - own_ns >= SHORT_NS:
            return False
        decision.charged_ns, decision.own_ns = wall_ns, own_ns
        return True

    async def _line(self, rest: bytes, is_late: IsLate) -> bytes | Violation:
        """The next line of the bot that is not late; a violation if none comes in time."""
        to = self._to
        if rest and not await self._write(rest):
            return to.gone() if to.output.ended else self._timeout("it did not read its input")
        self._wait_alone()
        while True:
            line = to.output.line()
            if isinstance(line, Violation) or (line is not None and not is_late(line)):
                return line
            if line is not None:
                continue
            self._read_clocks()
            if to.output.ended:
                return to.gone()
            if not await self._wait_until(trio.lowlevel.wait_readable, to.child.stdout):
                return self._timeout()

    def _timeout(self, why: str = "") -> Violation:
        return self._to.timed_out(self._budget_ns or 0, self.decision.excused_ns, why)

    async def _write(self, rest: bytes) -> bool:
        """Write what the pipe did not take at once; false if the time is up before, or the bot died."""
        pipe, view = self._to.child.stdin, memoryview(rest)
        with trio.move_on_after(_UNTIMED_WRITE_S if self._budget_ns is None else math.inf):
            while True:
                try:
                    view = view[os.write(pipe, view) :]
                except BlockingIOError:
                    if not await self._wait_until(trio.lowlevel.wait_writable, pipe):
                        break
                except BrokenPipeError:
                    return True
                if not view:
                    return True
        self.unsent = bytes(view)
        return False

    def _wait_alone(self) -> None:
        """Wait without the loop, until the clocks have to be read.

        Nobody else waits for the loop then, and each of its turns would take time from a bot that computes.
        """
        to, decision, now = self._to, self.decision, time.perf_counter_ns()
        share, output = to.share, to.output
        waited_ns = now - decision.begun_ns
        planned_ns = min(INTERVAL_NS - waited_ns, decision.left_ns(now))
        alone = share.alone and share.loop.matches == share.loop.asked == 1
        if (
            not alone
            or self._unread_ns is None
            or output.unread
            or output.ended
            or waited_ns < QUICK_NS
            or planned_ns <= 0
        ):
            return
        share.on_slow()
        with share.loop.blocked():
            to.stderr.drain_until(to.child.stderr, to.child.stdout, now + planned_ns)
        self._unread_ns += planned_ns
        self._came = output.read()

    async def _wait_until(self, ready: Callable[[int], Awaitable[None]], fd: int) -> bool:
        """Wait until `ready`, or for the next reading of the clocks, and read output; false if the time is up."""
        to, decision, planned_ns = self._to, self.decision, _MAX_WAIT_NS
        to.share.loop.notice_pauses()
        now = time.perf_counter_ns()
        if now - decision.read_ns > SLACK_NS or decision.left_ns(now) <= 0:
            # The last reading is long ago, so this process itself was paused.
            to.check_children()
            to.stopwatch.read(decision, 0, False, to.share, in_loop=False)
            now = time.perf_counter_ns()
        waited_ns = now - decision.begun_ns
        if waited_ns < QUICK_NS:
            planned_ns = (_FIRST_CHECK_NS if waited_ns < _FIRST_CHECK_NS else QUICK_NS) - waited_ns
        else:
            to.share.on_slow()
        left_ns = decision.left_ns(time.perf_counter_ns())
        if left_ns <= 0:
            if not to.stopwatch.may_be_in_time(decision):
                return False
            left_ns = INTERVAL_NS
        planned_ns = min(planned_ns, left_ns)
        with (
            trio.move_on_after(planned_ns / 1e9) as scope,
            to.share.waiting(scope, to.child.stdout, self._check_sleep),
        ):
            await ready(fd)
        to.stopwatch.read(decision, planned_ns, to.output.read(), to.share)
        to.share.note(sleeps=decision.sleeps)
        return True

    def _check_sleep(self, paused: bool) -> bool:
        """Whether the bot sleeps, while the loop waits for it; reads the clocks where they may say something new."""
        to, decision = self._to, self.decision
        # An answer that has come is for the task that waits for it.
        if to.pipes.silent() and (paused or not decision.sleeps or to.halt.own_ns() != decision.seen.own_ns):
            to.stopwatch.read(decision, INTERVAL_NS, False, to.share)
        return decision.sleeps


# -- output ----------------------------------------------------------------------------------------------
# The output of a bot that nobody has judged yet: whole lines, the beginning of one, and the end of the
# output.


class Output:
    """The standard output of one bot, read from its non-blocking pipe."""

    __slots__ = ("_buffer", "_pipe", "ended", "unread", "wire")

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._buffer = LineBuffer()
        self.unread = False
        """Whether there is anything that was read and not taken as a line."""
        self.ended = False
        """Whether the output has ended."""
        self.wire: WireLog | None = None
        """Where to log what is read."""

    @property
    def unfinished(self) -> Unfinished:
        """The line that has begun, if one has."""
        return Unfinished(self._buffer.peek(), len(self._buffer)) if self.unread else Unfinished()

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
            return violations.flooded(error)
        if line is not None:
            self.unread = len(self._buffer) > 0
        return line

    def unasked(self, is_late: Callable[[bytes], bool]) -> Violation | None:
        """Read what is there, which came before the question: a fault, unless its lines are late answers.

        The beginning of a line stays: the rest may follow, and is judged then.
        """
        if not self.ended:
            self.read()
        while (line := self.line()) is not None:
            if isinstance(line, Violation):
                return line
            if not is_late(line):
                return Violation("protocol", "it wrote a line without having been asked", quote(line))
        return None
