"""Processes of the host, and what its kernel tells of them: starts, stops and ends them, and reads their counters.

Where a system says nothing, as other systems than Linux, the answer is empty.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import signal
import subprocess
import sys
import termios
import threading
import time
from array import array
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from warpleague.errors import BadInput, HarnessFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Whether `ended` leaves a dead child its number; macOS can only ask and take it.
HOLDS_NUMBERS: Final = hasattr(os, "waitid")

# The errors of pidfd_open(2) for the number of a process that is just ending.
GONE: Final = frozenset({errno.ESRCH, errno.EINVAL, errno.ENOENT})

_CHUNK: Final = 1 << 16
_READS: Final = {"x86_64": (b"0", b"19"), "aarch64": (b"63", b"65")}.get(os.uname().machine, ())
"""The numbers of read(2) and readv(2), as /proc/PID/syscall shows them (proc(5))."""
_POLLS: Final = {
    "x86_64": (b"7", b"23", b"232", b"270", b"271", b"281", b"426", b"441"),
    "aarch64": (b"22", b"72", b"73", b"426", b"441"),
}.get(os.uname().machine, ())
"""Those of poll, select, epoll_wait, io_uring_enter and their kin, which wait for several things at once."""
_TICK_NS: Final = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_BLOCKED: Final = 39  # the field of proc_pid_stat(5), counted from the one after the program's name
_GLANCE_S: Final = 0.0005
_started: Final[WeakSet[subprocess.Popen[bytes]]] = WeakSet()


def spawn(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program as the leader of a session of its own, with three pipes and the descriptors `fds`.

    To be called in the thread that runs trio. With vfork it takes a fraction of a millisecond, whatever our own size.
    Raises `OSError`.
    """
    # A child that asked to die with its parent dies with the thread that started it: the end of a worker thread could
    # kill a bot.
    expect_status()
    pipes: list[tuple[int, int]] = []
    try:
        # Not by Popen: that of early Python 3.11 keeps what it has opened when there is no room for the next pipe.
        for _ in range(3):
            pipes.append(os.pipe())  # noqa: PERF401 - what is open already must be known when this fails
        (stdin, to), (back, stdout), (errors, stderr) = pipes
        process = subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            pass_fds=fds,
            start_new_session=True,
        )
    except BaseException:
        for fd in chain.from_iterable(pipes):
            os.close(fd)
        raise
    for fd in (stdin, stdout, stderr):
        os.close(fd)
    _started.add(process)
    pass_on(process.pid)
    process.stdin, process.stdout = os.fdopen(to, "wb", 0), os.fdopen(back, "rb", 0)
    process.stderr = os.fdopen(errors, "rb", 0)
    return process


def expect_status() -> None:
    """Raise `HarnessFault` where nobody could find out how a child ends; to be called before one is started.

    Our own processes begin with `reset_signals`. This is for programs of others that call us: `subprocess` takes an
    unknown status for 0.
    """
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        raise HarnessFault(
            "this process ignores SIGCHLD, so nobody can know how its programs end: "
            "signal.signal(signal.SIGCHLD, signal.SIG_DFL)"
        )


def started() -> set[int]:
    """The process ids of what `spawn` has started here and nobody has waited for yet."""
    return {process.pid for process in list(_started) if process.returncode is None}


def ended(process: subprocess.Popen[bytes], within_s: float = 0.0) -> int | None:
    """How a child ended, negative for a signal; None if it has not, and does not `within_s` seconds."""
    # Nothing here waits for it: the process id of a child that has ended stays reserved until somebody does. So
    # killing a process group by its leader's id cannot hit another process.
    deadline = time.monotonic() + within_s
    while (status := _ended(process)) is None and within_s and time.monotonic() < deadline:
        time.sleep(_GLANCE_S)
    return status


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    if process.returncode is not None or not HOLDS_NUMBERS:
        return process.poll()
    try:
        status = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.poll()  # a child of the process that this one was forked from: to us it is gone
    if status is None:
        return None
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def stop(pid: int) -> None:
    """Stop a process by SIGSTOP, which each of its threads gets, too; `ProcessLookupError` if it is gone."""
    # A signal to a process alone waits for one of its threads, perhaps one that sleeps. Until that one has got a
    # processor, which takes milliseconds on a busy machine, the others compute on.
    with contextlib.suppress(OSError, AttributeError):  # not every system has a signal to a thread
        for thread in os.listdir(f"/proc/{pid}/task"):
            _libc().tgkill(pid, int(thread), signal.SIGSTOP)
    os.kill(pid, signal.SIGSTOP)


