"""Finds the processes that a match has left behind, and ends them.

`warpleague.runner.bot.process` ends the process groups of bots. This module finds what escaped them: a daemon that
was forked twice into its own session becomes a child of the nearest subreaper, which is a referee process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Final

from warpleague.runner.host.processes import read_file, started

if TYPE_CHECKING:
    from collections.abc import Iterator

_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37
_ROUNDS: Final = 50
_gathering: Final = threading.Lock()


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> bool:
    """Make this process the parent of its orphaned descendants (Linux); false where that is not possible."""
    if sys.platform != "linux":
        return False
    return bool(_libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


@contextlib.contextmanager
def ending_leftovers() -> Iterator[None]:
    """At the end, kill all processes started inside that run, daemons included where the system can list them.

    One thread at a time, since it would kill what others start. A process that was no subreaper is none afterwards.
    """
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
        for task in sorted(os.listdir(f"/proc/{pid}/task"), key=int):  # noqa: PTH208 - looked at all the time
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
    """Wait for those children not in `keep` that have ended; how many there were.

    A bot without a process namespace may leave thousands of dead processes a second to the nearest subreaper. Until
    somebody waits for them they hold process ids, which the whole machine shares.
    """
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


def end_started_with(variable: str, value: str, rounds: int = _ROUNDS) -> int:
    """Kill all processes that were started with this variable in their environment, and return their number (Linux).

    They remain if the program that started them was killed, and have no parent of ours.
    """
    wanted = f"{variable}={value}".encode()
    killed = 0
    for _ in range(rounds):
        killed_now = 0
        for entry in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208
            with contextlib.suppress(OSError, ValueError):
                if int(entry) != os.getpid() and wanted in read_file(f"/proc/{entry}/environ").split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
                    killed_now += 1
        killed += killed_now
        if not killed_now:
            break
    return killed
