"""How nice a process is to others that want a processor: the nicer it is, the lower its CPU priority.

Where the kernel shares the processors between sessions first (sched(7), autogroup), a niceness counts only within
its session. Bots run in sessions of their own, so there the session's niceness must be set, too.
"""

from __future__ import annotations

import contextlib
import os


def be_nice(niceness: int) -> None:
    """Add to the niceness of this process, and of its session if it began it.

    Nobody else is in such a session but what the process started.
    """
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