# -- niceness ------------------------------------------------------------------------------------------


# How nice a process is to others that want a processor: the nicer it is, the lower its CPU priority. Where the kernel
# shares the processors between sessions first (sched(7), autogroup), a niceness counts only within its session. Bots
# run in sessions of their own, so there the session's niceness must be set, too.


def be_nice(niceness: int) -> None:
    """Add to the niceness of this process, and of its session if it began it."""
    # Nobody else is in such a session but what the process started.
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        _set_session(os.getpid(), os.getpriority(os.PRIO_PROCESS, 0))


def pass_on(pid: int) -> None:
    """Make the session that `pid` began as nice as this thread; the process itself has inherited that."""
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > 0:
        _set_session(pid, niceness)


def _set_session(pid: int, niceness: int) -> None:
    # The kernel lacks it, the process is gone, or it was set too often: a user other than root may do so ten times a
    # second.
    with contextlib.suppress(OSError):
        fd = os.open(f"/proc/{pid}/autogroup", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, str(niceness).encode())
        finally:
            os.close(fd)


# -- counters of the kernel ----------------------------------------------------------------------------


def read_file(path: str) -> bytes:
    """All that a small file of the kernel says, at half of what `open` costs; nothing if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        content = more = os.read(fd, _CHUNK)
        while more:
            more = os.read(fd, _CHUNK)
            content += more
        return content
    except OSError:
        return b""
    finally:
        os.close(fd)


def state(pid: int) -> tuple[str, int] | None:
    """The state of a process (a letter, proc_pid_stat(5)) and when it started; None if it has ended, or is dead."""
    # In clock ticks since boot. Number and start together name one process. A zombie counts as dead.
    try:
        # The second field, the program's name in brackets, may itself hold brackets and blanks.
        fields = read_file(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
        letter = fields[0].decode()
        return None if letter in "ZX" else (letter, int(fields[19]))
    except (IndexError, ValueError):
        return None


def waits_for(pipe: int, threads: Iterable[int]) -> bool | None:
    """Whether any of these threads waits for more to read from a `pipe` to them; None where that is not known.

    That is where the system does not tell, and where one waits for several things at once, as an event loop does.
    """
    # Not the main thread alone reads: in Java and Go another one does, and programs may give the pipe another number.
    inode = os.fstat(pipe).st_ino
    told, several = False, False
    for thread in threads:
        call = read_file(f"/proc/{thread}/syscall").split()
        told = told or bool(call)
        several = several or (bool(call) and call[0] in _POLLS)
        if len(call) > 1 and call[0] in _READS:
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{thread}/fd/{int(call[1], 16)}").st_ino == inode:
                    return True
    return False if told and not several and _READS else None


def unread_bytes(pipe: int) -> int:
    """How many bytes lie in a pipe that nobody has read yet; 0 where the system does not say."""
    room = array("i", [0])
    with contextlib.suppress(OSError):
        fcntl.ioctl(pipe, termios.FIONREAD, room)
    return room[0]


def threads_of(pids: Iterable[int], most: int) -> list[int]:
    """All threads of the processes `pids` (Linux); none if there are more than `most`."""
    threads: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            threads += map(int, os.listdir(f"/proc/{pid}/task"))
        if len(threads) > most:
            return []
    return threads


class CounterFile:
    """A small file at `path` in which the kernel counts: opened at the first reading, and read again and again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1

    def read(self) -> bytes:
        """Its content now; nothing if it cannot be read."""
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._fd, 200, 0)
        except OSError:
            return b""

    def close(self) -> None:
        """Give back the descriptor; a later reading opens the file again."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1


class Schedstat(CounterFile):
    """How long the thread at `path` below /proc computed and waited, in nanoseconds (scheduler/sched-stats.rst)."""

    def __init__(self, path: str) -> None:
        super().__init__(f"/proc/{path}/schedstat")

    def counts(self) -> tuple[int, int] | None:
        """How long it computed and how long it waited so far; None if the system does not say."""
        try:
            computed, waited = self.read().split()[:2]
            return int(computed), int(waited)
        except ValueError:
            return None


def counts_of(thread: int) -> tuple[int, int] | None:
    """How long one thread computed and waited so far; None if there is none such, or the system does not say."""
    file = Schedstat(str(thread))
    try:
        return file.counts()
    finally:
        file.close()


class _Own(threading.local):
    file: Schedstat | None = None


_own = _Own()


def own_counts() -> tuple[int, int]:
    """How long the calling thread computed and waited so far; 0 and 0 if the system does not say."""
    file = _own.file
    if file is None:
        file = _own.file = Schedstat(f"{os.getpid()}/task/{threading.get_native_id()}")
    return file.counts() or (0, 0)


def _forget() -> None:
    """In a fork: its only thread has other counts than the one whose descriptor it inherits."""
    if _own.file is not None:
        _own.file.close()
        _own.file = None


os.register_at_fork(after_in_child=_forget)


def traffic_bytes() -> int:
    """The bytes that the whole machine read from its disks and wrote to them so far; 0 if the system does not say."""
    counters = read_file("/proc/vmstat")
    return 1024 * (_number(counters, b"pgpgin ") + _number(counters, b"pgpgout "))


def bytes_of(pids: Iterable[int]) -> int | None:
    """The part of it that these processes read and wrote so far, with their children; None if not all say."""
    total = 0
    for pid in pids:
        counters = read_file(f"/proc/{pid}/io")
        if counters:
            total += _number(counters, b"\nread_bytes: ") + _number(counters, b"\nwrite_bytes: ")
        elif os.path.exists(f"/proc/{pid}"):
            return None
    return total


def blocked_ns(thread: int) -> int:
    """How long a thread waited for disks so far; 0 unless kernel.task_delayacct is switched on."""
    fields = read_file(f"/proc/{thread}/stat").rpartition(b")")[2].split()
    return int(fields[_BLOCKED]) * _TICK_NS if len(fields) > _BLOCKED else 0


def _number(text: bytes, name: bytes) -> int:
    at = text.find(name)
    return int(text[at + len(name) : text.index(b"\n", at + len(name))]) if at >= 0 else 0


# -- what a match leaves behind ------------------------------------------------------------------------


_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37
_ROUNDS: Final = 50
_gathering: Final = threading.Lock()


def become_subreaper() -> bool:
    """Make this process the parent of its orphaned descendants (Linux); false where that is not possible."""
    # The end of a bot kills its process group. What escaped that, a daemon that was forked twice into a session of its
    # own, becomes a child of the nearest subreaper: so there it is found.
    if sys.platform != "linux":
        return False
    return bool(_libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


@contextlib.contextmanager
def ending_leftovers() -> Iterator[None]:
    """At the end, kill all processes started inside that run, daemons included where the system can list them."""
    # One thread at a time, since it would kill what others start. A process that was no subreaper is none afterwards.
    with _gathering:
        was = ctypes.c_int(1)
        if sys.platform == "linux":
            _libc().prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(was), 0, 0, 0)
        before = children()
        become_subreaper()
        try:
            yield
        finally:
            sweep(before)
            if not was.value:
                _libc().prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children_of(pid: int) -> list[int]:
    """The children of all threads of `pid`, the oldest of each thread first; empty if the system does not say."""
    children: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for task in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
            children += map(int, read_file(f"/proc/{pid}/task/{task}/children").split())
    return children


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, its own first child first; empty if the system does not say."""
    pids = children_of(pid)
    for parent in pids:
        pids += children_of(parent)
    return pids


