"""One running bot: its questions, the wait for its answers, the tasks that watch it, its rest and its end.

`pipe` takes an answer that comes at once; any other is waited for here, while `clocks` decides what of the time is
charged. `warpleague.match.referee` decides the meaning of a line. The process of the operating system is in `child`.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import sys
import time
from collections import OrderedDict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import attrs
import trio

from warpleague.errors import HarnessFault
from warpleague.match.faults import Silence, own_frame
from warpleague.match.spec import KILLED_BY_OTHERS, Level, SeatSpec, Violation
from warpleague.runner.bot.child import EXIT_S, Child
from warpleague.runner.bot.clocks import INTERVAL_NS, NEVER, SLACK_NS, Loop, LoopShare, Stopwatch
from warpleague.runner.bot.halt import QUIET_NS, Halt, Pondering
from warpleague.runner.bot.logs import EVIDENCE_CHARS, BotLog, StderrLog
from warpleague.runner.bot.pipe import SHORT_NS, Answer, Output, Pipes, Sent, timed_out
from warpleague.runner.confine.launch import WATCH_S, MemoryWatch
from warpleague.runner.confine.sandbox import Killed
from warpline.limits import STDERR_READ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from warpleague.games.api import JsonObject
    from warpleague.runner.bot.pipe import IsLate
    from warpline.messages import BotHello

    Task = Callable[[], Awaitable[None]]
    Kind = tuple[SeatSpec, Level]

# How long to wait for an answer with a plain poll before the event loop takes over, in nanoseconds. Below 2 ms, bots
# that think a little would cost a second system call; much longer, and the other tasks would have to wait. While the
# loop waits for other bots, there is no such wait: it would keep their answers waiting.
QUICK_NS: Final = 5_000_000

# How often the memory of a bot that sleeps is measured, in seconds, where the kernel caps it; else `WATCH_S`.
SLEEPER_WATCH_S: Final = 0.2

_QUICK_MS: Final = QUICK_NS // 1_000_000
_LINUX: Final = sys.platform == "linux"
_SHARE: Final = 0.02  # the largest share of the time spent on measuring memory
_FIRST_CHECK_NS: Final = 1_000_000  # when to check whether a bot sleeps, so that another match may ask
_MAX_WAIT_NS: Final = 1_000_000_000  # how long a task waits at most; meanwhile the loop reads the clocks
_UNTIMED_WRITE_S: Final = 60.0  # how long a bot without a budget may take to read its question


def never_late(line: bytes) -> bool:  # noqa: ARG001 - the signature of `IsLate`
    """Where each question is answered before the next one is asked, no answer is late."""
    return False


class BotProcess:
    """A running bot. `start` starts its process, and `stopwatch` makes what times its decisions."""

    def __init__(
        self,
        seat: SeatSpec,
        level: Level,
        start: Callable[[SeatSpec, Level], Child] = Child,
        stopwatch: Callable[[Child, Halt], Stopwatch] = Stopwatch,
    ) -> None:
        self.seat = seat
        self.hello: BotHello | None = None  # the bot's hello, once it has come
        self.pondering = Pondering()
        self.child = child = start(seat, level)
        self.halt = Halt(child, self.pondering)
        self.memory = MemoryWatch(seat.memory_mb, child.group)
        self.stopwatch = stopwatch(child, self.halt)
        self.pid = child.pid
        self.pipes = Pipes(child.stdin, child.stdout, child.clock_id, self.halt.cores)
        self.output = Output(child.stdout)
        self.stderr = StderrLog(seat.cwd)  # its standard error in this match
        self.share = LoopShare()
        # The time of the question, while an answer is waited for that did not come at once; else 0.
        self.asked_ns = 0
        # What the pipe did not take: it goes before the next line, so that no two lines mix.
        self.unsent = b""
        self._level = level
        self._is_located = False  # whether its own process is known, so that its others can be judged
        self._wait: _Wait | None = None  # for the answer to the last question, if it did not come at once
        self._tasks = BackgroundTasks()

    @property
    def is_reusable(self) -> bool:
        """Whether both the manifest and the bot itself say that the process may play another match."""
        return self.seat.reusable and self.hello is not None and self.hello.reusable

    # ------------------------------------------------------------------ one question, one answer

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate = never_late
    ) -> Answer | Violation:
        """Send `line` and take one line in answer, within `budget_ns` nanoseconds (None: any time).

        The time begins just before the line is written. A line that was there already is a fault, since it answers no
        question; unless `is_late` says that it is the answer to an earlier question whose time was up. Such lines are
        skipped, before and after the question. Raises `HarnessFault` if the bot did not cause that no answer comes.
        """
        if self.halt.stopped:
            self.halt.resume()
        if self.output.wire is not None:
            self.output.wire.sent(line)
        if self.unsent:
            line, self.unsent = self.unsent + line, b""
        wait_ms = 0
        if not self.share.loop.asked:
            wait_ms = _QUICK_MS if budget_ns is None or budget_ns >= QUICK_NS else -(-budget_ns // 1_000_000)
        self._wait = None
        if self.output.unread and (early := self._written_early(is_late)) is not None:
            return early
        # None: it has written something since it was asked last. Late answers are skipped, and the question goes after
        # them; anything else is a fault.
        while (exchanged := self.pipes.exchange(line, wait_ms, self.output.unread)) is None:
            if (early := self._written_early(is_late)) is not None:
                return early
        if isinstance(exchanged, Answer):
            if self.output.wire is not None:
                self.output.wire.received(exchanged.line + b"\n")
            answer: Answer | Violation = exchanged
            if is_late(exchanged.line):
                answer = await self._wait_for(b"", self._skipped(exchanged), budget_ns, wait_ms, is_late)
        else:
            rest = line[exchanged.written :]
            answer = await self._wait_for(rest, exchanged, budget_ns, wait_ms, is_late)
        if self.pondering.stops and isinstance(answer, Answer):
            self.pause()
        return answer

    def _written_early(self, is_late: IsLate) -> Violation | None:
        """Judge output that came before the question, or the end of the output."""
        return self.output.unasked(is_late) or (self.gone() if self.output.ended else None)

    def _skipped(self, late: Answer) -> Sent:
        """The question, after its first answer was late and is skipped."""
        cpu_begun_ns = None if late.cpu_ns is None else self.pipes.known_ns - late.cpu_ns
        return Sent(0, None, self.pipes.ended_ns - late.wall_ns, cpu_begun_ns)

    async def _wait_for(
        self, rest: bytes, sent: Sent, budget_ns: int | None, polled_ms: int, is_late: IsLate
    ) -> Answer | Violation:
        """Take an answer that did not come at once, or not as one line, or that may not be charged as measured."""
        self._judge_gap(sent)
        if sent.data is not None:
            self.output.take(sent.data)
        self._wait = _Wait(self, sent, budget_ns, polled_ms * 1_000_000)
        return await self._wait.answer(rest, is_late)

    def _judge_gap(self, sent: Sent) -> None:
        """Judge what the bot computed between its last answer and this question, if that was much."""
        pipes, cpu_ns = self.pipes, sent.cpu_begun_ns
        if cpu_ns is not None and cpu_ns > pipes.gap_check_at_ns:
            # One that was stopped since its answer could run only until then.
            since_ns, stopped_ns = pipes.ended_ns, self.halt.since_ns
            used_ns = cpu_ns - (pipes.gap_check_at_ns - QUIET_NS)
            self.pondering.judge(used_ns, (stopped_ns if stopped_ns > since_ns else sent.begun_ns) - since_ns)

    @property
    def charged_ns(self) -> int:
        """The charge of the bot so far for an answer that did not come at once, or is not there yet; else 0."""
        return 0 if self._wait is None else self._wait.decision.charged_ns

    def greeted(self, hello: BotHello) -> None:
        """Note the bot's `hello`, and find its own process: clocks and stops are for this process."""
        self.hello = hello
        self._is_located = True
        if self.child.locate():
            # Nothing is known of this clock until its next reading.
            self.pipes.clock = self.child.clock_id
            self.pipes.gap_check_at_ns, self.pipes.skip_clock_until_ns = NEVER, 0

    def tell(self, line: bytes) -> None:
        """Send a line that needs no answer, as far as the pipe takes it at once; the rest goes before the next one."""
        if self.halt.stopped:
            self.halt.resume()
        if self.output.wire is not None:
            self.output.wire.sent(line)
        self.unsent += line
        with contextlib.suppress(OSError):  # the pipe is full, or the bot has ended
            self.unsent = self.unsent[os.write(self.child.stdin, self.unsent) :]

    # ------------------------------------------------------------------ what went wrong

    def gone(self) -> Violation:
        """Why no more answers come from a bot whose output has ended; `HarnessFault` if the bot did not cause it."""
        if self.halt.undone:
            used_ms = self.halt.undone_ns / 1e6
            text = f"computed for {used_ms:.0f} ms while it was stopped, and was killed"
            return Violation("crash", text, {"computed_ms": round(used_ms, 3)})
        if self.memory.killed():
            text = f"took {self.memory.exceeded_mb} MiB of memory; the limit is {self.memory.limit_mb} MiB"
            if (kill := self.memory.kill) is None:
                return Violation("memory", text)
            detail = {"killed_processes": kill.processes, "peak_mb": kill.peak_mb}
            return Violation("memory", f"{text}, and the kernel killed it", {"killed_by": "kernel", **detail})
        if (kill := self.memory.kill) is not None:
            if kill.held_most:
                text = (
                    f"took {kill.peak_mb} MiB of memory, more than any other bot, and the machine, or a control group "
                    "above the bot's, had no more: the kernel killed it"
                )
                return Violation("memory", text, {"killed_by": "kernel", "peak_mb": kill.peak_mb})
            raise Killed(
                f"the kernel killed {self.seat.bot}, which was within its limit: the machine, or a control group"
                " above the bot's, is short of memory"
            )
        if (fault := self.child.level_fault()) is not None:
            self.drain_stderr()
            raise HarnessFault(f"{self.seat.bot} was not run: {self.stderr.text().strip() or fault}")
        how = ended_how(self.child.status(EXIT_S))  # it closed its output: a moment to end
        return self.output.with_unfinished(Violation("crash", how))

    def killed_by(self) -> str | None:
        """The name of the signal that ended a bot whose output has ended; None if no signal did."""
        status = self.child.status(EXIT_S)
        return signal_name(-status) if status is not None and status < 0 else None

    def evidence(self) -> JsonObject:
        """The evidence for the record: exit status, the end of standard error."""
        self.drain_stderr()
        detail: JsonObject = {"stderr": self.stderr.text(EVIDENCE_CHARS), "stderr_bytes": self.stderr.total}
        if frame := own_frame(self.stderr.text()):
            detail["frame"] = frame
        status = self.child.status()
        if status is not None:
            detail["exit"] = status if status >= 0 else signal_name(-status)
        return detail

    def drain_stderr(self) -> bool:
        """Read the standard error so far; false once it has ended or is no longer read."""
        return self.stderr.drain(self.child.stderr)

    # ------------------------------------------------------------------ beside the questions

    def attend(
        self,
        nursery: trio.Nursery,
        share: LoopShare | None = None,
        log: BotLog | None = None,
        *,
        at_once: bool = True,
    ) -> None:
        """Have tasks in `nursery` read standard error and watch memory and processes, until `close` or `leave`.

        If not `at_once`, they begin with `begin_tasks`, or when an answer does not come at once. `share` is the part
        that the bot has in an event loop. `log` takes all lines and the standard error.
        """
        self.share = share or LoopShare(Loop.here())
        if log is not None:
            self.output.wire = log.wire
            log.stderr = self.stderr
        tasks: list[Task] = [partial(_read_stderr, self.stderr, self.child.stderr)]
        if self._level != "none" and _LINUX:
            tasks.append(self._watch)
            # If all answers come at once, these tasks never begin, in match after match of a reusable bot.
            if not at_once and self.memory.due() and self._memory_ends_it():
                self.kill()
        self._tasks.plan(nursery, *tasks)
        if at_once:
            self.begin_tasks()

    def begin_tasks(self) -> None:
        """Begin the tasks of `attend`, since the event loop is about to run."""
        self._tasks.begin()

    async def _watch(self) -> None:
        """Kill the bot once it has taken more memory than it may, and stop it if its processes compute out of turn."""
        # It comes every 50 ms, so a bot that takes memory fast gets somewhat more than it may, where no group caps it.
        computed_ns = -1
        while True:
            begun, before_ns, computed_ns = time.perf_counter(), computed_ns, self.halt.own_ns()
            # Who computed nothing has taken no memory, if all of its processes are counted.
            slept = self.halt.counted and computed_ns == before_ns
            if not slept and self._memory_ends_it():
                self.kill()
                return
            self.check_children()
            pause_s = SLEEPER_WATCH_S if slept and self.memory.capped else WATCH_S
            # Never more than a small share of the time, however many processes there are.
            await trio.sleep(max(pause_s, (time.perf_counter() - begun) / _SHARE))

    def check_children(self) -> None:
        """Measure what the bot's other processes compute, and stop the bot if they compute out of turn."""
        turns_ns = self.pipes.turns_ns
        if self.asked_ns:
            turns_ns += time.perf_counter_ns() - self.asked_ns
        self.halt.check(turns_ns, self.asked_ns > 0, judged=self._is_located)

    def memory_exceeded(self) -> bool:
        """Whether the bot (in a sandbox: with all its processes) is over its memory limit now."""
        return self.memory.check(self.child.processes)

    def _memory_ends_it(self) -> bool:
        """Whether it is over its limit, or the kernel killed one of its processes: the end, whatever it does later."""
        return self.memory_exceeded() or self.memory.kill is not None

    def pause(self) -> None:
        """Freeze the bot until its next message, if a crash of the harness cannot leave it frozen."""
        # After its answer it computes until the scheduler lets us stop it, up to some milliseconds. That time is not
        # charged to others.
        self.halt.stop()

    def freeze(self) -> None:
        """Stop the bot while another one is asked, if all its processes can be frozen."""
        # Without a freezer only a bot that often computes out of turn is stopped.
        if self.halt.counted:
            self.halt.stop()

    # ------------------------------------------------------------------ the end

    def kill(self) -> None:
        """Kill the bot and all its known processes at once; the caller must call `close` afterwards."""
        self.child.kill()

    async def close(self, grace_s: float) -> None:
        """End the bot: end of input, `grace_s` seconds to exit by itself, then SIGKILL to it and its group."""
        self._is_located = False
        if self.halt.stopped:
            self.halt.resume()  # or it could not exit by itself
        self.child.close_stdin()
        # Shielded: the bots of a match that is cancelled end, too.
        with trio.CancelScope(shield=True):
            try:
                if grace_s > 0 and self.child.alive():
                    with trio.move_on_after(grace_s):
                        await self.child.exited()
                self.kill()
                with self.share.loop.blocked():
                    self.child.reap()
            finally:
                await self.leave()
                self.drain_stderr()
                self.child.close()

    async def leave(self) -> None:
        """End the tasks of `attend`, so that none waits on a descriptor that is closed or used by another match."""
        await self._tasks.end()

    def end(self) -> None:
        """Kill a bot that nobody attends."""
        self.child.end()

    # ------------------------------------------------------------------ between two matches

    def rest(self) -> bool:
        """Get ready to wait for another match, after `leave`; false if the bot is not fit for one."""
        # Where the bot dies with the harness anyway it is stopped, so that it cannot compute at others' expense;
        # elsewhere a stopped process might be left behind for ever. One that has other processes does not wait, nor
        # does one in a sandbox that could undo its being stopped.
        if not self._is_silent() or self.unsent or (self._level == "sandbox" and not self.halt.counted):
            return False
        self.drain_stderr()  # what it wrote in this match belongs to this match
        self.stderr = StderrLog(self.seat.cwd)
        self.share = LoopShare()
        self.output.wire = None
        self.halt.stop()
        self.child.close_schedstat()
        return not self.child.others()  # only now: what is stopped starts no more

    def wake(self) -> bool:
        """Continue after `rest`; false if the bot wrote something or ended."""
        if not self._is_silent():
            return False
        self.halt.resume()
        return True

    def _is_silent(self) -> bool:
        """Whether the bot is alive and has written nothing that was not asked for."""
        output = self.output
        return not output.unread and not output.ended and self.pipes.silent() and self.child.alive()


