"""Control groups of bots: one that caps the memory of a bot with all it started, and one that freezes it.

A group is made for one bot before the bot runs, and removed when the last of its processes has ended. It is a folder
below the group that this process is in, wherever the kernel grants one (cgroups(7); the kernel's cgroup-v1/memory and
cgroup-v2). `launch` decides how high the cap is, `halt` when to freeze.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import signal
import time
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import HarnessFault
from warpleague.runner.host import GONE, CounterFile, descendants, read_file, state
from warpleague.runner.tree import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

# The group that harness processes move into, where version 2 wants the group above it empty.
HARNESS_GROUP: Final = "warpleague-harness"

_SLACK: Final = 4 << 20  # the kernel charges in batches, so the peak may stay somewhat below the limit
_USAGE: Final = len(b"usage_usec ")
_REMOVE_S: Final = 1.0  # how long the kernel may take to let go of a group whose processes were killed
_ROUNDS: Final = 50
_NAME: Final = re.compile(r"warpleague-(\d+)-(\d+)-(\d+)-\d+")
_serial = 0


class Impossible(Exception):
    """Why groups are not available, and the folder that was tried, if any."""

    def __init__(self, reason: str, base: str = "") -> None:
        super().__init__(reason)
        self.base = base


# -- a cap on memory -------------------------------------------------------------------------------------


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
    """The kernel killed in a group: how many processes, whether at the group's own cap, its peak memory in MiB.

    If it was not at the cap: whether the bot held most of what was short (`held_most`).
    """

    processes: int
    at_cap: bool
    peak_mb: int
    held_most: bool = False


class ControlGroup:
    """The control group of one bot, in the folder `path`. A process that writes 0 to the file `entry` is in it."""

    def __init__(self, path: str, entry: str) -> None:
        self.path = path
        self.entry = f"{path}/{entry}"

    def members(self) -> list[int]:
        """The processes in the group, in no particular order."""
        return members_of(self.path)

    def kill(self) -> None:
        """Kill all that is in the group."""
        kill_group(self.path)


class Group(ControlGroup):
    """A control group that caps the memory of one bot. Raises `OSError` if it cannot be made."""

    # The watch over memory (`launch`) looks every 50 ms, and sees only mapped memory. A group counts all memory that
    # a bot and its processes have taken, files in RAM disks included, and the kernel stops them at once. The watch
    # goes on beside it: it finds bots above the limit and below the cap.

    def __init__(self, support: CgroupSupport, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self.version = support.version
        # To enter `tasks`, unlike `cgroup.procs`, the kernel need not wait for all processors to take note.
        super().__init__(_fresh_path(support.base), "tasks" if self.version == 1 else "cgroup.procs")
        self._events = -1
        os.mkdir(self.path)
        try:
            if self.version == 1:
                self._set("memory.limit_in_bytes", cap_bytes)
                # Or its memory would go to swap. Without swap accounting the file is missing, or closed.
                with contextlib.suppress(FileNotFoundError, PermissionError):
                    self._set("memory.memsw.limit_in_bytes", cap_bytes)
            else:
                self._set("memory.max", cap_bytes)
                for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
                    with contextlib.suppress(FileNotFoundError):
                        self._set(name, value)
            events = "memory.oom_control" if self.version == 1 else "memory.events"
            self._events = os.open(f"{self.path}/{events}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            with contextlib.suppress(OSError):
                os.rmdir(self.path)
            raise

    def _set(self, name: str, value: int) -> None:
        write_control(f"{self.path}/{name}", value)

    def kills(self) -> Kill | None:
        """The processes that the kernel killed here for want of memory; None if nothing (2 microseconds)."""
        if self._events < 0:
            return None
        try:
            events = _counters(os.pread(self._events, 4096, 0))
        except OSError:
            return None
        processes = events.get("oom_kill", 0)
        if not processes:
            return None
        peak = _peak_of(self.path)
        if self.version == 2:
            peak = peak or self.cap_bytes
            at_cap = events.get("oom", 0) > 0
        else:
            # Not by memory.failcnt: newer kernels do not count there any more.
            at_cap = peak >= self.cap_bytes - _SLACK
        return Kill(processes, at_cap, peak >> 20, not at_cap and self._held_most(peak))

    def _held_most(self, peak: int) -> bool:
        """Whether the machine, or a group above, was short by this bot's doing, with at most `peak` bytes taken."""
        # A bot that lets the kernel kill it below its cap must not get a void match by that. So it is to blame if no
        # other bot took more, and all bots together took most of what there is; else others on this machine did.
        base = os.path.dirname(self.path)
        peaks = [_peak_of(os.path.join(base, name)) for name in os.listdir(base) if _NAME.fullmatch(name)]
        return peak >= max(peaks, default=0) and 2 * sum(peaks) >= most_memory(base)

    def mapped_bytes(self, enough: int) -> int | None:
        """Their mapped memory, shared memory once; in version 2 page tables, too; None if unknown.

        Where everything they have taken is not above `enough`, that is answered.
        """
        # That costs less: 2 microseconds instead of 15, both however many processes there are.
        taken = self._taken_bytes()
        if 0 < taken <= enough:
            return taken
        v1, v2 = ["total_rss", "total_mapped_file"], ["anon", "file_mapped", "pagetables"]
        names = v1 if self.version == 1 else v2
        counters = _counters(read_file(f"{self.path}/memory.stat"))
        return sum(counters.get(name, 0) for name in names) if names[0] in counters else None

    def at_cap(self) -> bool:
        """Whether they have taken as much as they may, files that the kernel caches for them included."""
        return self._taken_bytes() >= self.cap_bytes - _SLACK

    def _taken_bytes(self) -> int:
        return self._number("memory.usage_in_bytes" if self.version == 1 else "memory.current")

    def _number(self, name: str) -> int:
        return _number_in(f"{self.path}/{name}")

    def entered(self) -> bool:
        """Whether any process has ever run here."""
        if self.version == 1:
            return read_file(f"{self.path}/memory.max_usage_in_bytes").strip() != b"0"
        return _counters(read_file(f"{self.path}/cpu.stat")).get("usage_usec", 1) > 0

    def remove(self) -> None:
        """Kill the processes left in the group and remove it; if the kernel is not ready, `sweep_groups` does."""
        if self._events >= 0:
            os.close(self._events)
            self._events = -1
        remove_group(self.path)