def children() -> set[int]:
    """The process ids of this process's children; empty if the system does not say."""
    return set(children_of(os.getpid()))


def reap_orphans(keep: set[int]) -> int:
    """Wait for those children not in `keep` that have ended; how many there were."""
    # A bot without a process namespace may leave thousands of dead processes a second to the nearest subreaper. Until
    # somebody waits for them they hold process ids, which the whole machine shares.
    reaped = 0
    for pid in children() - keep - started():
        with contextlib.suppress(ChildProcessError):
            reaped += os.waitpid(pid, os.WNOHANG)[0] == pid
    return reaped


def sweep(keep: set[int], rounds: int = _ROUNDS) -> int:
    """Kill and reap every child that is not in `keep`, and what these leave in turn; how many there were.

    `keep` are the children this process started itself.
    """
    killed = 0
    for _ in range(rounds):
        strays = children() - keep
        if not strays:
            break
        for pid in strays.copy():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            except PermissionError:
                # It has become somebody else's (by newuidmap, say): not ours to end, nor to wait for.
                strays.remove(pid)
        for pid in strays:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
                killed += 1
    return killed


def end_started_with(variable: str, value: str) -> int:
    """Kill all processes that were started with this variable in their environment; how many there were (Linux)."""
    # They remain if the program that started them was killed, and have no parent of ours.
    wanted = f"{variable}={value}".encode()
    killed = 0
    for _ in range(_ROUNDS):
        killed_now = 0
        for entry in os.listdir("/proc") if sys.platform == "linux" else ():
            with contextlib.suppress(OSError, ValueError):
                if int(entry) != os.getpid() and wanted in read_file(f"/proc/{entry}/environ").split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
                    killed_now += 1
        killed += killed_now
        if not killed_now:
            break
    return killed


