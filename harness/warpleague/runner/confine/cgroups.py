"""Finds where in the tree of control groups this process may make groups, and reads and writes their files.

The place is the group that this process is in. In version 2 a group may not hold processes and distribute memory at
the same time, so this process first moves itself into another group.
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
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import HarnessFault
from warpleague.runner.host import GONE, descendants, read_file, state

if TYPE_CHECKING:
    from collections.abc import Iterator


# -- hierarchy -------------------------------------------------------------------------------------------


LEAF: Final = "warpleague-harness"
"""The group that harness processes move into, where version 2 wants the group above it empty."""

_ROUNDS: Final = 50


class Impossible(Exception):
    """Why groups are not available, and the folder that was tried, if any."""

    def __init__(self, reason: str, base: str = "") -> None:
        super().__init__(reason)
        self.base = base


def find(proc: str = "/proc") -> tuple[int, str]:
    """The version of control groups and the folder to make them in; `Impossible` says why there is none."""
    paths = _paths(proc)
    if not paths:
        raise Impossible("the kernel has none for memory")
    version = min(paths)  # a controller of version 1 is not to be had in version 2
    home = _home(proc, version, paths[version])
    return version, home if version == 1 else _base_v2(home)


def find_unified(proc: str = "/proc") -> str:
    """The folder to make groups of version 2 in that need no controller; `Impossible` says why there is none."""
    path = _paths(proc).get(2)
    if path is None:
        raise Impossible("the kernel has none of version 2")
    home = _home(proc, 2, path)
    # Whoever moves a process must be allowed to write to the group above both the old and the new one of it.
    if not all(os.access(path, os.W_OK) for path in (home, f"{home}/cgroup.procs")):
        raise Impossible(f"the group of this process may not be divided; {_remedy()}", home)
    return home


def _paths(proc: str) -> dict[int, str]:
    """The group that this process is in, by version: of version 1 the one for memory."""
    paths: dict[int, str] = {}
    with contextlib.suppress(OSError), open(f"{proc}/self/cgroup", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            number, names, path = line.rstrip("\n").split(":", 2)
            if "memory" in names.split(","):
                paths[1] = path
            elif number == "0":
                paths[2] = path
    return paths


def _home(proc: str, version: int, path: str) -> str:
    """The folder of the group `path`, which this process is in."""
    for root, point in _mounts(proc, version):
        root = root.rstrip("/")
        if (path + "/").startswith(root + "/") and ".." not in path.split("/"):
            home = (point + path[len(root) :]).rstrip("/")
            if os.getpid() not in members(home):
                raise Impossible("the group of this process is not to be seen here", home)
            return home
    raise Impossible(f"the hierarchy (cgroup v{version}) is not mounted here")


def _mounts(proc: str, version: int) -> Iterator[tuple[str, str]]:
    """Of each mount of the hierarchy (in version 1: memory) its root and mount point, the latest first."""
    # proc_pid_mountinfo(5)
    try:
        with open(f"{proc}/self/mountinfo", encoding="utf-8") as file:  # noqa: PTH123
            lines = file.read().splitlines()
    except OSError:
        return
    for line in reversed(lines):
        fields = line.split(" ")
        kind, _, options = fields[fields.index("-") + 1 :][:3]
        if kind == ("cgroup", "cgroup2")[version - 1] and (version == 2 or "memory" in options.split(",")):
            yield _plain(fields[3]), _plain(fields[4])


def _base_v2(home: str) -> str:
    """The folder below which the memory controller works for groups of ours; made so if need be."""
    base = os.path.dirname(home) if os.path.basename(home) == LEAF else home  # noqa: PTH119, PTH120
    controllers = read(f"{base}/cgroup.controllers").split()
    if "memory" not in controllers:
        raise Impossible("the memory controller is not delegated to the group of this process", base)
    if "memory" in read(f"{base}/cgroup.subtree_control").split():
        return base
    for name in ("", "cgroup.procs", "cgroup.subtree_control"):
        if not os.access(os.path.join(base, name), os.W_OK):  # noqa: PTH118
            raise Impossible(f"the group of this process may not be divided; {_remedy()}", base)
    # No group but the root may hold processes and distribute memory among groups below it at once.
    root = not os.path.exists(f"{base}/cgroup.type")  # noqa: PTH110
    if not root:
        _make_room(base)
    try:
        write(f"{base}/cgroup.subtree_control", "+memory")
    except OSError as error:
        if not root:
            _give_back(base)
        reason = f"the memory controller could not be enabled: {error.strerror}"
        raise Impossible(reason, base) from None
    return base


def _remedy() -> str:
    """How to get a group of one's own from systemd."""
    return f"start with systemd-run {'' if os.geteuid() == 0 else '--user '}--scope -p Delegate=yes"