def open_group(cap_bytes: int) -> Group | None:
    """A new group for one bot, with a cap in bytes; None where there are none (`memory_support` says why).

    Raises `HarnessFault` if a group cannot be made although it could before.
    """
    # Then the record of this match would be wrong. From then on this process works without groups, and says so.
    support = memory_support()
    if not support.version:
        return None
    try:
        return Group(support, cap_bytes)
    except OSError as error:
        reason = f"one could not be made any more: {error.strerror}"
        memory_states.append(CgroupSupport(base=support.base, reason=reason))
        raise _unmade(support.base, error) from error


# The means of this machine, as they were found, and after a loss; the last entry counts.
memory_states: list[CgroupSupport] = []


def memory_support() -> CgroupSupport:
    """The means of this machine, detected at the first call in a process.

    Where version 2 asks for it, this process moves itself into a group of its own below the one it is in.
    Groups of dead harnesses are removed, and so are this process's own at its end.
    """
    if not memory_states:
        try:
            memory_states.append(detect_memory())
            _keep_clean(memory_states[-1].base)
        except Impossible as error:
            memory_states.append(CgroupSupport(base=error.base, reason=str(error)))
    return memory_states[-1]


def detect_memory(proc: str = "/proc") -> CgroupSupport:
    """Find the folder to make groups in, and make one to see that it works; `Impossible` says why there is none."""
    paths = _own_groups(proc)
    if not paths:
        raise Impossible("the kernel has none for memory")
    version = min(paths)  # a controller of version 1 is not to be had in version 2
    base = _own_folder(proc, version, paths[version])
    if version == 2:
        base = _divided(base)
    support = CgroupSupport(version, base)
    try:
        Group(support, 64 << 20).remove()
    except OSError as error:
        raise Impossible(f"none can be made (cgroup v{version}): {error.strerror}", base) from None
    return support


