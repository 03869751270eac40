"""Decides which files of the machine a bot in the sandbox sees, all read-only: the system, its runtime, its folder.

Nothing else exists for the bot.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput
from warpleague.runner.confine.visible_paths import SYSTEM, USR_MERGED, etc, too_wide, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpleague.match.spec import SeatSpec

FILES: Final = ".files"
"""The suffix of the folder beside a bundle that has the links to its large files."""

HOME: Final = "/bot"
"""Where a bot finds its own folder."""

SOURCE: Final = "/source"
"""Where a build finds what it is to build."""

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

    With `build_mb` its folder is at `SOURCE`, and `HOME` is an empty folder of `build_mb` MiB in memory, for the
    build.
    """
    own: tuple[str, ...] = ("--ro-bind", seat.cwd, HOME)
    if build_mb:
        own = ("--ro-bind", seat.cwd, SOURCE, *_memory(build_mb), HOME)
    return [
        *_system(),
        *("--proc", "/proc", *_HIDDEN_INIT, *_DEVICES, "--dir", "/tmp"),
        *_scratch(seat.tmp_mb),
        *runtime_mounts(seat.run[0], seat.cwd),
        *_more(seat.paths),
        *own,
        *_linked(seat.cwd),
        # Last: every other mount makes its mount point here. Until then these are RAM disks without a limit. In
        # /proc a bot could give way to all others on its core (`autogroup`).
        *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
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
    for place in SYSTEM:
        if os.path.isdir(place):  # noqa: PTH112
            args += [*_parents(place), "--ro-bind", place, place]
    for path in map(Path, USR_MERGED):
        if path.is_symlink():
            args += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            args += ["--ro-bind", str(path), str(path)]
    args += ["--dir", "/etc"]
    for place in etc():
        if os.path.exists(place):  # noqa: PTH110
            args += [*_parents(place), "--ro-bind", place, place]
    return tuple(args)


@cache
def runtime_mounts(program: str, cwd: str) -> tuple[str, ...]:
    """The paths that a bot's program needs beyond the system and the bot's folder."""
    if within(program, [cwd]):
        return ()
    roots = list(SYSTEM) + [place for place in USR_MERGED if os.path.isdir(place)]  # noqa: PTH112
    roots += etc()  # where Debian's alternatives lead through
    real = os.path.realpath(program)
    name = os.path.basename(real)  # noqa: PTH119
    if name.startswith(("python", "pypy")):
        wanted = python_places(program)
    elif os.path.basename(os.path.dirname(real)) == "bin":  # noqa: PTH119, PTH120
        wanted = [os.path.dirname(os.path.dirname(real))]  # noqa: PTH120
        if too_wide(wanted[0]):
            wanted = [real]
    else:
        wanted = [real]
    args: list[str] = []
    for place in sorted(
        {os.path.normpath(place) for place in wanted}, key=lambda path: (path.count("/"), path)
    ):
        if within(place, roots) or not os.path.exists(place):  # noqa: PTH110
            continue
        if too_wide(place):
            raise BadInput(
                f"level sandbox: {program} needs {place}, which holds more than a bot may see; "
                "use an interpreter installed in a folder of its own"
            )
        roots.append(place)
        args += [*_parents(place), "--ro-bind", place, place]
    *hops, last = _links(program)
    for hop in hops:
        if not within(hop, roots):
            roots.append(hop)
            args += [*_parents(hop), "--symlink", str(Path(hop).readlink()), hop]
    if not within(last, roots):  # reached through a folder that is a link
        args += [*_parents(last), "--ro-bind", last, last]
    return tuple(args)


def _more(paths: Sequence[str]) -> list[str]:
    """The paths that this bot sees beside those that all see: each path where it is named, and where it really is."""
    args: list[str] = []
    roots = [*SYSTEM, *(etc() if paths else ())]
    for path in paths:
        for place in sorted({os.path.realpath(path), path}, key=lambda place: place.count("/")):
            if not within(place, roots):
                roots.append(place)
                args += [*_parents(place), "--ro-bind", os.path.realpath(path), place]
    return args


def _linked(cwd: str) -> list[str]:
    """The large files of a bot, where the links in its folder lead."""
    args: list[str] = []
    for name, real in linked_files(cwd):
        args += [*_parents(f"/{name}"), "--ro-bind", real, f"/{name}"]
    return args


def _parents(path: str) -> list[str]:
    """Make the folders that hold `path`: left to bubblewrap, they would be closed to all but its own user."""
    return [part for parent in reversed(Path(path).parents[:-1]) for part in ("--dir", str(parent))]


@cache  # so that a bot whose Python another one has is not asked again
def python_places(program: str) -> list[str]:
    """The folders and files that the Python `program` runs from and imports from; `BadInput` if it does not tell."""
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


def linked_files(cwd: str) -> Iterator[tuple[str, str]]:
    """The large files of the bundle at `cwd`: each by its path below the folder of all bundles, and its real one."""
    folder = Path(cwd + FILES)
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place, name)
            if path.is_symlink() and not name.endswith(".draft"):
                real = os.path.realpath(path)
                yield str(path.relative_to(folder.parent)), real