def _make_room(base: str) -> None:
    """Move this process, and what it has started, to a group below `base`; nobody else's process is touched."""
    for _ in range(_ROUNDS):
        pids = set(members(base))
        if not pids:
            return
        if pids - _family():
            raise Impossible(f"the group of this process holds others' processes too; {_remedy()}", base)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(f"{base}/{LEAF}")  # noqa: PTH102
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    write(f"{base}/{LEAF}/cgroup.procs", pid)
        except OSError as error:
            _give_back(base)
            raise Impossible(
                f"the group of this process may not be divided: {error.strerror}", base
            ) from None
    raise Impossible("the group of this process does not come to rest", base)


def _give_back(base: str) -> None:
    """Undo `_make_room`, as far as it goes."""
    with contextlib.suppress(OSError):
        for pid in _family().intersection(members(f"{base}/{LEAF}")):
            with contextlib.suppress(ProcessLookupError):
                write(f"{base}/cgroup.procs", pid)
        os.rmdir(f"{base}/{LEAF}")  # noqa: PTH106


def _family() -> set[int]:
    """The processes that may be moved: this one and all that it has started."""
    own = os.getpid()
    return {own, *descendants(own)}


def write(path: str, value: int | str) -> None:
    """Write to a file that is there, in one piece, as the kernel wants it."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def read(path: str) -> str:
    """The content of a file; nothing if there is none that can be read."""
    return read_file(path).decode()


def read_number(path: str) -> int:
    """The number in a file; 0 if there is none."""
    text = read(path).strip()
    return int(text) if text.isdecimal() else 0


def numbers(lines: bytes) -> dict[str, int]:
    """The pairs in lines of a name and a number."""
    pairs = (line.split() for line in lines.decode().splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def members(path: str) -> list[int]:
    """The processes in a group; 0 for each that is in a PID namespace that cannot be seen from here."""
    # Groups of threads list those alone: the numbers of processes are among them.
    return [int(pid) for pid in (read(f"{path}/cgroup.procs") or read(f"{path}/cgroup.threads")).split()]


def _plain(text: str) -> str:
    """A path of mountinfo without its escapes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


# -- groups ----------------------------------------------------------------------------------------------
# The folders of control groups: gives them names, ends what runs in them, and removes them.
#
# A group is a folder below the harness's own group. Its name names its owner, so that the next harness finds
# and ends what a killed harness left.


_REMOVE_S: Final = 1.0
"""How long the kernel may take to let go of a group whose processes were killed, in seconds."""

_NAME: Final = re.compile(r"warpleague-(\d+)-(\d+)-(\d+)-\d+")
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
        write(f"{path}/cgroup.kill", 1)  # version 2, Linux 5.14
        return
    seen: set[int] = set()
    for _ in range(_ROUNDS):
        # One in a PID namespace that is not to be seen from here has the number 0.
        new = [pid for pid in members(path) if pid not in seen and pid > 0]
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
        remaining = set(members(path)) - {os.getpid()}
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