class _Wait:
    """The wait for the answer to one question of `bot`, which was `sent` and then polled for `polled_ns`."""

    # If this bot computes and all others are idle, a `poll` goes on until 20 ms have passed: each turn of the event
    # loop would take time from the bot. Otherwise, and after that, trio waits, 20 ms at a time. After each of these
    # waits the clocks are read, and the deadline moves by the time that was not the bot's. Nothing else moves it, not
    # even half a line.

    def __init__(self, bot: BotProcess, sent: Sent, budget_ns: int | None, polled_ns: int) -> None:
        self._bot = bot
        self._budget_ns = budget_ns
        self._cpu_begun_ns = sent.cpu_begun_ns
        if self._cpu_begun_ns is None and bot.pipes.known_ns >= 0:
            # Its clock was not read: what it did since its last answer is too little to be judged.
            self._cpu_begun_ns = bot.pipes.known_ns
        self.decision = bot.stopwatch.start(sent.begun_ns, budget_ns, self._cpu_begun_ns or 0, bot.share.loop)
        # How long was meant to be waited since the clocks were read; None: the event loop has waited, and read them.
        self._unread_ns: int | None = polled_ns
        self._came = bot.output.unread  # at that time

    async def answer(self, rest: bytes, is_late: IsLate) -> Answer | Violation:
        """Write the `rest` of the question, and take one line in answer; answers that are late are skipped."""
        bot = self._bot
        if rest or bot.output.unread:
            self._read_clocks()
        try:
            line = None if rest else bot.output.line()
            if line is None or (isinstance(line, bytes) and is_late(line)):
                bot.asked_ns = self.decision.begun_ns
                with bot.share.asked():
                    line = await self._line(rest, is_late)
            if isinstance(line, bytes):
                return self._answer(line)
            self._read_clocks()
            return line
        finally:
            bot.pipes.ended_ns = now = time.perf_counter_ns()
            bot.pipes.turns_ns += now - self.decision.begun_ns
            bot.asked_ns = 0

    def _answer(self, line: bytes) -> Answer:
        bot, decision = self._bot, self.decision
        cpu_ns = bot.child.cpu_ns()
        if not self._charge_as_measured(cpu_ns):
            self._read_clocks()
        bot.pipes.answered(time.perf_counter_ns(), cpu_ns)
        if cpu_ns is not None:
            begun_ns = self._cpu_begun_ns
            cpu_ns = None if begun_ns is None else max(cpu_ns - begun_ns, decision.own_ns)
        return Answer(line, decision.charged_ns, cpu_ns, bot.stopwatch.wait_ns)

    def _read_clocks(self) -> None:
        """Read the clocks, if they have not been read since the bot was waited for without the event loop."""
        bot, planned_ns, self._unread_ns = self._bot, self._unread_ns, None
        if planned_ns is not None:
            bot.stopwatch.read(self.decision, planned_ns, self._came, bot.share, in_loop=False)

    def _charge_as_measured(self, cpu_ns: int | None) -> bool:
        """Charge an answer of a bot that computed nearly all the time as measured, as `Pipes.exchange` does."""
        # Only if its clocks have not been read in this decision: the bot's own one shows `cpu_ns`.
        decision, begun_ns = self.decision, self._cpu_begun_ns
        if self._unread_ns is None or cpu_ns is None or begun_ns is None:
            return False
        wall_ns = time.perf_counter_ns() - decision.begun_ns
        own_ns = min(cpu_ns - begun_ns, wall_ns * self._bot.halt.cores)
        if wall_ns - own_ns >= SHORT_NS:
            return False
        decision.charged_ns, decision.own_ns = wall_ns, own_ns
        return True

    async def _line(self, rest: bytes, is_late: IsLate) -> bytes | Violation:
        """The next line of the bot that is not late; a violation if none comes in time."""
        bot = self._bot
        if rest and not await self._write(rest):
            return bot.gone() if bot.output.ended else self._timed_out("it did not read its input")
        self._wait_alone()
        while True:
            line = bot.output.line()
            if isinstance(line, Violation) or (line is not None and not is_late(line)):
                return line
            if line is not None:
                continue
            self._read_clocks()
            if bot.output.ended:
                return bot.gone()
            # A part of a line does not move the deadline either: it is read, and the wait goes on.
            if not await self._wait_until(trio.lowlevel.wait_readable, bot.child.stdout):
                return self._timed_out("it closed its input" if self._is_deaf() else "")

    def _timed_out(self, why: str) -> Violation:
        """That no answer came in time, with what may explain it."""
        bot = self._bot
        detail: JsonObject = {}
        if bot.stderr.full:
            why = f"it wrote {STDERR_READ >> 20} MiB to standard error, and no more is read"
        elif not why:
            silence = Silence(self.decision.own_ns, self.decision.charged_ns, *bot.child.at_input())
            why, detail = silence.words, silence.detail
        trouble = timed_out(self._budget_ns or 0, self.decision.excused_ns, why)
        trouble.detail |= detail
        return bot.output.with_unfinished(trouble)

    def _is_deaf(self) -> bool:
        """Whether the bot has closed its input, so that it cannot read the question."""
        poll = select.poll()
        poll.register(self._bot.child.stdin, 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))

    async def _write(self, rest: bytes) -> bool:
        """Write what the pipe did not take at once; false if the time is up before, or the bot died."""
        # With a budget, `_wait_until` says when the time is up: the deadline moves.
        pipe, view = self._bot.child.stdin, memoryview(rest)
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
        self._bot.unsent = bytes(view)
        return False

    def _wait_alone(self) -> None:
        """Wait without the loop, until the clocks have to be read, if nobody else waits for the loop."""
        # Standard error is read here, too: for that the loop would have to run, and take time from the bot.
        bot, decision, now = self._bot, self.decision, time.perf_counter_ns()
        share, output = bot.share, bot.output
        waited_ns = now - decision.begun_ns
        planned_ns = min(INTERVAL_NS - waited_ns, decision.left_ns(now))
        alone = share.alone and share.loop.matches == share.loop.asked == 1
        begun = self._unread_ns is None or output.unread or output.ended
        if not alone or begun or waited_ns < QUICK_NS or planned_ns <= 0:
            return
        share.on_slow()
        with share.loop.blocked():
            bot.stderr.drain_until(bot.child.stderr, bot.child.stdout, now + planned_ns)
        assert self._unread_ns is not None
        self._unread_ns += planned_ns
        self._came = output.read()

    async def _wait_until(self, ready: Callable[[int], Awaitable[None]], fd: int) -> bool:
        """Wait until `ready`, or for the next reading of the clocks, and read output; false if the time is up."""
        bot, decision, planned_ns = self._bot, self.decision, _MAX_WAIT_NS
        bot.share.loop.notice_pauses()
        now = time.perf_counter_ns()
        if now - decision.read_ns > SLACK_NS or decision.left_ns(now) <= 0:
            # The last reading is long ago, so this process itself was paused.
            bot.check_children()
            bot.stopwatch.read(decision, 0, False, bot.share, in_loop=False)
            now = time.perf_counter_ns()
        # The clocks are read after 1 ms and 5 ms, to see whether the bot computes or sleeps: while it sleeps, another
        # match of the loop may ask. After that the loop reads them every 20 ms, for all bots that it waits for.
        waited_ns = now - decision.begun_ns
        if waited_ns < QUICK_NS:
            planned_ns = (_FIRST_CHECK_NS if waited_ns < _FIRST_CHECK_NS else QUICK_NS) - waited_ns
        else:
            bot.share.on_slow()
        left_ns = decision.left_ns(time.perf_counter_ns())
        if left_ns <= 0:
            # The kernel tells some waits only once the bot has got a processor again. So a bot that is ready to run
            # when its time seems to be up is waited for until it has run.
            if not bot.stopwatch.may_be_in_time(decision):
                return False
            left_ns = INTERVAL_NS
        planned_ns = min(planned_ns, left_ns)
        with (
            trio.move_on_after(planned_ns / 1e9) as scope,
            bot.share.waiting(scope, bot.child.stdout, self._check_sleep),
        ):
            await ready(fd)
        bot.stopwatch.read(decision, planned_ns, bot.output.read(), bot.share)
        bot.share.note(sleeps=decision.sleeps)
        return True

    def _check_sleep(self, paused: bool) -> bool:
        """Whether the bot sleeps, while the loop waits for it; reads the clocks where they may say something new."""
        bot, decision = self._bot, self.decision
        # An answer that has come is for the task that waits for it.
        changed = paused or not decision.sleeps
        if bot.pipes.silent() and (changed or bot.halt.own_ns() != decision.seen.own_ns):
            bot.stopwatch.read(decision, INTERVAL_NS, False, bot.share)
        return decision.sleeps


