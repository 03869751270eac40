"""The clock of a build: it counts processor time, so that a busy machine does not make a build too long."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.counts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

WALL: Final = 5
"""A build may take this many times its limit by the wall clock."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_RUNS: Final = b"RD"
"""States of processes that compute, wait for a processor, or wait for the disk (proc_pid_stat(5))."""


@attrs.frozen
class BuildTime:
    """How long a build took, in seconds: by the wall clock, and the processor time of all its processes."""

    wall_s: float
    cpu_s: float

    @property
    def words(self) -> str:
        """The time in words."""
        return f"{self.wall_s:.1f} s, {self.cpu_s:.1f} s of processor time"


@attrs.define
class BuildClock:
    """Counts the time of a build of which the limit is `limit_s` seconds.

    The clock counts the processor time of all processes of the build, and the time while all of them sleep: a build
    that only waits must end, too. While one of them waits for a processor or the disk, others take that time from it.
    """

    limit_s: float
    begun_s: float
    cpu_s: float = 0.0
    slept_s: float = 0.0
    _seen_s: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._seen_s = self.begun_s

    def update(self, now_s: float, cpu_s: float, *, runs: bool) -> None:
        """Note that the processes have computed `cpu_s` seconds so far, and whether one of them `runs` now."""
        more_s = max(0.0, cpu_s - self.cpu_s)
        if not runs:
            self.slept_s += max(0.0, now_s - self._seen_s - more_s)
        self.cpu_s += more_s
        self._seen_s = now_s

    def excess(self) -> str:
        """How it took too long, or nothing."""
        if self.cpu_s + self.slept_s > self.limit_s:
            return f"took more than {self.limit_s:g} s"
        if self._seen_s - self.begun_s > WALL * self.limit_s:
            return f"took more than {counted(round(WALL * self.limit_s), 'second')} by the wall clock"
        return ""

    @property
    def time(self) -> BuildTime:
        """How long it has taken so far."""
        return BuildTime(self._seen_s - self.begun_s, self.cpu_s)


def computed(pids: Iterable[int]) -> tuple[float, bool]:
    """The processor time in seconds of these processes and of the children that they waited for; whether one runs.

    Where the system does not tell, none of them runs.
    """
    ticks, runs = 0, False
    for pid in pids:
        with suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - several times a second
                # The second field, the program's name in brackets, may itself hold brackets and blanks.
                fields = file.read().rsplit(b")", 1)[1].split()
            ticks += sum(map(int, fields[11:15]))
            runs = runs or fields[0] in _RUNS
    return ticks / _TICKS, runs
