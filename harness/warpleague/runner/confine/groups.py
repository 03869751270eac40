"""The folders of control groups: gives them names, ends what runs in them, and removes them.

A group is a folder below the harness's own group. Its name names its owner, so that the next harness finds and ends
what a killed harness left.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import signal
import time
from functools import cache
from typing import Final

from warpleague.errors import HarnessFault
from warpleague.runner.confine import hierarchy
from warpleague.runner.host.processes import GONE, state

_REMOVE_S: Final = 1.0
"""How long the kernel may take to let go of a group whose processes were killed, in seconds."""

_NAME: Final = re.compile(r"warpleague-(\d+)-(\d+)-(\d+)-\d+")
_ROUNDS: Final = 50
_serial = 0


def fresh_path(base: str) -> str:
    """A group in `base` that there has not been yet."""
    global _serial
    _serial += 1
    return os.path.join(base, f"warpleague-{owner()}-{_serial}")  # noqa: PTH118


def unmade(base: str, error: OSError) -> HarnessFault:
    """A group could not be made in `base`, where that was possible before."""
    return HarnessFault(f"{base}: no control group could be made: {error.strerror}")


def keep_clean(base: str) -> None:
    """Remove the groups that dead harnesses left in `base`, and at the end of this process its own."""
    sweep(base)
    atexit.register(_sweep_at_exit, base, os.getpid())


def _sweep_at_exit(base: str, pid: int) -> None:
    if os.getpid() == pid:  # not in a fork of ours
        sweep(base, ours_too=True)


def sweep(base: str, *, ours_too: bool = False) -> int:
    """Kill what is in groups of dead harnesses, and remove them; how many there were.

    Of harnesses in other PID namespaces nothing can be known here, so theirs stay. `ours_too`: this process ends.
    """
    namespace, own_pid, own_start = owner().split("-")
    count = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(base):  # noqa: PTH208
            match = _NAME.fullmatch(name)
            if match is None or match[1] != namespace:
                continue
            if (match[2], match[3]) == (own_pid, own_start):
                dead = ours_too
            else:
                dead = started_at(int(match[2])) != int(match[3])
            if dead:
                remove(os.path.join(base, name))  # noqa: PTH118
                count += 1
    return count


def remove(path: str) -> None:
    """Kill what is in the group and remove it with all below it."""
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            os.rmdir(path)  # noqa: PTH106
            return
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return
        kill_all(path)
        with contextlib.suppress(OSError):
            for entry in os.scandir(path):  # root's bots at `limits` may have made some of their own
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
        time.sleep(0.0005)


def kill_all(path: str) -> None:
    """Kill all that is in the group."""
    with contextlib.suppress(OSError):
        hierarchy.write(f"{path}/cgroup.kill", 1)  # version 2, Linux 5.14
        return
    seen: set[int] = set()
    for _ in range(_ROUNDS):
        # One in a PID namespace that is not to be seen from here has the number 0.
        new = [pid for pid in hierarchy.members(path) if pid not in seen and pid > 0]
        if not new:
            return
        seen.update(new)
        handles: dict[int, int] = {}
        for pid in new:
            try:
                handles[pid] = os.pidfd_open(pid)
            except OSError as error:
                if error.errno not in GONE:
                    raise
        # A number may have become another process's before its handle was opened, but not after.
        remaining = set(hierarchy.members(path)) - {os.getpid()}
        for pid, handle in handles.items():
            if pid in remaining:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)


def owner() -> str:
    """A name that no other living process's groups have: its PID namespace, its number there, when it started."""
    pid = os.getpid()
    return f"{_namespace()}-{pid}-{started_at(pid)}"


@cache
def _namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    except OSError:
        return 0


def started_at(pid: int) -> int:
    """When a process started, in clock ticks since boot; -1 if it has ended."""
    process_state = state(pid)
    return -1 if process_state is None else process_state[1]
