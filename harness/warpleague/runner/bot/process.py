"""One running bot: starts it, asks it line by line against a deadline, watches it, and ends it.

What the lines mean is decided in `warpleague.match.referee`; the process itself is in
`warpleague.runner.bot.child`.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from warpleague.match.spec import Violation
from warpleague.runner.bot import violations
from warpleague.runner.bot.child import EXIT_S, Child
from warpleague.runner.bot.clock import LOOK_NS, SLACK_NS, LongDecision
from warpleague.runner.bot.exchange import (
    CHUNK,
    NEVER,
    QUIET_NS,
    SHORT_NS,
    BotReply,
    exchange_over,
    line_of,
)
from warpleague.runner.bot.halt import Halt
from warpleague.runner.bot.loop import Loop, LoopShare
from warpleague.runner.bot.output import Output
from warpleague.runner.bot.pondering import Pondering
from warpleague.runner.bot.stderr import StderrLog
from warpleague.runner.bot.stopwatch import Stopwatch
from warpleague.runner.bot.watch import Attendance, read, watch
from warpleague.runner.confine.launch import MemoryWatch
from warpline.limits import STDERR_READ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warpleague.games.api import JsonObject
    from warpleague.match.spec import Level, SeatSpec
    from warpleague.runner.bot.exchange import Answered, Exchanged
    from warpleague.runner.bot.wirelog import BotLog, WireLog
    from warpline.messages import BotHello

QUICK_MS: Final = 5
"""How long to wait for an answer with a plain poll before the event loop takes over. Below 2 ms, bots that think a
little would cost a second system call; much longer, and the other tasks would have to wait. While the loop waits for
other bots, there is no such wait: it would keep their answers waiting."""

_GLANCE_NS: Final = 1_000_000  # when to see whether a bot sleeps, so that another match may ask
_DOZE_NS: Final = 1_000_000_000  # how long a task waits at most; meanwhile the loop looks at the clocks
_QUICK_NS: Final = QUICK_MS * 1_000_000

_LINUX: Final = sys.platform == "linux"


class BotProcess:
    """A running bot."""

    def __init__(self, seat: SeatSpec, level: Level) -> None:
        self.seat = seat
        self.stderr = StderrLog(seat.cwd)
        self.hello: BotHello | None = None
        """The bot's hello, once it has come."""
        self.pondering = Pondering()
        self.on_slow: Callable[[], None] | None = None
        """Called while an answer takes longer than `QUICK_MS`, now and then."""
        self._level = level
        self._unsent = b""  # what the pipe did not take
        # The last question: when it went out, its budget, how long a plain poll waited, the clock of the bot then.
        self._asked: tuple[int, int | None, int, int | None] = (0, None, QUICK_MS, None)
        self._rest = b""  # of the last question, what the pipe did not take at once
        self._turn: LongDecision | None = None  # once the answer takes more than a moment
        self._child = Child(seat, level)
        self._halt = Halt(self._child, self.pondering)
        self._stopwatch = Stopwatch(self._child, self._halt)
        self.memory = MemoryWatch(seat.memory_mb, self._child.group)
        self.pid = self._child.pid
        self._in, self._out = self._child.stdin, self._child.stdout
        self._output = Output(self._out)
        self._wire: WireLog | None = None
        self._pipes = exchange_over(self._in, self._out, self._child.clock_id, self._halt.cores)
        self._turn_ns = 0  # since when it is the bot's turn, while it is waited for
        self._closing = False
        self.share = LoopShare()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._attendance = Attendance()

    def log_to(self, log: BotLog) -> None:
        """Keep in `log` what is said from now on, until `rest`."""
        self._wire = self._output.wire = log.wire
        log.stderr = self.stderr

    # ------------------------------------------------------------------ one question, one answer

    async def ask(
        self, line: bytes, budget_ns: int | None, forgive: Callable[[bytes], bool] | None = None
    ) -> BotReply | Violation:
        """Send `line` and take one line in answer, within `budget_ns`; see `put`."""
        found = self.put(line, budget_ns, forgive)
        if found is None:
            return await self.awaited()
        if isinstance(found, Violation):
            return found
        said, wall_ns, cpu_ns = found
        return BotReply(line_of(said, line), wall_ns, cpu_ns, 0)

    def put(
        self, line: bytes, budget_ns: int | None, forgive: Callable[[bytes], bool] | None = None
    ) -> Answered | Violation | None:
        """Send `line` and take one line in answer, if it comes at once; if not, None: `awaited` brings it.

        The time, `budget_ns`, begins just before the line is written. Lines that were there already answer no
        question; `forgive` may excuse them one by one. Waits for `QUICK_MS` at most, without the event loop.
        """
        if self._halt.stopped:
            self._halt.resume()
        wire, output = self._wire, self._output
        if wire is not None:
            wire.sent(line)
        if output.held and (early := self._unasked(forgive)) is not None:
            return early
        if unsent := self._unsent:
            line, self._unsent = unsent + line, b""
        wait_ms = 0
        if not self.share.loop.asked:
            wait_ms = QUICK_MS if budget_ns is None or budget_ns >= _QUICK_NS else -(-budget_ns // 1_000_000)
        pipes = self._pipes
        while (found := pipes.exchange(line, wait_ms)) is None:
            if (early := self._unasked(forgive)) is not None:
                return early
        self._turn = None
        if len(found) == 6:
            found = self._judge_gap(found)
        if len(found) == 6:
            written, data, begun, _, cpu_begun, _ = found
            if cpu_begun is None and pipes.known_ns >= 0:
                cpu_begun = pipes.known_ns  # what it did since its last answer is too little to be judged
        else:
            said, wall_ns, cpu_ns = found
            if type(said) is int and wire is None and not (unsent or output.held):
                return found  # nearly always
            data, written, begun = line_of(said, line) + b"\n", len(line), pipes.ended_ns - wall_ns
            cpu_begun = None if cpu_ns is None else pipes.known_ns - cpu_ns
            if not (unsent or output.held):
                self._asked = begun, budget_ns, wait_ms, cpu_begun
                if wire is not None:
                    wire.received(data)
                return found
            pipes.turns_ns -= wall_ns  # `again` counts it
        self._asked = begun, budget_ns, wait_ms, cpu_begun
        if data is not None:
            output.take(data)
        self._rest = line[written:]
        return None

    def _judge_gap(self, found: Exchanged) -> Answered | Exchanged:
        """Judge the gap before the question if need be; if nothing else was unusual, the answer is as usual."""
        _, data, begun, now, cpu_begun, cpu = found
        pipes, wall_ns = self._pipes, now - begun
        if cpu_begun is None or cpu_begun <= pipes.alarm_ns:
            return found
        stopped, ended = self._halt.since_ns, pipes.ended_ns
        used_ns = cpu_begun - (pipes.alarm_ns - QUIET_NS)
        self.pondering.judge(used_ns, (stopped if stopped > ended else begun) - ended)
        if not data or wall_ns >= SHORT_NS or not data.find(b"\n") == len(data) - 1 < CHUNK - 1:
            return found
        pipes.answered(now, cpu)
        pipes.turns_ns += wall_ns
        return data[:-1], wall_ns, None if cpu is None else min(cpu - cpu_begun, wall_ns * self._halt.cores)

    async def awaited(self) -> BotReply | Violation:
        """Take the answer to what was `put`, if that brought none."""
        rest, self._rest = self._rest, b""
        if rest:
            self._begin_turn()
            try:
                if not await self._write_rest(rest):
                    return self._gone() if self._output.ended else self._timeout("it did not read its input")
            finally:
                self._end_turn()
        return await self.again()

    async def again(self) -> BotReply | Violation:
        """Take the next line in answer to the same question, under the same deadline."""
        self._begin_turn()
        try:
            return await self._await_line()
        finally:
            self._end_turn()

    def _begin_turn(self) -> None:
        self.look_after()
        self._turn_ns = self._asked[0]
        self.share.begin()

    def _end_turn(self) -> None:
        self.share.end()
        self._pipes.ended_ns = now = time.perf_counter_ns()
        self._pipes.turns_ns += now - self._turn_ns
        self._turn_ns = 0

    async def _await_line(self) -> BotReply | Violation:
        turn, cpu_begun = self._turn_now(), self._asked[3]
        self._wait_alone(turn)
        while (line := self._output.line()) is None:
            if self._output.ended:
                return self._gone()
            if not await self._doze(trio.lowlevel.wait_readable, self._out):
                return self._timeout()
        if isinstance(line, Violation):
            return line
        self._pipes.answered(time.perf_counter_ns(), cpu := self._child.cpu_ns())
        cpu_ns = None if cpu is None or cpu_begun is None else max(cpu - cpu_begun, turn.own_ns)
        return BotReply(line, turn.charged_ns, cpu_ns, self._stopwatch.wait_ns)

    async def _write_rest(self, rest: bytes) -> bool:
        """Write what the pipe did not take at once; false if its time is up before, or the bot died.

        What could not be written goes before the next line, so that the bot never reads two lines mixed up.
        """
        view = memoryview(rest)
        with trio.move_on_after(60 if self._asked[1] is None else math.inf):
            while True:
                try:
                    view = view[os.write(self._in, view) :]
                except BlockingIOError:
                    if not await self._doze(trio.lowlevel.wait_writable, self._in):
                        break
                except BrokenPipeError:
                    return True
                if not view:
                    return True
        self._unsent = bytes(view)
        return False

    def _unasked(self, forgive: Callable[[bytes], bool] | None) -> Violation | None:
        """Decide whether what the bot wrote before it was asked is a fault, or whether it has ended."""
        return self._output.unasked(forgive) or (self._gone() if self._output.ended else None)

    def _turn_now(self) -> LongDecision:
        """The clock of the current decision, which takes more than a moment."""
        if self._turn is None:
            begun, budget_ns, patience_ms, cpu_begun = self._asked
            self._turn = self._stopwatch.start(begun, budget_ns, cpu_begun or 0, self.share.loop)
            held = self._output.held
            self._stopwatch.look(self._turn, patience_ms * 1_000_000, held, self.share, dozed=False)
        return self._turn

    def _wait_alone(self, turn: LongDecision) -> None:
        """Wait for a bot that computes without the loop, until the next look at the clocks.

        Nobody else waits for the loop then, and each of its turns would take time from the bot.
        """
        share, output, now = self.share, self._output, time.perf_counter_ns()
        planned_ns = min(self._asked[0] + LOOK_NS - now, turn.left_ns(now))
        begun_ns = now - self._asked[0]
        alone = share.alone and share.loop.matches == share.loop.asked == 1
        if not alone or turn.sleeps or output.held or output.ended or begun_ns < _QUICK_NS or planned_ns <= 0:
            return
        if self.on_slow is not None:
            self.on_slow()
        with share.loop.blocked():
            self.stderr.drain_until(self._child.stderr, self._out, now + planned_ns)
        self._stopwatch.look(turn, planned_ns, output.read(), share, dozed=False)

    async def _doze(self, ready: Callable[[int], Awaitable[None]], fd: int) -> bool:
        """Wait until `ready`, or for the next look at the clocks, and read; false if the bot's time is up."""
        turn, planned_ns = self._turn_now(), _DOZE_NS
        self.share.loop.notice_pauses()
        now = time.perf_counter_ns()
        if now - turn.looked_ns > SLACK_NS or turn.left_ns(now) <= 0:
            # Nobody was waited for since the last look: if it is long ago, this process was kept from going on.
            self._look_at_children()
            self._stopwatch.look(turn, 0, False, self.share, dozed=False)
            now = time.perf_counter_ns()
        waited_ns = now - self._asked[0]
        if waited_ns < _QUICK_NS:
            planned_ns = (_GLANCE_NS if waited_ns < _GLANCE_NS else _QUICK_NS) - waited_ns
        elif self.on_slow is not None:
            self.on_slow()
        left_ns = turn.left_ns(time.perf_counter_ns())
        if left_ns <= 0:
            if not self._stopwatch.may_be_in_time(turn):
                return False
            left_ns = LOOK_NS
        planned_ns = min(planned_ns, left_ns)
        with trio.move_on_after(planned_ns / 1e9) as scope, self.share.dozing(scope, self._out, self._glance):
            await ready(fd)
        self._stopwatch.look(turn, planned_ns, self._output.read(), self.share)
        self.share.saw(turn.sleeps)
        return True

    def _glance(self, paused: bool) -> bool:
        """Look at the clocks while the bot is waited for; whether it sleeps."""
        turn = self._turn_now()
        # An answer that has come is looked at by the task that waits for it.
        if not self._poll.poll(0) and (paused or not turn.sleeps or self._halt.own_ns() != turn.seen_own_ns):
            self._stopwatch.look(turn, LOOK_NS, False, self.share)
        return turn.sleeps

    @property
    def charged_ns(self) -> int:
        """What the last answer that took more than a moment, or that is waited for, has been charged so far."""
        return 0 if self._turn is None else self._turn.charged_ns

    # ------------------------------------------------------------------ what went wrong

    def _timeout(self, why: str = "") -> Violation:
        excused_ns = self._turn_now().excused_ns
        why = why or ("it closed its input" if self._deaf() else "")
        if self.stderr.full:
            why = f"it wrote {STDERR_READ >> 20} MiB to standard error, and no more is read"
        return violations.timed_out(self._asked[1] or 0, excused_ns, self._output.unfinished, why)

    def _deaf(self) -> bool:
        """Whether the bot has closed its input, so that it cannot know what it is asked."""
        poll = select.poll()
        poll.register(self._in, 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))

    def _gone(self) -> Violation:
        """Why no more answers come; `HarnessFault` if the bot did not cause it."""
        return violations.gone(
            self._child, self._halt, self.memory, self.stderr, self.seat.bot, self._output.unfinished
        )

    def killed_by(self) -> str | None:
        """The name of the signal that ended a bot whose output has ended; None if no signal did."""
        status = self._child.status(EXIT_S)
        return violations.signal_name(-status) if status is not None and status < 0 else None

    def evidence(self) -> JsonObject:
        """The evidence for the record: exit status, the end of standard error."""
        self.drain_stderr()
        return violations.evidence(self.stderr, self._child.status())

    # ------------------------------------------------------------------ beside the questions

    def drain_stderr(self) -> bool:
        """Read the standard error so far; false once it has ended or is no longer read."""
        return self.stderr.drain(self._child.stderr)

    def attend(self, nursery: trio.Nursery, *, at_once: bool = True) -> None:
        """Have tasks read standard error and watch memory and processes, until `close` or `leave`.

        If not `at_once`, they begin with `look_after`, or when an answer does not come at once.
        """
        self.share.loop = Loop.here()
        tasks: list[Callable[[], Awaitable[None]]] = [partial(read, self.stderr, self._child.stderr)]
        if self._level != "none" and _LINUX:
            tasks.append(partial(watch, self._child, self._halt, self.memory, self._look_at_children))
            if not at_once and self.memory.due() and self.memory_exceeded():
                self.kill()
        self._attendance.plan(nursery, *tasks)
        if at_once:
            self.look_after()

    def look_after(self) -> None:
        """Begin the tasks of `attend`; to be called when the event loop has a turn."""
        self._attendance.begin()

    def _look_at_children(self) -> None:
        turns_ns = self._pipes.turns_ns + (time.perf_counter_ns() - self._turn_ns if self._turn_ns else 0)
        self._halt.look(turns_ns, self._turn_ns > 0, judged=self.hello is not None and not self._closing)

    def memory_exceeded(self) -> bool:
        """Whether the bot (in a sandbox: with all its processes) is over its memory limit now."""
        return self.memory.check(self._child.processes)

    def tell(self, line: bytes) -> None:
        """Send a line that needs no answer, as far as the pipe takes it at once; the rest goes before the next one."""
        if self._halt.stopped:
            self._halt.resume()
        if self._wire is not None:
            self._wire.sent(line)
        self._unsent += line
        with contextlib.suppress(OSError):
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]

    # ------------------------------------------------------------------ the end

    def locate(self) -> None:
        """Find the bot's own process after its first answer: clocks and stops are for this process."""
        if self._child.locate():
            # Nothing is known of this clock until its next reading.
            self._pipes.clock = self._child.clock_id
            self._pipes.alarm_ns, self._pipes.known_until_ns = NEVER, 0

    def pause(self) -> None:
        """Stop the bot until it is asked or sent something, if it cannot be left behind stopped."""
        self._halt.stop()

    def hush(self) -> None:
        """Stop the bot while another one is asked, if all its processes can be stopped without loss."""
        if self._halt.counted:
            self._halt.stop()

    def kill(self) -> None:
        """Kill the bot and all its processes that can be found, at once; `close` must still follow."""
        self._child.kill()

    async def close(self, grace_s: float) -> None:
        """End the bot: end of input, `grace_s` seconds to exit by itself, then SIGKILL to it and its group."""
        self._closing = True
        if self._halt.stopped:
            self._halt.resume()
        self._child.close_stdin()
        with trio.CancelScope(shield=True):
            try:
                if grace_s > 0 and self._child.alive():
                    with trio.move_on_after(grace_s):
                        await self._child.exited()
                self.kill()
                with self.share.loop.blocked():
                    self._child.reap()
            finally:
                await self.leave()
                self.drain_stderr()
                self._child.close()

    async def leave(self) -> None:
        """End the task of `attend`, so that no task waits on a descriptor that is closed or used by another match."""
        await self._attendance.end()

    # ------------------------------------------------------------------ between two matches

    def _quiet(self) -> bool:
        """Whether the bot is alive and has written nothing that was not asked for."""
        output = self._output
        return not output.held and not output.ended and not self._poll.poll(0) and self._child.alive()

    def rest(self) -> bool:
        """Get ready to wait for another match, after `leave`; false if the bot is not fit for one.

        Where the bot dies with the harness anyway it is stopped, so that it cannot compute at others' expense;
        elsewhere a stopped process might be left behind for ever. One that has other processes does not wait, nor
        does one in a sandbox that could undo its being stopped.
        """
        if not self._quiet() or self._unsent or (self._level == "sandbox" and not self._halt.counted):
            return False
        self.on_slow = None
        self.share.plays = self.share.alone = False
        self.drain_stderr()
        self.stderr = StderrLog(self.seat.cwd)
        self._wire = self._output.wire = None
        self._halt.stop()
        self._child.close_schedstat()
        return not self._child.others()

    def wake(self) -> bool:
        """Continue after `rest`; false if the bot wrote something or ended."""
        if not self._quiet():
            return False
        self._halt.resume()
        return True

    def end(self) -> None:
        """Kill a bot that nobody attends."""
        self._child.end()
