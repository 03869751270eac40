"""The kernel's counters of disks: how much was read and written, and how long a thread waited for that (Linux)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from warpleague.runner.host.processes import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICK_NS: Final = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_BLOCKED: Final = 39  # the field of proc_pid_stat(5), counted from the one after the program's name


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
        elif os.path.exists(f"/proc/{pid}"):  # noqa: PTH110 - while a bot is waited for
            return None
    return total


def blocked_ns(thread: int) -> int:
    """How long a thread waited for disks so far; 0 unless kernel.task_delayacct is switched on."""
    fields = read_file(f"/proc/{thread}/stat").rpartition(b")")[2].split()
    return int(fields[_BLOCKED]) * _TICK_NS if len(fields) > _BLOCKED else 0


def _number(text: bytes, name: bytes) -> int:
    at = text.find(name)
    return int(text[at + len(name) : text.index(b"\n", at + len(name))]) if at >= 0 else 0