# -- cgroup ----------------------------------------------------------------------------------------------
# Caps the memory of a bot and all its processes with a control group, where the kernel grants one.
#
# `hierarchy` finds where groups can be made (cgroups(7); the kernel's cgroup-v1/memory and cgroup-v2), and
# `launch` decides how high the cap is. A group is made for one bot before the bot runs, and removed when the
# last of its processes has ended.


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
        self.path = fresh_path(support.base)
        self._events = -1
        os.mkdir(self.path)  # noqa: PTH102
        try:
            if support.version == 1:
                # In `tasks`, unlike in `cgroup.procs`, the kernel need not wait for all processors to take note.
                self.entry = f"{self.path}/tasks"
                write(f"{self.path}/memory.limit_in_bytes", cap_bytes)
                with contextlib.suppress(FileNotFoundError, PermissionError):  # there without swap accounting
                    write(f"{self.path}/memory.memsw.limit_in_bytes", cap_bytes)
                events = "memory.oom_control"
            else:
                self.entry = f"{self.path}/cgroup.procs"
                write(f"{self.path}/memory.max", cap_bytes)
                for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
                    with contextlib.suppress(FileNotFoundError):
                        write(f"{self.path}/{name}", value)
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
            events = numbers(os.pread(self._events, 4096, 0))
        except OSError:
            return None
        processes = events.get("oom_kill", 0)
        if not processes:
            return None
        if self.version == 2:
            peak = read_number(f"{self.path}/memory.peak") or self.cap_bytes  # Linux 5.19 has it
            return Kill(processes, events.get("oom", 0) > 0, peak >> 20)
        peak = read_number(f"{self.path}/memory.max_usage_in_bytes")
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
        taken = read_number(f"{self.path}/{names[0]}")
        if 0 < taken <= enough:
            return taken
        counters = numbers(read(f"{self.path}/memory.stat").encode())
        return sum(counters.get(name, 0) for name in names[1:]) if names[1] in counters else None

    def at_cap(self) -> bool:
        """Whether they have taken as much as they may, files that the kernel caches for them included."""
        name = "memory.usage_in_bytes" if self.version == 1 else "memory.current"
        return read_number(f"{self.path}/{name}") >= self.cap_bytes - _SLACK

    def members(self) -> list[int]:
        """The processes in the group, in no particular order."""
        return members(self.path)

    def entered(self) -> bool:
        """Whether any process has ever run here."""
        if self.version == 2:
            try:
                with open(f"{self.path}/cpu.stat", "rb") as file:  # noqa: PTH123
                    return numbers(file.read()).get("usage_usec", 1) > 0
            except OSError:
                return True
        return read(f"{self.path}/memory.max_usage_in_bytes").strip() != "0"

    def kill(self) -> None:
        """Kill all that is in the group."""
        kill_all(self.path)

    def remove(self) -> None:
        """Kill the processes left in the group and remove it; if the kernel is not ready, `groups.sweep` does."""
        if self._events >= 0:
            os.close(self._events)
            self._events = -1
        remove(self.path)


def open_group(cap_bytes: int) -> Group | None:
    """A new group for one bot, with a cap in bytes; None where there are none (`support` says why).

    Raises `HarnessFault` if a group cannot be made although it could before, because the record of this match would be
    wrong. From then on this process works without groups, and says so.
    """
    supported = memory_support()
    if not supported.version:
        return None
    try:
        return Group(supported, cap_bytes)
    except OSError as error:
        reason = f"one could not be made any more: {error.strerror}"
        memory_lost.append(CgroupSupport(base=supported.base, reason=reason))
        raise unmade(supported.base, error) from error


def memory_support() -> CgroupSupport:
    """The means of this machine, detected at the first call in a process.

    Where version 2 asks for it, this process moves itself into a group of its own below the one it is in.
    Groups of dead harnesses are removed, and so are this process's own at its end.
    """
    return memory_lost[-1] if memory_lost else _memory_support()


memory_lost: list[CgroupSupport] = []
"""The state of control groups since their detection; the last entry counts."""


@cache
def _memory_support() -> CgroupSupport:
    try:
        detected = detect_memory()
    except Impossible as error:
        return CgroupSupport(base=error.base, reason=str(error))
    keep_clean(detected.base)
    return detected


