"""One bot as a process of the operating system: its start, its clocks, its signals, its memory and its end.

`process` has the messages over its pipes; `confine` has the additions of a level.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import trio

from warpleague.errors import BotError, HarnessFault
from warpleague.runner.confine.launch import dies_with_harness, launch, remove_groups
from warpleague.runner.confine.sandbox import exit_status
from warpleague.runner.host import (
    HOLDS_NUMBERS,
    Schedstat,
    blocked_ns,
    bytes_of,
    counts_of,
    ended,
    shortage,
    state,
    stop,
    threads_of,
    traffic_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.match.spec import Level, SeatSpec


# -- children --------------------------------------------------------------------------------------------
# Measures the CPU time of a bot's child processes, which the bot's own clock does not show.
#
# `process` decides when to measure, and `halt` what follows from it.


_CHAIN: Final = 3
"""With new processes in this number of measurements in a row, beside others that stay, chance is excluded.

A bot may start a helper or two.
"""


class Children:
    """The CPU time of the processes that one bot has beside its own, on `cores` processors.

    A process that starts and ends between two measurements is missed. But where each of them finds new processes,
    there are many that live shortly, and they count as computing all the time, also beside one that stays. Times are
    in nanoseconds; `clock` is the module `time`, or what stands for it.
    """

    __slots__ = (
        *("_clock", "_clocks", "_cores", "_measured_ns", "_new", "_turn_ns"),
        *("any", "gap_ns", "out_of_turn_ns", "used_ns"),
    )

    def __init__(self, cores: int, clock: Any = time) -> None:
        self._cores = cores
        self._clock = clock
        self._clocks: dict[int, int] = {}
        self._measured_ns = self._clock.perf_counter_ns()
        self._turn_ns = 0
        self._new = 0  # how many measurements in a row saw new processes, out of turn
        self.any = False
        """Whether the bot ever had such a process."""
        self.used_ns = 0
        """The processor time they have used so far."""
        self.gap_ns = 0
        """Between the last two measurements, how long it was not the bot's turn."""
        self.out_of_turn_ns = 0
        """Between the last two measurements, what they used beyond all that there was of the bot's own time."""

    def measure(self, pids: Iterable[int], turn_ns: int) -> None:
        """Measure the processes `pids`; it has been the bot's turn for `turn_ns` in all."""
        clocks: dict[int, int] = {}
        used = 0
        in_turn = turn_ns - self._turn_ns
        for pid in pids:
            with contextlib.suppress(OSError):
                clocks[pid] = now = self._clock.clock_gettime_ns(clock_id(pid))
                before = self._clocks.get(pid, 0)
                used += now - before if now >= before else now  # less: another process with the same number
        measured_ns = self._clock.perf_counter_ns()
        passed = measured_ns - self._measured_ns
        new = clocks.keys() - self._clocks.keys() if self._clocks and not in_turn else set()
        self._new = self._new + 1 if new else 0
        if self._new >= _CHAIN or (new and len(new) == len(clocks)):
            used = max(used, passed)
        self._clocks = clocks
        self.any = self.any or bool(clocks)
        self._judge(used, measured_ns, turn_ns)

    def count(self, used_ns: int, turn_ns: int) -> None:
        """Set their CPU time, counted by the kernel, including processes that ended long ago."""
        self._judge(max(0, used_ns - self.used_ns), self._clock.perf_counter_ns(), turn_ns)

    def _judge(self, used: int, measured_ns: int, turn_ns: int) -> None:
        in_turn = turn_ns - self._turn_ns
        self.gap_ns = max(0, measured_ns - self._measured_ns - in_turn)
        self.out_of_turn_ns = max(0, used - in_turn * self._cores)
        self._measured_ns, self._turn_ns = measured_ns, turn_ns
        self.used_ns += used


def clock_id(pid: int) -> int:
    """The processor clock of a process, as clock_getcpuclockid(3) gives it: all threads, no children."""
    return (~pid) << 3 | 2


# -- child -----------------------------------------------------------------------------------------------