def most_memory(base: str | None = None) -> int:
    """The memory of the machine in bytes, or less if the group `base` (that of this process) may not take all."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    if base is None:
        base = memory_support().base
        with contextlib.suppress(Impossible):  # also where no groups can be made, as in many containers
            paths = _own_groups("/proc")
            base = base or _own_folder("/proc", min(paths), paths[min(paths)]) if paths else base
    while base and base != "/":
        stat = _counters(read_file(f"{base}/memory.stat"))
        limits.append(stat.get("hierarchical_memory_limit", 0) or _number_in(f"{base}/memory.max"))
        base = os.path.dirname(base)
    return min(filter(None, limits))


def free_share() -> float:
    """The share of memory that is free, of the machine or of this process's group, from 0 to 1; 1 where unknown."""
    share = 1.0
    with contextlib.suppress(ValueError, IndexError, KeyError, ZeroDivisionError):
        meminfo = dict(line.split(b":") for line in read_file("/proc/meminfo").splitlines())
        share = int(meminfo[b"MemAvailable"].split()[0]) / int(meminfo[b"MemTotal"].split()[0])
    group = memory_support()
    names = ("memory.limit_in_bytes", "total_rss") if group.version == 1 else ("memory.max", "anon")
    most = _number_in(f"{group.base}/{names[0]}") if group.version else 0
    if most:
        used = _counters(read_file(f"{group.base}/memory.stat")).get(names[1], 0)
        share = min(share, 1 - used / most)
    return share


# -- the freezer -----------------------------------------------------------------------------------------


@attrs.frozen
class FreezerSupport:
    """The folder `base` to make groups in; where it is empty, `reason` says why, without names of this machine."""

    base: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return "frozen by cgroup v2" if self.base else f"stopped by signals, no freezer: {self.reason}"


class Pressure(CounterFile):
    """The kernel's account of how long a whole group waited: line "full" of accounting/psi."""

    # It is opened at the first reading: many a bot never keeps anyone waiting.
    _is_silent = False  # the kernel was made or started without it

    def waited_ns(self) -> int | None:
        """How long the group waited so far, in nanoseconds; None if the kernel does not say."""
        if self._is_silent:
            return None
        data = self.read()
        with contextlib.suppress(ValueError):
            if b"full" in data:  # not before Linux 5.13
                return int(data[data.rindex(b"=") + 1 :]) * 1000
        self._is_silent = True
        self.close()
        return None


