"""What of the machine's files a bot in the sandbox sees, all of it read-only: the system, its runtime, its folder.

Leaves everything else about the sandbox to `sandbox`. What is not named here is not there.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.match.spec import SeatSpec

HOME: Final = "/bot"
"""Where a bot finds its own folder."""

SOURCE: Final = "/source"
"""Where a build finds what it is to build."""

_SYSTEM: Final = ("/usr", "/nix/store", "/gnu/store")
_USR_MERGED: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC: Final = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "perl",
    "ssl/openssl.cnf",
)
_ETC_PATTERNS: Final = ("java*", "jvm*")  # configuration that Debian's Java has there

# Process 1 ends the sandbox when the harness is killed. Started by an ordinary user, it has the bot's user id, and
# who can open its memory can make it do anything.
_HIDDEN_INIT: Final = ("--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1")

# What `--dev` would make, without terminals: neither ptmx, of which a bot could take all that the host has, nor tty.
_DEVICES: Final = (
    *("--perms", "0755", "--tmpfs", "/dev"),
    *(
        word
        for name in ("null", "zero", "full", "random", "urandom")
        for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    ),
    *("--symlink", "/proc/self/fd", "/dev/fd"),
    *(
        word
        for number, name in enumerate(("stdin", "stdout", "stderr"))
        for word in ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")
    ),
    *("--dir", "/dev/shm"),
)

# What a Python needs beside its program; `-I` leaves out what a bot's clean environment leaves out too.
_ASK_PYTHON: Final = (
    "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]))"
)


def mounts(seat: SeatSpec, build_mb: int = 0) -> list[str]:
    """The arguments to bubblewrap for all that the bot of `seat` sees.

    With `build_mb` its folder is at `SOURCE`, and `HOME` is so many MiB of empty folder in memory, to be built in.
    """
    own: tuple[str, ...] = ("--ro-bind", seat.cwd, HOME)
    if build_mb:
        own = ("--ro-bind", seat.cwd, SOURCE, *_memory(build_mb), HOME)
    return [
        *_system(),
        *("--proc", "/proc", *_HIDDEN_INIT, *_DEVICES, "--dir", "/tmp"),
        *_scratch(seat.tmp_mb),
        *_runtime(seat.run[0], seat.cwd),
        *own,
        # Last: every other mount makes its mount point here. Until then these are RAM disks without a limit.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def inside(argument: str, cwd: str) -> str:
    """An argument of the bot's command with its own folder called as it is in the sandbox."""
    return HOME + argument[len(cwd) :] if argument == cwd or argument.startswith(cwd + "/") else argument


def unreadable(folder: str) -> str | None:
    """The first path in `folder` (itself included) that other users cannot read; None if they can read all."""
    for place, _, files in os.walk(folder):
        if os.stat(place).st_mode & 0o005 != 0o005:  # noqa: PTH116
            return place
        for name in files:
            path = os.path.join(place, name)  # noqa: PTH118
            if not os.path.islink(path) and not os.stat(path).st_mode & 0o004:  # noqa: PTH114, PTH116
                return path
    return None


def _scratch(tmp_mb: int) -> list[str]:
    if not tmp_mb:
        return []
    return [*_memory(tmp_mb), "/tmp", *_memory(tmp_mb), "/dev/shm"]


def _memory(size_mb: int) -> tuple[str, ...]:
    return ("--perms", "1777", "--size", str(size_mb << 20), "--tmpfs")


@cache
def _system() -> tuple[str, ...]:
    args: list[str] = []
    for place in _SYSTEM:
        if os.path.isdir(place):  # noqa: PTH112
            args += [*_parents(place), "--ro-bind", place, place]
    for path in map(Path, _USR_MERGED):
        if path.is_symlink():
            args += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            args += ["--ro-bind", str(path), str(path)]
    etc = Path("/etc")
    args += ["--dir", "/etc"]
    for path in [
        *(etc / name for name in _ETC),
        *(p for name in _ETC_PATTERNS for p in sorted(etc.glob(name))),
    ]:
        if path.exists():
            args += [*_parents(str(path)), "--ro-bind", str(path), str(path)]
    return tuple(args)


@cache
def _runtime(program: str, cwd: str) -> tuple[str, ...]:
    """What the program of a bot needs beyond the system and the bot's folder."""
    if _within(program, [cwd]):
        return ()
    roots = list(_SYSTEM) + [place for place in _USR_MERGED if os.path.isdir(place)]  # noqa: PTH112
    roots += [f"/etc/{name}" for name in _ETC]  # where Debian's alternatives lead through
    real = os.path.realpath(program)
    name = os.path.basename(real)  # noqa: PTH119
    if name.startswith(("python", "pypy")):
        wanted = _python_places(program)
    elif os.path.basename(os.path.dirname(real)) == "bin":  # noqa: PTH119, PTH120
        wanted = [os.path.dirname(os.path.dirname(real))]  # noqa: PTH120
        if _too_wide(wanted[0]):
            wanted = [real]
    else:
        wanted = [real]
    args: list[str] = []
    for place in sorted(
        {os.path.normpath(place) for place in wanted}, key=lambda path: (path.count("/"), path)
    ):
        if _within(place, roots) or not os.path.exists(place):  # noqa: PTH110
            continue
        if _too_wide(place):
            raise BadInput(
                f"level sandbox: {program} needs {place}, which holds more than a bot may see; "
                "use an interpreter installed in a folder of its own"
            )
        roots.append(place)
        args += [*_parents(place), "--ro-bind", place, place]
    *hops, last = _links(program)
    for hop in hops:
        if not _within(hop, roots):
            roots.append(hop)
            args += [*_parents(hop), "--symlink", str(Path(hop).readlink()), hop]
    if not _within(last, roots):  # reached through a folder that is a link
        args += [*_parents(last), "--ro-bind", last, last]
    return tuple(args)


def _parents(path: str) -> list[str]:
    """Make the folders that hold `path`: left to bubblewrap, they would be closed to all but its own user."""
    return [part for parent in reversed(Path(path).parents[:-1]) for part in ("--dir", str(parent))]


def _python_places(program: str) -> list[str]:
    """The folders that the Python `program` runs from and imports from."""
    try:
        done = subprocess.run(
            [program, "-I", "-c", _ASK_PYTHON], capture_output=True, text=True, timeout=30, check=True, env={}
        )
        places: list[str] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise BadInput(f"level sandbox: {program} does not tell where it is installed: {error}") from None
    return [place for place in places if place]


def _links(program: str) -> list[str]:
    """`program`, and where it leads as long as that is a link itself (its folder may be one, too)."""
    hops = [program]
    while os.path.islink(program) and len(hops) < 40:  # noqa: PTH114
        target = os.path.join(os.path.dirname(program), os.readlink(program))  # noqa: PTH115, PTH118, PTH120
        program = os.path.normpath(target)
        hops.append(program)
    return hops


def _within(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)


def _too_wide(place: str) -> bool:
    """Whether `place` may hold somebody's files beside a runtime: a home, what holds one, or a top folder."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    private = (home, os.path.join(home, ".local"))  # noqa: PTH118
    return place.count("/") < 2 or place in private or _within(home, [place])
