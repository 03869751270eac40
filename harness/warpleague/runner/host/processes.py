"""Starts programs with three pipes, and checks whether a process runs or how it ended.

The process id of a child that has ended stays reserved until somebody waits for it. So nothing here waits for it:
then killing a process group by its leader's id cannot hit another process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import time
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from warpleague.runner.host.niceness import pass_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

HOLDS_NUMBERS: Final = hasattr(os, "waitid")
"""Whether `ended` leaves a dead child its number; macOS can only ask and take it."""

GONE: Final = frozenset({errno.ESRCH, errno.EINVAL, errno.ENOENT})
"""The errors of pidfd_open(2) for the number of a process that is just ending."""

_CHUNK: Final = 1 << 16
_GLANCE_S: Final = 0.0005
_started: Final[WeakSet[subprocess.Popen[bytes]]] = WeakSet()


def spawn(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program as the leader of a session of its own, with three pipes and the descriptors `fds`.

    To be called in the thread that runs trio: the end of a worker thread could kill a bot that asked to die with its
    parent. With vfork it takes a fraction of a millisecond, whatever our own size. Raises `OSError`.
    """
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
    process.stdin, process.stdout, process.stderr = (
        os.fdopen(to, "wb", 0),
        os.fdopen(back, "rb", 0),
        os.fdopen(errors, "rb", 0),
    )
    return process


def started() -> set[int]:
    """The process ids of what `spawn` has started here and nobody has waited for yet."""
    return {process.pid for process in list(_started) if process.returncode is None}


def ended(process: subprocess.Popen[bytes], within_s: float = 0.0) -> int | None:
    """How a child ended, negative for a signal; None if it has not, and does not `within_s` seconds."""
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
        return process.poll()  # the kernel itself took it, since SIGCHLD is ignored here
    if status is None:
        return None
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


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
    """The state of a process (a letter, proc_pid_stat(5)) and when it started, in clock ticks since boot.

    Number and start together name one process. None for what is not there, or is but a zombie.
    """
    try:
        # The second field, the program's name in brackets, may itself hold brackets and blanks.
        fields = read_file(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
        letter = fields[0].decode()
        return None if letter in "ZX" else (letter, int(fields[19]))
    except (IndexError, ValueError):
        return None


def threads_of(pids: Iterable[int], most: int) -> list[int]:
    """All threads of the processes `pids` (Linux); none if there are more than `most`."""
    threads: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            threads += map(int, os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - while a bot is waited for
        if len(threads) > most:
            return []
    return threads


@cache
def _tgkill() -> Callable[[int, int, int], int] | None:
    """The system's way to send a signal to one thread, if there is one."""
    import ctypes

    return getattr(ctypes.CDLL(None), "tgkill", None)


def stop(pid: int) -> None:
    """Stop a process by SIGSTOP, which each of its threads gets, too; `ProcessLookupError` if it is gone.

    A signal to a process alone waits for one of its threads, perhaps one that sleeps. Until that one has got a
    processor, which takes milliseconds on a busy machine, the others compute on.
    """
    tgkill = _tgkill()
    if tgkill is not None:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a bot may be stopped at each decision
                tgkill(pid, int(thread), signal.SIGSTOP)
    os.kill(pid, signal.SIGSTOP)
