"""Finds where in the tree of control groups this process may make groups, and reads and writes their files.

The place is the group that this process is in. In version 2 a group may not hold processes and distribute memory at
the same time, so this process first moves itself into another group.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, Final

from warpleague.runner.host.processes import read_file
from warpleague.runner.host.reaper import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator

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