class Freezer(ControlGroup):
    """A control group of version 2 that freezes one bot, and counts what all of its processes compute.

    It is the folder `shared`, if one is given; the maker of that folder removes it. Raises `OSError` if it fails.
    """

    # Freezing needs no controller, so it also works for users whose groups cannot cap memory. Nothing that a bot can
    # do undoes it. A stop by SIGSTOP can be undone by any SIGCONT: from a child, a timer, or a terminal. And the clock
    # of the group counts processes that live for microseconds, which a look at the processes would miss.

    def __init__(self, base: str, shared: str | None = None) -> None:
        super().__init__(_fresh_path(base) if shared is None else shared, "cgroup.procs")
        self._own = shared is None
        self._state = self._clock = -1
        # Each tells how long the group as a whole waited. While one process of the group keeps another waiting, that
        # one runs: it does not count (2 microseconds a read). The kernel takes the mean over the processors that the
        # group used since the last reading. So it reports too little if the bot was moved from one to another, and too
        # much if one of its threads ran while another waited.
        # How long the group as a whole waited for `cpu`, `io` or `memory`.
        self.pressure = {kind: Pressure(f"{self.path}/{kind}.pressure") for kind in ("cpu", "io", "memory")}
        self._cpu_ns = 0
        if self._own:
            os.mkdir(self.path)
            self._make_threaded(base)
        try:
            self._state = os.open(f"{self.path}/cgroup.freeze", os.O_WRONLY | os.O_CLOEXEC)
            self._clock = os.open(f"{self.path}/cpu.stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.remove()
            raise

    def _make_threaded(self, base: str) -> None:
        """Have single threads enter, not processes."""
        # That takes 0.1 ms; for a process, the kernel waits for all processors (10 ms). Only below the root of the
        # hierarchy: elsewhere it would change what the group above may hold.
        if not os.path.exists(f"{base}/cgroup.type"):
            with contextlib.suppress(OSError):
                write_control(f"{self.path}/cgroup.type", "threaded")
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
            with open(f"{self.path}/cgroup.threads", "rb", buffering=0) as file:
                pids = file.read(8 * (most + 1)).split()
        except OSError:
            return []
        return [] if len(pids) > most else [int(number) for number in pids]

    def entered(self) -> bool:
        """Whether any process has ever run here."""
        return self.cpu_ns() > 0

    def remove(self) -> None:
        """Kill the processes left in the group and remove it."""
        for fd in (self._state, self._clock):
            if fd >= 0:
                os.close(fd)
        self._state = self._clock = -1
        for pressure in self.pressure.values():
            pressure.close()
        if self._own:
            remove_group(self.path)


def open_freezer(capped: Group | None) -> Freezer | None:
    """A new group for one bot, the one that caps its memory if that can freeze; None where there are none.

    `freezer_support` says why. Raises `HarnessFault` if one cannot be made where it could before.
    """
    support = freezer_support()
    if not support.base:
        return None
    # Where version 2 caps the memory, one group does both.
    try:
        return Freezer(support.base, capped.path if capped is not None and capped.version == 2 else None)
    except OSError as error:
        freezer_states.append(FreezerSupport(reason=f"one could not be made any more: {error.strerror}"))
        raise _unmade(support.base, error) from error


# The means of this machine, as they were found, and after a loss; the last entry counts.
freezer_states: list[FreezerSupport] = []


def freezer_support() -> FreezerSupport:
    """The means of this machine, detected at the first call in a process."""
    if not freezer_states:
        try:
            freezer_states.append(_detect_freezer())
            if freezer_states[-1].base != memory_support().base:
                _keep_clean(freezer_states[-1].base)
        except Impossible as error:
            freezer_states.append(FreezerSupport(reason=str(error)))
    return freezer_states[-1]


def _detect_freezer() -> FreezerSupport:
    """Find the folder to make groups in, and make one to see that it works; `Impossible` says why there is none."""
    capped = memory_support()
    base = capped.base if capped.version == 2 else _undivided_folder()
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


# -- names, and the end of groups ------------------------------------------------------------------------


def _fresh_path(base: str) -> str:
    """A group in `base` that there has not been yet."""
    global _serial
    _serial += 1
    return os.path.join(base, f"warpleague-{groups_owner()}-{_serial}")


def groups_owner() -> str:
    """A name that no other living process's groups have: its PID namespace, its number there, when it started."""
    # A group is called after it, so that the next harness finds and ends what a killed harness left.
    namespace, pid = 0, os.getpid()
    with contextlib.suppress(OSError):
        namespace = os.stat("/proc/self/ns/pid").st_ino
    return f"{namespace}-{pid}-{started_at(pid)}"


def started_at(pid: int) -> int:
    """When a process started, in clock ticks since boot; -1 if it has ended."""
    process_state = state(pid)
    return -1 if process_state is None else process_state[1]


def _unmade(base: str, error: OSError) -> HarnessFault:
    """A group could not be made in `base`, where that was possible before."""
    return HarnessFault(f"{base}: no control group could be made: {error.strerror}")


def _keep_clean(base: str) -> None:
    """Remove the groups that dead harnesses left in `base`, and at the end of this process its own."""
    sweep_groups(base)
    own = os.getpid()  # not to be done by a fork of ours
    atexit.register(lambda: os.getpid() == own and sweep_groups(base, ours_too=True))


def sweep_groups(base: str, *, ours_too: bool = False) -> int:
    """Kill what is in groups of dead harnesses, and in `ours_too`, and remove them; how many there were."""
    # Of harnesses in other PID namespaces nothing can be known here, so theirs stay.
    namespace, own_pid, own_start = groups_owner().split("-")
    count = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(base):
            match = _NAME.fullmatch(name)
            if match is None or match[1] != namespace:
                continue
            if (match[2], match[3]) == (own_pid, own_start):
                dead = ours_too
            else:
                dead = started_at(int(match[2])) != int(match[3])
            if dead:
                remove_group(os.path.join(base, name))
                count += 1
    return count


def remove_group(path: str) -> None:
    """Kill what is in the group and remove it with all below it."""
    # The kernel lets go of a group only when its last process has ended. If it does not within a second, the next
    # sweep removes the group.
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            os.rmdir(path)
            return
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return
        kill_group(path)
        with contextlib.suppress(OSError):
            for entry in walk(path, after=True):  # root's bots at `limits` may have made some of their own
                if entry.after:
                    os.rmdir(entry.base, dir_fd=entry.folder)
                elif entry.is_folder:
                    kill_group(f"{path}/{entry.name}")
        time.sleep(0.0005)


def kill_group(path: str) -> None:
    """Kill all that is in the group."""
    with contextlib.suppress(OSError):
        write_control(f"{path}/cgroup.kill", 1)  # version 2, Linux 5.14
        return
    seen: set[int] = set()
    # Again until there are no new ones: a process may start others while we kill.
    for _ in range(_ROUNDS):
        # One in a PID namespace that is not to be seen from here has the number 0.
        new = [pid for pid in members_of(path) if pid not in seen and pid > 0]
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
        remaining = set(members_of(path)) - {os.getpid()}
        for pid, handle in handles.items():
            if pid in remaining:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)


