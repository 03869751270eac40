"""One running bot: its start, its questions, the tasks that watch it, the time between two matches, and its end.

`warpleague.match.referee` decides the meaning of lines. `pipe` sends questions and reads answers. The
process of the operating system is in `child`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import OrderedDict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import attrs
import trio

from warpleague.runner.bot import violations
from warpleague.runner.bot.child import EXIT_S, Child
from warpleague.runner.bot.clocks import NEVER, Loop, LoopShare, Stopwatch
from warpleague.runner.bot.halt import QUIET_NS, Halt, Pondering
from warpleague.runner.bot.logs import BotLog, StderrLog, WireLog
from warpleague.runner.bot.pipe import QUICK_NS, Answer, Connection, Output, Pipes, Sent, Wait
from warpleague.runner.confine.launch import WATCH_S, MemoryWatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from warpleague.games.api import JsonObject
    from warpleague.match.spec import Level, SeatSpec, Violation
    from warpleague.runner.bot.pipe import IsLate
    from warpline.messages import BotHello

    Kind = tuple[SeatSpec, Level]


# -- watch -----------------------------------------------------------------------------------------------
# The tasks that run beside the questions to a bot: above all the watch over its memory and its processes.


SLEEPER_WATCH_S: Final = 0.2
"""The same for one that sleeps, where the kernel caps its memory."""

_SHARE: Final = 0.02  # the largest share of the time spent on measuring memory


class Attendance:
    """The tasks beside the questions to one bot, from `begin` until they are ended.

    A match may be over before its event loop had a turn; then they need not be begun at all. That they are begun is
    known at once: it may also be over before they had their first turn.
    """

    def __init__(self) -> None:
        self._planned: tuple[trio.Nursery, Sequence[Callable[[], Awaitable[None]]]] | None = None
        self._now: tuple[trio.CancelScope, trio.Event] | None = None

    def plan(self, nursery: trio.Nursery, *tasks: Callable[[], Awaitable[None]]) -> None:
        """Have `begin` start the tasks in `nursery`."""
        self._planned = nursery, tasks

    def begin(self) -> None:
        """Start the tasks that were planned, if they have not been started."""
        if self._planned is not None:
            (nursery, tasks), self._planned = self._planned, None
            self._now = trio.CancelScope(), trio.Event()
            nursery.start_soon(_run, tasks, *self._now)

    async def end(self) -> None:
        """End the tasks and wait for that."""
        self._planned = None
        if self._now is not None:
            scope, ended = self._now
            scope.cancel()
            with trio.CancelScope(shield=True):
                await ended.wait()
            self._now = None


async def _run(
    tasks: Sequence[Callable[[], Awaitable[None]]], scope: trio.CancelScope, ended: trio.Event
) -> None:
    try:
        with scope:
            async with trio.open_nursery() as nursery:
                for task in tasks:
                    nursery.start_soon(task)
    finally:
        ended.set()  # also when the whole match is cancelled: `end` waits for it


async def read(stderr: StderrLog, pipe: int) -> None:
    """Read the standard error until it has ended, or is no longer read."""
    while stderr.drain(pipe):
        await trio.lowlevel.wait_readable(pipe)


async def watch(child: Child, halt: Halt, memory: MemoryWatch, check_children: Callable[[], None]) -> None:
    """Kill the bot once it has taken more memory than it may."""
    computed_ns = -1
    while True:
        begun, before_ns, computed_ns = time.perf_counter(), computed_ns, halt.own_ns()
        # Who computed nothing has taken no memory, if all of its processes are counted.
        slept = halt.counted and computed_ns == before_ns
        if not slept and memory.check(child.processes):
            child.kill()
            return
        check_children()
        pause_s = SLEEPER_WATCH_S if slept and memory.capped else WATCH_S
        # Never more than a small share of the time, however many processes there are.
        await trio.sleep(max(pause_s, (time.perf_counter() - begun) / _SHARE))


# -- process ---------------------------------------------------------------------------------------------


_QUICK_MS: Final = QUICK_NS // 1_000_000
_LINUX: Final = sys.platform == "linux"


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
        self.hello: BotHello | None = None
        """The bot's hello, once it has come."""
        self.pondering = Pondering()
        self.child = child = start(seat, level)
        self.halt = Halt(child, self.pondering)
        self.memory = MemoryWatch(seat.memory_mb, child.group)
        self.pid = child.pid
        self._level = level
        self._unsent = b""  # what the pipe did not take
        self._wire: WireLog | None = None
        self._pipes = Pipes(child.stdin, child.stdout, child.clock_id, self.halt.cores)
        self._output = Output(child.stdout)
        self._to = Connection(
            seat.bot,
            child,
            self.halt,
            self.memory,
            stopwatch(child, self.halt),
            self._pipes,
            self._output,
            StderrLog(seat.cwd),
            LoopShare(),
        )
        self._wait: Wait | None = None  # for the answer to the last question, if it did not come at once
        self._attendance = Attendance()

    @property
    def is_reusable(self) -> bool:
        """Whether both the manifest and the bot itself say that the process may play another match."""
        return self.seat.reusable and self.hello is not None and self.hello.reusable

    @property
    def stderr(self) -> StderrLog:
        """Its standard error in this match."""
        return self._to.stderr

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
        if self._wire is not None:
            self._wire.sent(line)
        if self._unsent:
            line, self._unsent = self._unsent + line, b""
        wait_ms = 0
        if not self._to.share.loop.asked:
            wait_ms = _QUICK_MS if budget_ns is None or budget_ns >= QUICK_NS else -(-budget_ns // 1_000_000)
        self._wait = None
        if self._output.unread and (early := self._written_early(is_late)) is not None:
            return early
        while (exchanged := self._pipes.exchange(line, wait_ms, self._output.unread)) is None:
            if (early := self._written_early(is_late)) is not None:
                return early
        if isinstance(exchanged, Answer):
            if self._wire is not None:
                self._wire.received(exchanged.line + b"\n")
            answer: Answer | Violation = exchanged
            if is_late(exchanged.line):
                answer = await self._wait_for_answer(
                    b"", self._skipped(exchanged), budget_ns, wait_ms, is_late
                )
        else:
            rest = line[exchanged.written :]
            answer = await self._wait_for_answer(rest, exchanged, budget_ns, wait_ms, is_late)
        if self.pondering.stops and isinstance(answer, Answer):
            self.pause()
        return answer

    def _written_early(self, is_late: IsLate) -> Violation | None:
        """Judge output that came before the question, or the end of the output."""
        return self._output.unasked(is_late) or (self._to.gone() if self._output.ended else None)

    def _skipped(self, late: Answer) -> Sent:
        """The question, after its first answer was late and is skipped."""
        pipes = self._pipes
        cpu_begun_ns = None if late.cpu_ns is None else pipes.known_ns - late.cpu_ns
        return Sent(0, None, pipes.ended_ns - late.wall_ns, cpu_begun_ns)

    async def _wait_for_answer(
        self, rest: bytes, sent: Sent, budget_ns: int | None, polled_ms: int, is_late: IsLate
    ) -> Answer | Violation:
        """Take an answer that did not come at once, or not as one line, or that may not be charged as measured."""
        self._judge_gap(sent)
        if sent.data is not None:
            self._output.take(sent.data)
        self._wait = Wait(self._to, sent, budget_ns, polled_ms * 1_000_000)
        answer = await self._wait.answer(rest, is_late)
        self._unsent = self._wait.unsent
        return answer

    def _judge_gap(self, sent: Sent) -> None:
        """Judge what the bot computed between its last answer and this question, if that was much."""
        pipes, cpu_ns = self._pipes, sent.cpu_begun_ns
        if cpu_ns is not None and cpu_ns > pipes.alarm_ns:
            since_ns, stopped_ns = pipes.ended_ns, self.halt.since_ns
            used_ns = cpu_ns - (pipes.alarm_ns - QUIET_NS)
            self.pondering.judge(used_ns, (stopped_ns if stopped_ns > since_ns else sent.begun_ns) - since_ns)

    @property
    def charged_ns(self) -> int:
        """The charge of the bot so far for an answer that did not come at once, or is not there yet; else 0."""
        return 0 if self._wait is None else self._wait.decision.charged_ns

    # ------------------------------------------------------------------ what went wrong

    def killed_by(self) -> str | None:
        """The name of the signal that ended a bot whose output has ended; None if no signal did."""
        status = self.child.status(EXIT_S)
        return violations.signal_name(-status) if status is not None and status < 0 else None

    def evidence(self) -> JsonObject:
        """The evidence for the record: exit status, the end of standard error."""
        self.drain_stderr()
        return violations.evidence(self.stderr, self.child.status())

    # ------------------------------------------------------------------ beside the questions

    def drain_stderr(self) -> bool:
        """Read the standard error so far; false once it has ended or is no longer read."""
        return self.stderr.drain(self.child.stderr)

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
        self._to.share = share or LoopShare(Loop.here())
        if log is not None:
            self._wire = self._output.wire = log.wire
            log.stderr = self.stderr
        tasks: list[Callable[[], Awaitable[None]]] = [partial(read, self.stderr, self.child.stderr)]
        if self._level != "none" and _LINUX:
            tasks.append(partial(watch, self.child, self.halt, self.memory, self.check_children))
            if not at_once and self.memory.due() and self.memory_exceeded():
                self.kill()
        self._attendance.plan(nursery, *tasks)
        if at_once:
            self.begin_tasks()

    def begin_tasks(self) -> None:
        """Begin the tasks of `attend`, since the event loop is about to run."""
        self._attendance.begin()

    def check_children(self) -> None:
        """Measure what the bot's other processes compute, and stop the bot if they compute out of turn."""
        self._to.check_children()

    def memory_exceeded(self) -> bool:
        """Whether the bot (in a sandbox: with all its processes) is over its memory limit now."""
        return self.memory.check(self.child.processes)

    def greeted(self, hello: BotHello) -> None:
        """Note the bot's `hello`, and find its own process: clocks and stops are for this process."""
        self.hello = hello
        self._to.is_player = True
        self.locate()

    def locate(self) -> None:
        """Find the bot's own process, after its first answer."""
        if self.child.locate():
            # Nothing is known of this clock until its next reading.
            self._pipes.clock = self.child.clock_id
            self._pipes.alarm_ns, self._pipes.known_until_ns = NEVER, 0

    def tell(self, line: bytes) -> None:
        """Send a line that needs no answer, as far as the pipe takes it at once; the rest goes before the next one."""
        if self.halt.stopped:
            self.halt.resume()
        if self._wire is not None:
            self._wire.sent(line)
        self._unsent += line
        with contextlib.suppress(OSError):
            self._unsent = self._unsent[os.write(self.child.stdin, self._unsent) :]

    def pause(self) -> None:
        """Freeze the bot until its next message, if a crash of the harness cannot leave it frozen."""
        self.halt.stop()

    def freeze(self) -> None:
        """Stop the bot while another one is asked, if all its processes can be frozen."""
        if self.halt.counted:
            self.halt.stop()

    # ------------------------------------------------------------------ the end

    def kill(self) -> None:
        """Kill the bot and all its known processes at once; the caller must call `close` afterwards."""
        self.child.kill()

    async def close(self, grace_s: float) -> None:
        """End the bot: end of input, `grace_s` seconds to exit by itself, then SIGKILL to it and its group."""
        self._to.is_player = False
        if self.halt.stopped:
            self.halt.resume()
        self.child.close_stdin()
        with trio.CancelScope(shield=True):
            try:
                if grace_s > 0 and self.child.alive():
                    with trio.move_on_after(grace_s):
                        await self.child.exited()
                self.kill()
                with self._to.share.loop.blocked():
                    self.child.reap()
            finally:
                await self.leave()
                self.drain_stderr()
                self.child.close()

    async def leave(self) -> None:
        """End the tasks of `attend`, so that none waits on a descriptor that is closed or used by another match."""
        await self._attendance.end()

    def end(self) -> None:
        """Kill a bot that nobody attends."""
        self.child.end()

    # ------------------------------------------------------------------ between two matches

    def rest(self) -> bool:
        """Get ready to wait for another match, after `leave`; false if the bot is not fit for one.

        Where the bot dies with the harness anyway it is stopped, so that it cannot compute at others' expense;
        elsewhere a stopped process might be left behind for ever. One that has other processes does not wait, nor
        does one in a sandbox that could undo its being stopped.
        """
        if not self._is_silent() or self._unsent or (self._level == "sandbox" and not self.halt.counted):
            return False
        self.drain_stderr()
        self._to.stderr = StderrLog(self.seat.cwd)
        self._to.share = LoopShare()
        self._wire = self._output.wire = None
        self.halt.stop()
        self.child.close_schedstat()
        return not self.child.others()

    def wake(self) -> bool:
        """Continue after `rest`; false if the bot wrote something or ended."""
        if not self._is_silent():
            return False
        self.halt.resume()
        return True

    def _is_silent(self) -> bool:
        """Whether the bot is alive and has written nothing that was not asked for."""
        output = self._output
        return not output.unread and not output.ended and self._pipes.silent() and self.child.alive()


# -- reuse -----------------------------------------------------------------------------------------------
# Keeps reusable bots between two matches of the same referee, but not too many.
#
# `warpleague.runner.playing` starts, greets and judges them. A bot that does anything while it waits is
# replaced by a fresh one, and nobody is charged for it. No process of a bot plays two matches with the same
# dice, because it would know them.


_MAX_KEYS: Final = 10_000  # more matches than these outlives no process


class IdleBots:
    """At most `most` processes, by what they run; the longest idle one goes first.

    With `same_dice` they stay although they have seen the dice that come: for playouts, where nothing is at stake.
    """

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
        """Get ready for a match with this key: if there has been one, end every process that waits.

        Not only those that played it: what one knows, another that was alive with it may know.
        """
        if self._same_dice:
            return
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
