"""One bot's process: started, asked line by line against a deadline, watched, and ended with all it started.

Leaves what the lines mean to `warpleague.match.referee`, and the process itself to `warpleague.runner.child`.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from typing import TYPE_CHECKING, Final

import trio

from warpleague.errors import HarnessFault
from warpleague.match.evidence import quote
from warpleague.match.referee import Violation
from warpleague.runner import trouble
from warpleague.runner.child import EXIT_S, Child
from warpleague.runner.company import Company
from warpleague.runner.confine import MemoryWatch
from warpleague.runner.pondering import Pondering
from warpleague.runner.sandbox import Killed
from warpleague.runner.stderr import StderrLog
from warpline.framing import LineBuffer, LineTooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import JsonObject
    from warpleague.match.spec import Level, SeatSpec
    from warpleague.runner.wirelog import BotLog, WireLog
    from warpline.messages import BotHello

QUICK_MS: Final = 5
"""How long an answer is awaited with a plain poll before the event loop is: a poll below 2 ms makes bots that think
a little pay for a second system call; one much longer would starve the other tasks."""

MEMORY_WATCH_S: Final = 0.05
"""How often a bot's resident set is looked at, in seconds."""

_CHUNK: Final = 1 << 16
_LINUX: Final = sys.platform == "linux"