def ended_how(status: int | None) -> str:
    """How it ended: an exit status, negative for a signal, or None if it lives on without its output.

    Of a bot that neither the referee killed nor the kernel at its memory limit.
    """
    if status is None:
        return "closed its output and went on running"
    if status == -signal.SIGKILL:
        # Nobody can know who sent it, and a bot can send it to itself: so it is the bot's fault, with words by which
        # an organiser finds another cause (a machine without control groups that ran out of memory, say).
        return KILLED_BY_OTHERS
    if status < 0:
        return f"killed by {signal_name(-status)}"
    return f"exited with status {status}"


def signal_name(number: int) -> str:
    """The name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class BackgroundTasks:
    """The tasks that run beside the questions to one bot, from `begin` to `end`."""

    # A match may be over before its event loop had a turn; then they need not be begun at all. That they are begun is
    # known at once: it may also be over before they had their first turn.

    def __init__(self) -> None:
        self._planned: tuple[trio.Nursery, Sequence[Task]] | None = None
        self._running: tuple[trio.CancelScope, trio.Event] | None = None

    def plan(self, nursery: trio.Nursery, *tasks: Task) -> None:
        """Have `begin` start the tasks in `nursery`."""
        self._planned = nursery, tasks

    def begin(self) -> None:
        """Start the tasks that were planned, if they have not been started."""
        if self._planned is not None:
            (nursery, tasks), self._planned = self._planned, None
            self._running = trio.CancelScope(), trio.Event()
            nursery.start_soon(_run, tasks, *self._running)

    async def end(self) -> None:
        """End the tasks and wait for that."""
        self._planned = None
        if self._running is not None:
            scope, ended = self._running
            scope.cancel()
            with trio.CancelScope(shield=True):
                await ended.wait()
            self._running = None


async def _run(tasks: Sequence[Task], scope: trio.CancelScope, ended: trio.Event) -> None:
    try:
        with scope:
            async with trio.open_nursery() as nursery:
                for task in tasks:
                    nursery.start_soon(task)
    finally:
        ended.set()  # also when the whole match is cancelled: `end` waits for it


async def _read_stderr(stderr: StderrLog, pipe: int) -> None:
    """Read the standard error until it has ended, or is no longer read."""
    while stderr.drain(pipe):
        await trio.lowlevel.wait_readable(pipe)


_MAX_KEYS: Final = 10_000  # more matches than these outlives no process


class IdleBots:
    """At most `most` processes, by what they run; the longest idle one goes first."""

    # With `same_dice` they stay although they have seen the dice that come: for playouts, where nothing is at stake.

    def __init__(self, most: int, *, same_dice: bool = False) -> None:
        self._most = most
        self._same_dice = same_dice
        self._bots: OrderedDict[int, tuple[Kind, BotProcess]] = OrderedDict()
        self._keys: set[bytes] = set()  # of the matches that those who wait may know of

    def __len__(self) -> int:
        return len(self._bots)

    def pids(self) -> set[int]:
        """The process ids of all that wait."""
        return set(self._bots)

    def begin(self, key: bytes) -> None:
        """Get ready for a match with this key: if there has been one, end every process that waits."""
        if self._same_dice:
            return
        # A bot that knows the dice could use them. Not only those that played that match end: what one knows, another
        # that was alive with it may know.
        if key in self._keys or len(self._keys) >= _MAX_KEYS:
            self.end_all()
        self._keys.add(key)

    def take(self, seat: SeatSpec, level: Level) -> BotProcess | None:
        """A waiting process for `seat`, woken up; None if there is none that was silent."""
        kind = _kind(seat, level)
        for pid, (process, bot) in list(self._bots.items()):
            if process == kind:
                del self._bots[pid]
                if bot.wake():
                    bot.seat = seat
                    return bot
                bot.end()
        return None

    def keep(self, bot: BotProcess, level: Level) -> None:
        """Let `bot` wait for its next match; it may be ended instead."""
        if not bot.rest():
            bot.end()
            return
        self._bots[bot.pid] = _kind(bot.seat, level), bot
        while len(self._bots) > self._most:
            _, (_, oldest) = self._bots.popitem(last=False)
            oldest.end()

    def end_all(self) -> None:
        """End every process that waits; none is left that knows of a match."""
        self._keys.clear()
        while self._bots:
            _, (_, bot) = self._bots.popitem()
            bot.end()


@lru_cache(maxsize=256)
def _kind(seat: SeatSpec, level: Level) -> Kind:
    return attrs.evolve(seat, bot=""), level  # it may play under another name
