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
from typing import TYPE_CHECKING, Final

import trio

from warpleague.errors import BotError, HarnessFault
from warpleague.runner import host
from warpleague.runner.confine.launch import dies_with_harness, launch, remove_groups
from warpleague.runner.confine.sandbox import exit_status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.match.spec import Level, SeatSpec

# So many threads or processes of a bot are asked one by one: more would take the referee's time from the bots.
MAX_THREADS: Final = 64

# How long a bot may take to end after its output has ended, in seconds. Processes of a sandbox end one after the
# other, and on a busy machine each of them waits for its turn.
EXIT_S: Final = 1.0

_LINUX: Final = sys.platform == "linux"
_SHORT: Final = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # the host is short of something
_ROUNDS: Final = 5
_CHECK_S: Final = 0.005


def clock_id(pid: int) -> int:
    """The processor clock of a process, as clock_getcpuclockid(3) gives it: all threads, no children."""
    return (~pid) << 3 | 2


def read_clock(clock: int) -> int | None:
    """The processor clock with this id, in nanoseconds (0.4 microseconds a read); None if it cannot be read."""
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return None


class Child:
    """A process that was started for a bot, and in a sandbox the bot's own process below it.

    `pid` is the one that was started, `own_pid` the bot's own; `stdin`, `stdout`, `stderr` are our ends of its pipes,
    non-blocking. `clock_id` names the processor clock of the bot's own process.
    """

    def __init__(self, seat: SeatSpec, level: Level) -> None:
        try:
            launched = launch(seat, level)
        except OSError as error:
            # In the sandbox it was nothing of the bot's that could not be started.
            if level == "sandbox" or error.errno in _SHORT:
                why = host.shortage(error) if error.errno in _SHORT else error.strerror or error
                raise HarnessFault(f"cannot start {seat.bot}: {why}") from error
            raise BotError(f"{seat.bot}: cannot start {seat.run[0]!r}: {error.strerror or error}") from error
        self._popen = launched.process
        self.sandbox, self.group, self.freezer = launched.sandbox, launched.group, launched.freezer
        # A bot that outlives the harness must not be stopped: it would be left behind stopped for ever.
        self._stoppable = dies_with_harness(level)
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in pipes if pipe is not None)
        self.pid = self.own_pid = self._popen.pid
        self.clock_id = clock_id(self.pid)
        self._main_thread = host.Schedstat(str(self.pid))
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
        self._main_thread = host.Schedstat(str(pid))
        return True

    # ------------------------------------------------------------------ clocks and memory

    def cpu_ns(self) -> int | None:
        """The processor time of the bot's own process in nanoseconds: all threads, no children."""
        return read_clock(self.clock_id)

    def pressure_ns(self, kind: str) -> int | None:
        """How long all of the bot waited for `cpu`, `io` or `memory` so far; None if the kernel does not say."""
        if self.freezer is None:
            return host.blocked_ns(self.own_pid) if kind == "io" else None
        return self.freezer.pressure[kind].waited_ns()

    def main_counts(self) -> tuple[int, int] | None:
        """How long the main thread computed, and waited for a processor; None if the system does not say."""
        return self._main_thread.counts() if _LINUX else None

    def thread_counts(self) -> dict[int, tuple[int, int]]:
        """The same for each of the bot's threads, if they can be listed and are not too many to read."""
        counts = ((thread, host.counts_of(thread)) for thread in self._threads())
        return {thread: times for thread, times in counts if times is not None}

    def close_schedstat(self) -> None:
        """Close the descriptor of `main_counts`, which a bot needs only while it plays."""
        self._main_thread.close()

    def _threads(self) -> list[int]:
        if self.freezer is not None:
            return self.freezer.threads(MAX_THREADS)
        return host.threads_of(self.processes(), MAX_THREADS)

    def ready(self) -> bool:
        """Whether the bot's process is ready to run: the kernel may count only afterwards for how long it waited."""
        # It is so when it computes, too; who computed nothing since the last reading waits.
        return _LINUX and (host.state(self.own_pid) or " ")[0] == "R"

    def any_ready(self) -> bool:
        """Whether any of its threads is ready to run."""
        return self.ready() or any((host.state(thread) or " ")[0] == "R" for thread in self._threads())

    def at_cap(self) -> bool:
        """Whether the bot has taken all the memory that it may: then it is itself what it waits for."""
        return self.group is not None and self.group.at_cap()

    def own_traffic_bytes(self) -> int | None:
        """The bytes that the bot read from disks and wrote to them so far; None if it is not known."""
        processes = self.processes()
        return None if len(processes) > MAX_THREADS else host.bytes_of(processes)

    def all_traffic_bytes(self) -> int:
        """The same for the whole machine; 0 if the system does not say."""
        return host.traffic_bytes()

    def processes(self) -> Sequence[int]:
        """The processes whose memory counts as the bot's: all that it started, if they can be listed."""
        holder = self.group or self.freezer
        if holder is None:
            return (self.pid,) if self.sandbox is None else self.sandbox.processes()
        pids = set(holder.members())
        if self.sandbox is not None:
            return list(pids - {self.pid, self.sandbox.init_pid})
        return list(pids | {self.pid})  # at limits, root's bots could leave their group

    def at_input(self) -> tuple[int, bool | None]:
        """How many bytes of its input it has not read, and whether it waits for more of it; None if not known."""
        # Before the first answer, `own_pid` may still be what starts the sandbox.
        threads = host.threads_of(self.processes() or [self.own_pid], MAX_THREADS)
        return host.unread_bytes(self.stdin), host.waits_for(self.stdin, threads)

    def others(self) -> list[int]:
        """The bot's processes beside its own one, if they can be listed."""
        return [pid for pid in self.processes() if pid != self.own_pid]

    # ------------------------------------------------------------------ stopped and continued

    def pause(self, others: bool = False) -> bool:
        """Stop the bot: all of it, where there is a freezer; else its own process, and with `others` what it started.

        False where it might be left behind stopped for ever, if the harness were killed.
        """
        # The kernel freezes a group in 3 microseconds. By signals, each thread of each process must be stopped.
        if self._stoppable:
            if self.freezer is not None:
                self.freezer.freeze()
            else:
                self._signal(host.stop, others)
        return self._stoppable

    def resume(self, others: bool = False) -> None:
        """Let a stopped bot go on."""
        if self.freezer is not None:
            self.freezer.thaw()
        else:
            self._signal(lambda pid: os.kill(pid, signal.SIGCONT), others)

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

    # The number of a child that has ended stays its own until somebody waits for it. So `alive` and `status` only ask
    # how it ended, and everything of the bot is killed before `reap` waits: once the number is free, a SIGKILL to the
    # process group of that number could hit another one's.

    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return host.ended(self._popen) is None

    def status(self, within_s: float = 0.0) -> int | None:
        """How the bot ended, negative for a signal; None if it has not, and does not `within_s` seconds."""
        status = host.ended(self._popen, within_s)
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
        # A pidfd becomes readable then, and nobody has waited for the process: its number stays reserved.
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
        # Process 1 of a sandbox takes all others there along. At limits, what left the process group of the bot, as a
        # daemon does, is still in its control group.
        if self.sandbox is not None:
            self.sandbox.kill()
        elif (holder := self.freezer or self.group) is not None:
            holder.kill()
        if self._popen.returncode is not None and host.HOLDS_NUMBERS:
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