# -- where groups can be made ----------------------------------------------------------------------------


def _own_groups(proc: str) -> dict[int, str]:
    """The group that this process is in, by version: of version 1 the one for memory."""
    paths: dict[int, str] = {}
    for line in read_file(f"{proc}/self/cgroup").splitlines():
        number, names, path = line.decode().split(":", 2)
        if "memory" in names.split(","):
            paths[1] = path
        elif number == "0":
            paths[2] = path
    return paths


def _own_folder(proc: str, version: int, path: str) -> str:
    """The folder of the group `path`, which this process is in."""
    for root, point in _mounts(proc, version):
        root = root.rstrip("/")
        if (path + "/").startswith(root + "/") and ".." not in path.split("/"):
            folder = (point + path[len(root) :]).rstrip("/")
            # A container may mount another tree at the same place.
            if os.getpid() not in members_of(folder):
                raise Impossible("the group of this process is not to be seen here", folder)
            return folder
    raise Impossible(f"the hierarchy (cgroup v{version}) is not mounted here")


def _mounts(proc: str, version: int) -> Iterator[tuple[str, str]]:
    """Of each mount of the hierarchy (in version 1: memory) its root and mount point, the latest first."""
    for line in reversed(read_file(f"{proc}/self/mountinfo").decode().splitlines()):  # proc_pid_mountinfo(5)
        fields = line.split(" ")
        kind, _, options = fields[fields.index("-") + 1 :][:3]
        if kind == ("cgroup", "cgroup2")[version - 1] and (version == 2 or "memory" in options.split(",")):
            yield _unescaped(fields[3]), _unescaped(fields[4])


def _unescaped(path: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)


