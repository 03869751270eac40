"""The kernel's counters of one thread: how long it computed, and how long it waited for a processor.

From /proc/PID/schedstat (Linux; the kernel's scheduler/sched-stats.rst), in nanoseconds.
"""

from __future__ import annotations

import contextlib
import os
import threading


class Schedstat:
    """The counts of the thread at `path` below /proc; its file is opened at the first reading."""

    __slots__ = ("_fd", "_path")

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1

    def read(self) -> tuple[int, int] | None:
        """How long it computed and how long it waited so far; None if the system does not say."""
        try:
            if self._fd < 0:
                self._fd = os.open(f"/proc/{self._path}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            computed, waited = os.pread(self._fd, 100, 0).split()[:2]
            return int(computed), int(waited)
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Give back the descriptor; a later reading opens it again."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1


def counts_of(thread: int) -> tuple[int, int] | None:
    """How long one thread computed and waited so far; None if there is none such, or the system does not say."""
    counts = Schedstat(str(thread))
    try:
        return counts.read()
    finally:
        counts.close()


class _Own(threading.local):
    counts: Schedstat | None = None


_own = _Own()


def own_counts() -> tuple[int, int]:
    """How long the calling thread computed and waited so far; 0 and 0 if the system does not say."""
    counts = _own.counts
    if counts is None:
        counts = _own.counts = Schedstat(f"{os.getpid()}/task/{threading.get_native_id()}")
    return counts.read() or (0, 0)


def _forget() -> None:
    """In a fork: its only thread has other counts than the one whose descriptor it inherits."""
    if _own.counts is not None:
        _own.counts.close()
        _own.counts = None


os.register_at_fork(after_in_child=_forget)