_LINUX = sys.platform == "linux"
_SHORT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # the host is short of something
_ROUNDS = 5
_CHECK_S = 0.005
MAX_THREADS = 64
"""So many threads or processes of a bot are asked one by one: more would take the referee's time from the bots."""
EXIT_S = 1.0
"""How long a bot may take to end after its output has ended, in seconds. Processes of a sandbox end one after the
other, and on a busy machine each of them waits for its turn."""


def _go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


class Child:
    """A process that was started for a bot, and in a sandbox the bot's own process below it.

    `pid` is the one that was started, `own_pid` the bot's own; `stdin`, `stdout`, `stderr` are our ends of its pipes,
    non-blocking. `clock_id` names the processor clock of the bot's own process.
    """

    def __init__(self, seat: SeatSpec, level: Level) -> None:
        try:
            how = launch(seat, level)
            self._popen = how.start()
        except OSError as error:
            # In the sandbox it was nothing of the bot's that could not be started.
            if level == "sandbox" or error.errno in _SHORT:
                why = shortage(error) if error.errno in _SHORT else error.strerror or error
                raise HarnessFault(f"cannot start {seat.bot}: {why}") from error
            raise BotError(f"{seat.bot}: cannot start {seat.run[0]!r}: {error.strerror or error}") from error
        self.sandbox, self.group, self.freezer = how.sandbox, how.group, how.freezer
        self._stoppable = dies_with_harness(level)
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in pipes if pipe is not None)
        self.pid = self.own_pid = self._popen.pid
        self.clock_id = clock_id(self.pid)
        self._main_thread = Schedstat(str(self.pid))
        if self.sandbox is not None:
            try:
                self.sandbox.enter(self._popen)
            except BaseException:
                self.end()
                raise
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)

    def locate(self) -> bool:
        """Find the bot's own process after its first answer: clocks and signals are for this process.

        True if another process is measured from now on.
        """
        pid = None if self.sandbox is None else self.sandbox.bot_pid()
        if pid is None:
            return False
        self.own_pid = pid
        self.clock_id = clock_id(pid)
        self._main_thread.close()
        self._main_thread = Schedstat(str(pid))
        return True

    # ------------------------------------------------------------------ clocks and memory

    def cpu_ns(self) -> int | None:
        """The CPU time of the process in nanoseconds: 0.4 microseconds a read, all threads, no children."""
        try:
            return time.clock_gettime_ns(self.clock_id)
        except OSError:
            return None

    def pressure_ns(self, kind: str) -> int | None:
        """How long all of the bot waited for `cpu`, `io` or `memory` so far; None if the kernel does not say."""
        if self.freezer is None:
            return blocked_ns(self.own_pid) if kind == "io" else None
        return self.freezer.pressure[kind].read()

    def main_counts(self) -> tuple[int, int] | None:
        """How long the main thread computed, and waited for a processor; None if the system does not say."""
        return self._main_thread.read() if _LINUX else None

    def thread_counts(self) -> dict[int, tuple[int, int]]:
        """The same for each of the bot's threads, if they can be listed and are not too many to read."""
        counts = ((thread, counts_of(thread)) for thread in self._threads())
        return {thread: times for thread, times in counts if times is not None}

    def _threads(self) -> list[int]:
        if self.freezer is not None:
            return self.freezer.threads(MAX_THREADS)
        return threads_of(self.processes(), MAX_THREADS)

    def ready(self) -> bool:
        """Whether the bot's process is ready to run: the kernel may count only afterwards for how long it waited."""
        process_state = state(self.own_pid) if _LINUX else None
        return process_state is not None and process_state[0] == "R"

    def any_ready(self) -> bool:
        """Whether any of its threads is ready to run."""
        return self.ready() or any((state(thread) or " ")[0] == "R" for thread in self._threads())

    def at_cap(self) -> bool:
        """Whether the bot has taken all the memory that it may: then it is itself what it waits for."""
        return self.group is not None and self.group.at_cap()

    def own_traffic_bytes(self) -> int | None:
        """The bytes that the bot read from disks and wrote to them so far; None if it is not known."""
        processes = self.processes()
        return None if len(processes) > MAX_THREADS else bytes_of(processes)

    def all_traffic_bytes(self) -> int:
        """The same for the whole machine; 0 if the system does not say."""
        return traffic_bytes()

    def processes(self) -> Sequence[int]:
        """The processes whose memory counts as the bot's: all that it started, if they can be listed."""
        holder = self.group or self.freezer
        if holder is not None:
            pids = set(holder.members())
            # At limits, root's bots could leave their group.
            return list(
                pids | {self.pid} if self.sandbox is None else pids - {self.pid, self.sandbox.init_pid}
            )
        return (self.pid,) if self.sandbox is None else self.sandbox.processes()

    # ------------------------------------------------------------------ stopped and continued

    def others(self) -> list[int]:
        """The bot's processes beside its own one, if they can be listed."""
        return [pid for pid in self.processes() if pid != self.own_pid]

    def pause(self, others: bool = False) -> bool:
        """Stop the bot: all of it, where there is a freezer; else its own process, and with `others` what it started.

        False where it might be left behind stopped for ever, if the harness were killed.
        """
        if self._stoppable:
            if self.freezer is not None:
                self.freezer.freeze()
            else:
                self._signal(stop, others)
        return self._stoppable

    def resume(self, others: bool = False) -> None:
        """Let a stopped bot go on."""
        if self.freezer is not None:
            self.freezer.thaw()
        else:
            self._signal(_go_on, others)

    def _signal(self, send: Callable[[int], None], others: bool) -> None:
        if not self.alive():
            return
        signalled: set[int] = set()
        new = {self.own_pid}
        # Again as long as there are new ones: what has been stopped starts no more.
        for _ in range(_ROUNDS):
            for pid in new:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    send(pid)
            signalled |= new
            new = set(self.processes()) - signalled if others else set()
            if not new:
                break

    # ------------------------------------------------------------------ the end

    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return ended(self._popen) is None

    def status(self, within_s: float = 0.0) -> int | None:
        """How the bot ended, negative for a signal; None if it has not, and does not `within_s` seconds."""
        status = ended(self._popen, within_s)
        return exit_status(status) if status is not None and self.sandbox is not None else status

    def level_fault(self) -> str | None:
        """If the bot never ran, the reason; then the end of its output is not its fault."""
        if any(each is not None and not each.entered() for each in (self.group, self.freezer)):
            return f"it ended with status {self.status(EXIT_S)} before it was in its control group"
        if self.sandbox is None:
            return None
        self.status(EXIT_S)
        return self.sandbox.fault(self._popen)

    def close_stdin(self) -> None:
        """End the bot's input."""
        if self._popen.stdin is not None:
            self._popen.stdin.close()

    async def exited(self) -> None:
        """Return once the process has ended by itself."""
        try:
            pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            # Another system, or no descriptor left: end the bot all the same.
            while self.alive():
                await trio.sleep(_CHECK_S)
            return
        try:
            await trio.lowlevel.wait_readable(pidfd)
        finally:
            os.close(pidfd)

    def kill(self) -> None:
        """Kill the process, its process group, sandbox and control group at once; call `reap` afterwards."""
        if self.sandbox is not None:
            self.sandbox.kill()
        elif (holder := self.freezer or self.group) is not None:
            holder.kill()
        if self._popen.returncode is not None and HOLDS_NUMBERS:
            return  # it is reaped: its number may be another's
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def reap(self) -> None:
        """Wait until what was killed has ended, which is soon after SIGKILL. Remove its control group, too."""
        self._popen.wait()
        try:
            if self.sandbox is not None:
                self.sandbox.wait_gone()
        finally:
            remove_groups(self.group, self.freezer)

    def close(self) -> None:
        """Close all descriptors."""
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()
        self._main_thread.close()
        if self.sandbox is not None:
            self.sandbox.close()

    def end(self) -> None:
        """Kill, reap and close."""
        self.kill()
        try:
            self.reap()
        finally:
            self.close()

    def close_schedstat(self) -> None:
        """Close the descriptor of the clocks, which a bot needs only while it plays."""
        self._main_thread.close()