def _undivided_folder(proc: str = "/proc") -> str:
    """The folder to make groups of version 2 in that need no controller; `Impossible` says why there is none."""
    path = _own_groups(proc).get(2)
    if path is None:
        raise Impossible("the kernel has none of version 2")
    folder = _own_folder(proc, 2, path)
    # Whoever moves a process must be allowed to write to the group above both the old and the new one of it.
    if not all(os.access(path, os.W_OK) for path in (folder, f"{folder}/cgroup.procs")):
        raise Impossible(f"the group of this process may not be divided; {_remedy()}", folder)
    return folder


def _divided(own: str) -> str:
    """The folder below which the memory controller of version 2 works for groups of ours; made so if need be."""
    base = os.path.dirname(own) if os.path.basename(own) == HARNESS_GROUP else own
    if b"memory" not in read_file(f"{base}/cgroup.controllers").split():
        raise Impossible("the memory controller is not delegated to the group of this process", base)
    if b"memory" in read_file(f"{base}/cgroup.subtree_control").split():
        return base
    for name in ("", "cgroup.procs", "cgroup.subtree_control"):
        if not os.access(os.path.join(base, name), os.W_OK):
            raise Impossible(f"the group of this process may not be divided; {_remedy()}", base)
    # No group but the root may hold processes and distribute memory among groups below it at once. So this process
    # first moves itself into a group below, and works without groups where others' processes are in the same one.
    root = not os.path.exists(f"{base}/cgroup.type")
    if not root:
        _make_room(base)
    try:
        write_control(f"{base}/cgroup.subtree_control", "+memory")
    except OSError as error:
        if not root:
            _give_back(base)
        raise Impossible(f"the memory controller could not be enabled: {error.strerror}", base) from None
    return base


def _remedy() -> str:
    """How to get a group of one's own from systemd."""
    return f"start with systemd-run {'' if os.geteuid() == 0 else '--user '}--scope -p Delegate=yes"


def _make_room(base: str) -> None:
    """Move this process, and what it has started, to a group below `base`; nobody else's process is touched."""
    for _ in range(_ROUNDS):
        pids = set(members_of(base))
        if not pids:
            return
        if pids - _family():
            raise Impossible(f"the group of this process holds others' processes too; {_remedy()}", base)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(f"{base}/{HARNESS_GROUP}")
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    write_control(f"{base}/{HARNESS_GROUP}/cgroup.procs", pid)
        except OSError as error:
            _give_back(base)
            text = f"the group of this process may not be divided: {error.strerror}"
            raise Impossible(text, base) from None
    raise Impossible("the group of this process does not come to rest", base)


def _give_back(base: str) -> None:
    """Undo `_make_room`, as far as it goes."""
    with contextlib.suppress(OSError):
        for pid in _family().intersection(members_of(f"{base}/{HARNESS_GROUP}")):
            with contextlib.suppress(ProcessLookupError):
                write_control(f"{base}/cgroup.procs", pid)
        os.rmdir(f"{base}/{HARNESS_GROUP}")


def _family() -> set[int]:
    """The processes that may be moved: this one and all that it has started."""
    own = os.getpid()
    return {own, *descendants(own)}


def write_control(path: str, value: int | str) -> None:
    """Write to a file that is there, in one piece, as the kernel wants it."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def members_of(path: str) -> list[int]:
    """The processes in a group; 0 for each that is in a PID namespace that cannot be seen from here."""
    # Groups of threads list those alone: the numbers of processes are among them.
    text = read_file(f"{path}/cgroup.procs") or read_file(f"{path}/cgroup.threads")
    return [int(pid) for pid in text.split()]


def _peak_of(group: str) -> int:
    """The most memory that a group of a bot has taken, in bytes; 0 where the kernel does not say."""
    return _number_in(f"{group}/memory.peak") or _number_in(f"{group}/memory.max_usage_in_bytes")


def _number_in(path: str) -> int:
    """The number in a file; 0 if there is none."""
    text = read_file(path).strip()
    return int(text) if text.isdigit() else 0


def _counters(lines: bytes) -> dict[str, int]:
    """The pairs in lines of a name and a number."""
    pairs = (line.split() for line in lines.decode().splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}