# -- what this process may use, and has too little of --------------------------------------------------


_LEAST_FILES: Final = 64
_LEAST_PROCESSES: Final = {"limits": 8, "sandbox": 32}
_MORE_PROCESSES: Final = (
    "`ulimit -u` in the shell that starts it, or pids.max of its control group, allows more"
)


def usable_cores() -> list[int]:
    """The cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def check_own_limits(level: str) -> None:
    """Raise `BadInput` if this process may open too few files, or start too few processes, to try a level."""
    files = _limit(resource.RLIMIT_NOFILE)
    if files is not None and files < _LEAST_FILES:
        raise BadInput(
            f"this process may open {files} files; Warp League needs {_LEAST_FILES}: `ulimit -n {_LEAST_FILES}` "
            "in the shell that starts it allows more"
        )
    needed = _LEAST_PROCESSES.get(level, 0)
    processes = _startable(needed)
    if processes < needed:
        raise BadInput(
            f"this process may start {processes} processes; Warp League needs {needed} at level {level}: "
            f"{_MORE_PROCESSES}"
        )


def shortage(error: OSError | MemoryError) -> str:
    """The resource that was short, from the error that it caused, and the setting that allows more."""
    match error:
        case OSError(errno=errno.EMFILE) if (files := _limit(resource.RLIMIT_NOFILE)) is not None:
            return f"it may open {files} files: `ulimit -n` in the shell that starts it allows more"
        case OSError(errno=errno.EAGAIN):
            return f"it may start no more processes: {_MORE_PROCESSES}"
        case MemoryError() | OSError(errno=errno.ENOMEM):
            memory = _limit(resource.RLIMIT_AS)
            if memory is None:
                return "out of memory"
            return f"it may use {memory >> 20} MiB of memory: `ulimit -v` in the shell that starts it allows more"
    return str(error)


def _limit(kind: int) -> int | None:
    """A resource limit of this process; None where there is none."""
    most = resource.getrlimit(kind)[0]
    return None if most == resource.RLIM_INFINITY else most


def _startable(most: int) -> int:
    """How many processes could be started at once, up to `most`."""
    # It starts threads, which count, too, and take less time. Where memory is limited, none is tried: the stacks of
    # threads might be too much of it.
    if _limit(resource.RLIMIT_AS) is not None:
        return most
    enough = threading.Event()
    threads: list[threading.Thread] = []
    try:
        for _ in range(most):
            thread = threading.Thread(target=enough.wait)
            thread.start()
            threads.append(thread)
    except RuntimeError:
        pass  # there is no room for one more
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    return len(threads)
