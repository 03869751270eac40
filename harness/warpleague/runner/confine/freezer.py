"""Freezes a bot by its control group, which also counts what all of its processes compute, dead ones included.

`play` and `pondering` decide when. It is a control group of version 2 (cgroups(7); the kernel's cgroup-v2), which
needs no controller for this: a folder below the group that this process is in. Where memory is capped by version 2,
it is the same folder.

Nothing that a bot can do undoes freezing. A stop by SIGSTOP can be undone by any SIGCONT: from a child, a timer, or
a terminal.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import Final

import attrs

from warpleague.runner.confine import cgroup, groups, hierarchy

_USAGE: Final = len(b"usage_usec ")


@attrs.frozen
class FreezerSupport:
    """The folder `base` to make groups in; where it is empty, `reason` says why, without names of this machine."""

    base: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return "frozen by cgroup v2" if self.base else f"stopped by signals, no freezer: {self.reason}"


class Pressure:
    """The kernel's account, in the file at `path`, of how long a whole group waited: line "full" of accounting/psi.

    It is opened at the first reading: many a bot never keeps anyone waiting.
    """

    __slots__ = ("_fd", "_path", "_silent")

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._silent = False

    def read(self) -> int | None:
        """How long the group waited so far, in nanoseconds; None if the kernel does not say."""
        if self._silent:
            return None
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            data = os.pread(self._fd, 200, 0)
            if b"full" in data:  # not before Linux 5.13
                return int(data[data.rindex(b"=") + 1 :]) * 1000
        except (OSError, ValueError):
            pass
        self._silent = True  # the kernel was made or started without it
        self.close()
        return None

    def close(self) -> None:
        """Give back the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Freezer:
    """The group of one bot. A process that writes 0 to the file `entry` is in it.

    It is the folder `shared`, if one is given; the maker of that folder removes it. Raises `OSError` if it fails.
    """

    def __init__(self, base: str, shared: str | None = None) -> None:
        self.path = groups.fresh_path(base) if shared is None else shared
        self.entry = f"{self.path}/cgroup.procs"
        self._own = shared is None
        self._state = self._clock = -1
        self.pressure = {kind: Pressure(f"{self.path}/{kind}.pressure") for kind in ("cpu", "io", "memory")}
        """How long the group as a whole waited for `cpu`, `io` or `memory`.

        While one process of the group keeps another waiting, that one runs: it does not count (2 microseconds a read).
        The kernel takes the mean over the processors that the group used since the last reading. So it reports too
        little if the bot was moved from one to another, and too much if one of its threads ran while another waited.
        """
        self._cpu_ns = 0
        if self._own:
            os.mkdir(self.path)  # noqa: PTH102
            self._make_threaded(base)
        try:
            self._state = os.open(f"{self.path}/cgroup.freeze", os.O_WRONLY | os.O_CLOEXEC)
            self._clock = os.open(f"{self.path}/cpu.stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.remove()
            raise

    def _make_threaded(self, base: str) -> None:
        """Have single threads enter, which takes 0.1 ms: for a process, the kernel waits for all processors (10 ms).

        Only below the root of the hierarchy: elsewhere it would change what the group above may hold.
        """
        if not os.path.exists(f"{base}/cgroup.type"):  # noqa: PTH110
            with contextlib.suppress(OSError):
                hierarchy.write(f"{self.path}/cgroup.type", "threaded")
                self.entry = f"{self.path}/cgroup.threads"

    def freeze(self) -> None:
        """Stop everything in the group until `thaw` (3 microseconds, and a switch to each process)."""
        if self._state >= 0:
            os.write(self._state, b"1")

    def thaw(self) -> None:
        """Let everything in the group go on."""
        if self._state >= 0:
            os.write(self._state, b"0")

    def cpu_ns(self) -> int:
        """The processor time of all that ever ran here, exact to the microsecond (1.3 microseconds a read)."""
        if self._clock >= 0:  # else it does not advance: the bot has ended
            data = os.pread(self._clock, 40, 0)
            self._cpu_ns = int(data[_USAGE : data.index(b"\n")]) * 1000
        return self._cpu_ns

    def threads(self, most: int) -> list[int]:
        """The threads in the group; none if there are more than `most`."""
        try:
            with open(f"{self.path}/cgroup.threads", "rb", buffering=0) as file:  # noqa: PTH123
                pids = file.read(8 * (most + 1)).split()
        except OSError:
            return []
        return [] if len(pids) > most else [int(number) for number in pids]

    def entered(self) -> bool:
        """Whether any process has ever run here."""
        return self.cpu_ns() > 0

    def members(self) -> list[int]:
        """The processes in the group, in no particular order."""
        return hierarchy.members(self.path)

    def kill(self) -> None:
        """Kill all that is in the group."""
        groups.kill_all(self.path)

    def remove(self) -> None:
        """Kill the processes left in the group and remove it."""
        for fd in (self._state, self._clock):
            if fd >= 0:
                os.close(fd)
        self._state = self._clock = -1
        for pressure in self.pressure.values():
            pressure.close()
        if self._own:
            groups.remove(self.path)


def open_freezer(capped: cgroup.Group | None) -> Freezer | None:
    """A new group for one bot, the one that caps its memory if that can freeze; None where there are none.

    `support` says why. Raises `HarnessFault` if one cannot be made where it could before.
    """
    supported = support()
    if not supported.base:
        return None
    try:
        if capped is not None and capped.version == 2:
            return Freezer(supported.base, capped.path)
        return Freezer(supported.base)
    except OSError as error:
        lost.append(FreezerSupport(reason=f"one could not be made any more: {error.strerror}"))
        raise groups.unmade(supported.base, error) from error


def support() -> FreezerSupport:
    """The means of this machine, detected at the first call in a process."""
    return lost[-1] if lost else _support()


lost: list[FreezerSupport] = []
"""The state of freezers since their detection; the last entry counts."""


@cache
def _support() -> FreezerSupport:
    try:
        detected = detect()
    except hierarchy.Impossible as error:
        return FreezerSupport(reason=str(error))
    if detected.base != cgroup.support().base:
        groups.keep_clean(detected.base)
    return detected


def detect(proc: str = "/proc") -> FreezerSupport:
    """Find the folder to make groups in, and make one to see that it works; `Impossible` says why there is none."""
    capped = cgroup.support()
    base = capped.base if capped.version == 2 else hierarchy.find_unified(proc)
    try:
        trial = Freezer(base)
        try:
            trial.cpu_ns()
            trial.freeze()
            trial.thaw()
        finally:
            trial.remove()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no clock"
        raise hierarchy.Impossible(f"none can be made: {reason}", base) from None
    return FreezerSupport(base)