def detect_memory(proc: str = "/proc") -> CgroupSupport:
    """Find the folder to make groups in, and make one to see that it works; `Impossible` says why there is none."""
    version, base = find(proc)
    detected = CgroupSupport(version, base)
    try:
        Group(detected, 64 << 20).remove()
    except OSError as error:
        raise Impossible(f"none can be made (cgroup v{version}): {error.strerror}", base) from None
    return detected


# -- freezer ---------------------------------------------------------------------------------------------
# Freezes a bot by its control group, which also counts what all of its processes compute, dead ones included.
#
# `playing` and `halt` decide when. It is a control group of version 2 (cgroups(7); the kernel's cgroup-v2),
# which needs no controller for this: a folder below the group that this process is in. Where memory is capped
# by version 2, it is the same folder.
#
# Nothing that a bot can do undoes freezing. A stop by SIGSTOP can be undone by any SIGCONT: from a child, a
# timer, or a terminal.


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
        self.path = fresh_path(base) if shared is None else shared
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
                write(f"{self.path}/cgroup.type", "threaded")
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
        return members(self.path)

    def kill(self) -> None:
        """Kill all that is in the group."""
        kill_all(self.path)

    def remove(self) -> None:
        """Kill the processes left in the group and remove it."""
        for fd in (self._state, self._clock):
            if fd >= 0:
                os.close(fd)
        self._state = self._clock = -1
        for pressure in self.pressure.values():
            pressure.close()
        if self._own:
            remove(self.path)


def open_freezer(capped: Group | None) -> Freezer | None:
    """A new group for one bot, the one that caps its memory if that can freeze; None where there are none.

    `support` says why. Raises `HarnessFault` if one cannot be made where it could before.
    """
    supported = freezer_support()
    if not supported.base:
        return None
    try:
        if capped is not None and capped.version == 2:
            return Freezer(supported.base, capped.path)
        return Freezer(supported.base)
    except OSError as error:
        freezer_lost.append(FreezerSupport(reason=f"one could not be made any more: {error.strerror}"))
        raise unmade(supported.base, error) from error


def freezer_support() -> FreezerSupport:
    """The means of this machine, detected at the first call in a process."""
    return freezer_lost[-1] if freezer_lost else _freezer_support()


freezer_lost: list[FreezerSupport] = []
"""The state of freezers since their detection; the last entry counts."""


@cache
def _freezer_support() -> FreezerSupport:
    try:
        detected = detect_freezer()
    except Impossible as error:
        return FreezerSupport(reason=str(error))
    if detected.base != memory_support().base:
        keep_clean(detected.base)
    return detected


def detect_freezer() -> FreezerSupport:
    """Find the folder to make groups in, and make one to see that it works; `Impossible` says why there is none."""
    capped = memory_support()
    base = capped.base if capped.version == 2 else find_unified()
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
        raise Impossible(f"none can be made: {reason}", base) from None
    return FreezerSupport(base)


# -- memory ----------------------------------------------------------------------------------------------
# How much of the machine's memory is free, or of what the control group of this process may take.


def free_share() -> float:
    """The share that is free, from 0 to 1; 1 where the system does not say."""
    share = 1.0
    with contextlib.suppress(OSError, ValueError, IndexError, KeyError, ZeroDivisionError):
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123 - looked at all the time
            meminfo = dict(line.split(b":") for line in file.read().splitlines())
        share = int(meminfo[b"MemAvailable"].split()[0]) / int(meminfo[b"MemTotal"].split()[0])
    group = memory_support()
    limit_name, used_name = (
        ("memory.limit_in_bytes", "total_rss") if group.version == 1 else ("memory.max", "anon")
    )
    most = read_number(f"{group.base}/{limit_name}") if group.version else 0
    if most:
        used = numbers(read(f"{group.base}/memory.stat").encode()).get(used_name, 0)
        share = min(share, 1 - used / most)
    return share