class BotProcess:
    """A running bot.

    After `ask` or `again` returned None, `line` is the answer without its newline, and `wall_ns`, `cpu_ns`,
    `wait_ns` are what it took (None where the system cannot tell; the wait for a processor is looked at only
    when the answer takes longer than `QUICK_MS`).
    """

    def __init__(self, seat: SeatSpec, level: Level) -> None:
        self.seat = seat
        self.line = b""
        self.wall_ns = 0
        self.cpu_ns: int | None = None
        self.wait_ns: int | None = 0
        self.stderr = StderrLog()
        self.hello: BotHello | None = None
        """What the bot said in its hello, once it has."""
        self.pondering = Pondering()
        self._wire: WireLog | None = None
        self._level = level
        self._paused = False
        self._buffer = LineBuffer()
        self._held = False  # whether the buffer holds anything: read for every question
        self._eof = False
        self._unsent = b""  # what the pipe did not take
        self._begun = 0
        self._budget_ns: int | None = None
        self._deadline: int | None = None
        self._cpu_begun: int | None = None
        self._child = Child(seat, level)
        self.memory = MemoryWatch(seat.memory_mb, self._child.group)
        self.pid = self._child.pid
        self._in, self._out, self._err = self._child.stdin, self._child.stdout, self._child.stderr
        self._cpu = self._child.cpu_ns
        self._waited = self._child.waited_ns
        self._company = Company(len(os.sched_getaffinity(0)) if _LINUX else 1)
        self._turn_ns = 0  # how long it has been the bot's turn, in all
        self._asked_ns = 0  # since when it is the bot's turn, while it is waited for
        self._closing = False
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._attendance: trio.CancelScope | None = None
        self._unattended: trio.Event | None = None

    def log_to(self, log: BotLog) -> None:
        """Keep in `log` what is said from now on, until `rest`."""
        self._wire = log.wire
        log.stderr = self.stderr

    # ------------------------------------------------------------------ one question, one answer

    async def ask(
        self, line: bytes, budget_ns: int | None, forgive: Callable[[bytes], bool] | None = None
    ) -> Violation | None:
        """Send `line` and take one line in answer, within `budget_ns`.

        The time begins when the line has been written, or else when the pipe was full of it: from then on, it is the
        bot that keeps itself waiting.
        Lines that were there before `line` was sent answer no question; `forgive` may excuse them one by one.
        Does not touch the event loop when the answer comes within `QUICK_MS`.
        """
        if self._paused:
            self.resume()
        if self._wire is not None:
            self._wire.sent(line)
        if self._held or self._poll.poll(0):
            early = self._unasked(forgive)
            if early is not None:
                return early
        self._cpu_begun = cpu_begun = self._cpu()
        if self._unsent:
            line = self._unsent + line
            self._unsent = b""
        try:
            written = os.write(self._in, line)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            written = len(line)  # its last words may be there: reading tells
        begun = time.perf_counter_ns()
        if written < len(line):
            self._asked_ns = begun
            if not await self._write_rest(line[written:], budget_ns):
                self._end_turn()
                return self._gone() if self._eof else self._timeout(budget_ns, "it did not read its input")
        if cpu_begun is not None and cpu_begun > self.pondering.alarm_ns:
            self.pondering.judge(cpu_begun, begun - self._begun - self.wall_ns)
        self._begun = begun
        self._budget_ns = budget_ns
        if budget_ns is None:
            self._deadline = None
            ready = self._poll.poll(QUICK_MS)
        else:
            self._deadline = begun + budget_ns
            ready = self._poll.poll(min(QUICK_MS, budget_ns / 1e6))
        if ready and not self._held:
            try:
                data = os.read(self._out, _CHUNK)
            except BlockingIOError:
                return await self.again()
            if data.endswith(b"\n") and data.find(b"\n") == len(data) - 1 < _CHUNK - 1:
                # One whole line, the usual case, past the buffer.
                self.wall_ns = time.perf_counter_ns() - begun
                self._turn_ns += self.wall_ns
                self._asked_ns = 0
                cpu = self._cpu()
                if cpu is not None and cpu_begun is not None:
                    self.cpu_ns = cpu - cpu_begun
                    self.pondering.answered(cpu)
                self.wait_ns = 0
                self.line = data[:-1]
                if self._wire is not None:
                    self._wire.received(data)
                return None
            self._take(data)
        return await self.again()

    async def again(self) -> Violation | None:
        """Take the next line in answer to the same question, under the same deadline."""
        if self._paused:
            self.resume()
        self._asked_ns = self._begun
        try:
            return await self._await_line()
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        self._turn_ns += time.perf_counter_ns() - self._asked_ns
        self._asked_ns = 0

    async def _await_line(self) -> Violation | None:
        waited_begun, company_begun = self._waited(), self._company.used_ns
        while True:
            try:
                line = self._buffer.next_line()
            except LineTooLong as error:
                return trouble.flooded(error)
            if line is not None:
                self._held = len(self._buffer) > 0
                self.wall_ns = time.perf_counter_ns() - self._begun
                cpu = self._cpu()
                if cpu is not None and self._cpu_begun is not None:
                    self.cpu_ns = cpu - self._cpu_begun
                    self.pondering.answered(cpu)
                waited = self._waited()
                self.wait_ns = None if waited is None or waited_begun is None else waited - waited_begun
                self.line = line
                return None
            if self._eof:
                return self._gone()
            rest_s = float("inf")
            if self._deadline is not None:
                rest_s = (self._deadline - time.perf_counter_ns()) / 1e9
                if rest_s <= 0:
                    owed = self._begun + (self._budget_ns or 0) + self._owed_ns(waited_begun, company_begun)
                    if owed <= self._deadline:
                        return self._timeout(self._budget_ns)
                    self._deadline = owed
                    # Looked at once more, even if we were kept from the processor until after that.
                    rest_s = max(0.0, (owed - time.perf_counter_ns()) / 1e9)
            with trio.move_on_after(rest_s):
                await trio.lowlevel.wait_readable(self._out)
            self._read()

    async def _write_rest(self, rest: bytes, budget_ns: int | None) -> bool:
        """Write what the pipe did not take at once; false if that took longer than the budget, or the bot died.

        What could not be written goes before the next line, so that the bot never reads two lines mixed up.
        """
        view = memoryview(rest)
        with trio.move_on_after(60 if budget_ns is None else budget_ns / 1e9):
            while view:
                try:
                    view = view[os.write(self._in, view) :]
                    continue
                except BlockingIOError:
                    pass
                except BrokenPipeError:
                    return True
                await trio.lowlevel.wait_writable(self._in)
            return True
        self._unsent = bytes(view)
        self._read()
        return False

    def _read(self) -> None:
        """Read what is there, if anything."""
        with contextlib.suppress(BlockingIOError):
            self._take(os.read(self._out, _CHUNK))

    def _take(self, data: bytes) -> None:
        if data:
            if self._wire is not None:
                self._wire.received(data)
            self._buffer.feed(data)
            self._held = True
        else:
            self._eof = True

    def _unasked(self, forgive: Callable[[bytes], bool] | None) -> Violation | None:
        """Judge what the bot wrote before it was asked."""
        if not self._eof:
            self._read()
        try:
            while (line := self._buffer.next_line()) is not None:
                if forgive is None or not forgive(line):
                    return Violation("protocol", "it wrote a line without having been asked", quote(line))
        except LineTooLong as error:
            return trouble.flooded(error)
        # The beginning of a line stays in the buffer: the rest may follow, and is judged then.
        self._held = len(self._buffer) > 0
        return self._gone() if self._eof else None

    # ------------------------------------------------------------------ clocks

    def _owed_ns(self, waited_begun: int | None, company_begun: int) -> int:
        """How much longer the bot may take because others had its processor, at most as long as it had anyway.

        What its own threads and processes computed meanwhile kept no one else's promise: that is no waiting for the
        host.
        """
        self._look_at_company(self._child.processes())
        elapsed = time.perf_counter_ns() - self._begun  # before the clocks, or the time between would be owed
        waited, cpu = self._waited(), self._cpu()
        if waited is None or waited_begun is None or cpu is None or self._cpu_begun is None:
            return 0
        own = cpu - self._cpu_begun + self._company.used_ns - company_begun
        return max(0, min(waited - waited_begun, elapsed - own, self._budget_ns or 0))

    # ------------------------------------------------------------------ what went wrong

    def _timeout(self, budget_ns: int | None, why: str = "") -> Violation:
        extended_ns = 0
        if self._deadline is not None and budget_ns is not None and not why:
            extended_ns = self._deadline - self._begun - budget_ns
        return trouble.timed_out(budget_ns or 0, extended_ns, len(self._buffer) if self._held else 0, why)

    def _gone(self) -> Violation:
        """Why no more answers come; `HarnessFault` if that is no doing of the bot's."""
        if self.memory.killed():
            return trouble.greedy(self.memory)
        if self.memory.kill is not None:
            raise Killed(trouble.short_of_memory(self.seat.bot))
        fault = self._child.level_fault()
        if fault is not None:
            self.drain_stderr()
            raise HarnessFault(f"{self.seat.bot} was not run: {self.stderr.text().strip() or fault}")
        left = "; an unfinished line is lost" if self._held else ""
        how = trouble.ended(self._child.status(EXIT_S))  # it closed its output: a moment to end
        return Violation("crash", how + left)

    def killed_by(self) -> str | None:
        """The name of the signal that ended a bot whose output has ended; None if no signal did."""
        status = self._child.status(EXIT_S)
        return trouble.signal_name(-status) if status is not None and status < 0 else None

    def evidence(self) -> JsonObject:
        """What belongs into the record beside a fault: exit status, the end of standard error."""
        self.drain_stderr()
        return trouble.evidence(self.stderr, self._child.status())

    # ------------------------------------------------------------------ beside the questions

    def drain_stderr(self) -> bool:
        """Read what standard error holds; false once it has ended or is left unread."""
        return self.stderr.drain(self._err)

    def attend(self, nursery: trio.Nursery) -> None:
        """Have a task read standard error, watch the memory and the bot's other processes, until `close` or `leave`.

        These know of it at once: a match may be over before its tasks have had their first turn.
        """
        self._attendance = trio.CancelScope()
        self._unattended = trio.Event()
        nursery.start_soon(self._attend, self._attendance, self._unattended)

    async def _attend(self, attendance: trio.CancelScope, unattended: trio.Event) -> None:
        try:
            with attendance:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._read_stderr)
                    if self._level != "none" and _LINUX:
                        nursery.start_soon(self._watch)
        finally:
            unattended.set()  # also when the whole match is cancelled: `leave` waits for it

    async def _read_stderr(self) -> None:
        while self.drain_stderr():
            await trio.lowlevel.wait_readable(self._err)

    async def _watch(self) -> None:
        while not self.memory.check(pids := self._child.processes()):
            self._look_at_company(pids)
            await trio.sleep(MEMORY_WATCH_S)
        self.kill()

    def _look_at_company(self, pids: Sequence[int]) -> None:
        """See what the bot's other processes compute, and have all of them stopped if that is not their turn."""
        now, company = time.perf_counter_ns(), self._company
        turn_ns = self._turn_ns + (now - self._asked_ns if self._asked_ns else 0)
        company.look([pid for pid in pids if pid != self._child.own_pid], turn_ns)
        if self.hello is None or not company.any or self._closing:
            return  # until its hello it is not known which one is the bot's own
        self.pondering.judge_company(company.out_of_turn_ns, company.gap_ns)
        if self._paused or (self.pondering.stops and not self._asked_ns):
            self.pause()  # again, for those that were started since

    def memory_exceeded(self) -> bool:
        """Whether the bot, in a sandbox with all that it started, is over its memory limit now."""
        return self.memory.check(self._child.processes())

    def tell(self, line: bytes) -> None:
        """Send a line that needs no answer, as far as the pipe takes it at once; the rest goes before the next one."""
        if self._paused:
            self.resume()
        if self._wire is not None:
            self._wire.sent(line)
        self._unsent += line
        with contextlib.suppress(OSError):
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]

    # ------------------------------------------------------------------ the end

    def locate(self) -> None:
        """Find the bot's own process, once it has answered: clocks and stops are to be that one's."""
        if self._child.locate():
            self.pondering.forget_clock()

    def pause(self) -> None:
        """Stop the bot until it is asked or told something, where it cannot be left behind stopped."""
        self._paused = self._child.pause(self._company.any)

    def resume(self) -> None:
        """Let a stopped bot go on."""
        self._paused = False
        self._child.resume(self._company.any)

    def kill(self) -> None:
        """Kill the bot and all that can be found of what it started at once; `close` still has to follow."""
        self._child.kill()

    async def close(self, grace_s: float) -> None:
        """End the bot: end of input, `grace_s` seconds to exit by itself, then SIGKILL to it and its group."""
        self._closing = True
        if self._paused:
            self.resume()
        self._child.close_stdin()
        with trio.CancelScope(shield=True):
            try:
                if grace_s > 0 and self._child.alive():
                    with trio.move_on_after(grace_s):
                        await self._child.exited()
                self.kill()
                self._child.reap()
            finally:
                await self.leave()
                self.drain_stderr()
                self._child.close()

    async def leave(self) -> None:
        """End what `attend` does: no task may wait on a descriptor that is closed, or used by another match."""
        if self._attendance is not None and self._unattended is not None:
            self._attendance.cancel()
            with trio.CancelScope(shield=True):
                await self._unattended.wait()
            self._attendance = None

    # ------------------------------------------------------------------ between two matches

    def _quiet(self) -> bool:
        """Whether the bot is alive and has written nothing that was not asked for."""
        return not self._held and not self._eof and not self._poll.poll(0) and self._child.alive()

    def rest(self) -> bool:
        """Get ready to wait for another match, after `leave`; false if the bot is not fit for one.

        Where the bot dies with the harness anyway it is stopped, so that it cannot compute at others' expense;
        elsewhere a stopped process might be left behind for ever. One that has other processes does not wait.
        """
        if not self._quiet() or self._unsent:
            return False
        self.drain_stderr()
        self.stderr = StderrLog()
        self._wire = None
        self.pause()
        self._child.close_schedstat()
        return not self._child.others()

    def wake(self) -> bool:
        """Go on after `rest`; false if the bot did not keep quiet."""
        if not self._quiet():
            return False
        self.resume()
        return True

    def end(self) -> None:
        """Kill a bot that nobody attends."""
        self._child.end()
