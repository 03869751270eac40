"""Caps the memory of a bot and all its processes with a control group, where the kernel grants one.

`hierarchy` finds where groups can be made (cgroups(7); the kernel's cgroup-v1/memory and cgroup-v2), and `launch`
decides how high the cap is. A group is made for one bot before the bot runs, and removed when the last of its
processes has ended.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import Final

import attrs

from warpleague.runner.confine import groups, hierarchy

_SLACK: Final = 4 << 20  # the kernel charges in batches, so the peak may stay somewhat below the limit


@attrs.frozen
class CgroupSupport:
    """The `version` of control groups (1, 2) that bots are capped by and the folder `base` to make them in.

    Where there are none, `version` is 0 and `reason` says why, without names of this machine: it goes into records.
    """

    version: int = 0
    base: str = ""
    reason: str = ""

    def __str__(self) -> str:
        if self.version:
            return f"memory capped by cgroup v{self.version}"
        return f"memory polled, no cgroup: {self.reason}"


@attrs.frozen
class Kill:
    """The kernel killed in a group: how many processes, whether at the group's own cap, its peak memory in MiB."""

    processes: int
    at_cap: bool
    peak_mb: int


class Group:
    """The control group of one bot. A process that writes 0 to the file `entry` is in it.

    Raises `OSError` if it cannot be made.
    """

    def __init__(self, support: CgroupSupport, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self.version = support.version
        self.path = groups.fresh_path(support.base)
        self._events = -1
        os.mkdir(self.path)  # noqa: PTH102
        try:
            if support.version == 1:
                # In `tasks`, unlike in `cgroup.procs`, the kernel need not wait for all processors to take note.
                self.entry = f"{self.path}/tasks"
                hierarchy.write(f"{self.path}/memory.limit_in_bytes", cap_bytes)
                with contextlib.suppress(FileNotFoundError, PermissionError):  # there without swap accounting
                    hierarchy.write(f"{self.path}/memory.memsw.limit_in_bytes", cap_bytes)
                events = "memory.oom_control"
            else:
                self.entry = f"{self.path}/cgroup.procs"
                hierarchy.write(f"{self.path}/memory.max", cap_bytes)
                for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
                    with contextlib.suppress(FileNotFoundError):
                        hierarchy.write(f"{self.path}/{name}", value)
                events = "memory.events"
            self._events = os.open(f"{self.path}/{events}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            with contextlib.suppress(OSError):
                os.rmdir(self.path)  # noqa: PTH106
            raise

    def kills(self) -> Kill | None:
        """The processes that the kernel killed here for want of memory; None if nothing (2 microseconds)."""
        if self._events < 0:
            return None
        try:
            events = hierarchy.numbers(os.pread(self._events, 4096, 0))
        except OSError:
            return None
        processes = events.get("oom_kill", 0)
        if not processes:
            return None
        if self.version == 2:
            peak = hierarchy.read_number(f"{self.path}/memory.peak") or self.cap_bytes  # Linux 5.19 has it
            return Kill(processes, events.get("oom", 0) > 0, peak >> 20)
        peak = hierarchy.read_number(f"{self.path}/memory.max_usage_in_bytes")
        # Not by memory.failcnt: newer kernels do not count there any more.
        return Kill(processes, peak >= self.cap_bytes - _SLACK, peak >> 20)

    def mapped_bytes(self, enough: int) -> int | None:
        """Their mapped memory, shared memory once; in version 2 page tables, too; None if unknown.

        Where everything they have taken is not above `enough`, that is answered, which costs less. Both cost the same
        however many processes there are (2 and 15 microseconds).
        """
        names: tuple[str, ...] = ("memory.usage_in_bytes", "total_rss", "total_mapped_file")
        if self.version == 2:
            names = ("memory.current", "anon", "file_mapped", "pagetables")
        taken = hierarchy.read_number(f"{self.path}/{names[0]}")
        if 0 < taken <= enough:
            return taken
        counters = hierarchy.numbers(hierarchy.read(f"{self.path}/memory.stat").encode())
        return sum(counters.get(name, 0) for name in names[1:]) if names[1] in counters else None

    def at_cap(self) -> bool:
        """Whether they have taken as much as they may, files that the kernel caches for them included."""
        name = "memory.usage_in_bytes" if self.version == 1 else "memory.current"
        return hierarchy.read_number(f"{self.path}/{name}") >= self.cap_bytes - _SLACK

    def members(self) -> list[int]:
        """The processes in the group, in no particular order."""
        return hierarchy.members(self.path)

    def entered(self) -> bool:
        """Whether any process has ever run here."""
        if self.version == 2:
            try:
                with open(f"{self.path}/cpu.stat", "rb") as file:  # noqa: PTH123
                    return hierarchy.numbers(file.read()).get("usage_usec", 1) > 0
            except OSError:
                return True
        return hierarchy.read(f"{self.path}/memory.max_usage_in_bytes").strip() != "0"

    def kill(self) -> None:
        """Kill all that is in the group."""
        groups.kill_all(self.path)

    def remove(self) -> None:
        """Kill the processes left in the group and remove it; if the kernel is not ready, `groups.sweep` does."""
        if self._events >= 0:
            os.close(self._events)
            self._events = -1
        groups.remove(self.path)


def open_group(cap_bytes: int) -> Group | None:
    """A new group for one bot, with a cap in bytes; None where there are none (`support` says why).

    Raises `HarnessFault` if a group cannot be made although it could before, because the record of this match would be
    wrong. From then on this process works without groups, and says so.
    """
    supported = support()
    if not supported.version:
        return None
    try:
        return Group(supported, cap_bytes)
    except OSError as error:
        reason = f"one could not be made any more: {error.strerror}"
        lost.append(CgroupSupport(base=supported.base, reason=reason))
        raise groups.unmade(supported.base, error) from error


def support() -> CgroupSupport:
    """The means of this machine, detected at the first call in a process.

    Where version 2 asks for it, this process moves itself into a group of its own below the one it is in.
    Groups of dead harnesses are removed, and so are this process's own at its end.
    """
    return lost[-1] if lost else _support()


lost: list[CgroupSupport] = []
"""The state of control groups since their detection; the last entry counts."""


@cache
def _support() -> CgroupSupport:
    try:
        detected = detect()
    except hierarchy.Impossible as error:
        return CgroupSupport(base=error.base, reason=str(error))
    groups.keep_clean(detected.base)
    return detected


def detect(proc: str = "/proc") -> CgroupSupport:
    """Find the folder to make groups in, and make one to see that it works; `Impossible` says why there is none."""
    version, base = hierarchy.find(proc)
    detected = CgroupSupport(version, base)
    try:
        Group(detected, 64 << 20).remove()
    except OSError as error:
        raise hierarchy.Impossible(f"none can be made (cgroup v{version}): {error.strerror}", base) from None
    return detected
