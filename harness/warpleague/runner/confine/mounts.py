"""Decides which files of the machine a bot in the sandbox sees, all read-only: the system, its runtime, its folder.

Nothing else exists for the bot, unless its manifest asks for it or an organiser grants it.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput, BotError, MissingToolchain
from warpleague.languages import LANGUAGES
from warpleague.runner.tree import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.match.spec import SeatSpec

FILES: Final = ".files"  # the suffix of the folder beside a bundle that has the links to its large files
HOME: Final = "/bot"  # where a bot finds its own folder
SOURCE: Final = "/source"  # where a build finds what it is to build

# Process 1 ends the sandbox when the harness is killed. Started by an ordinary user, it has the bot's user id, and
# who can open its memory can make it do anything.
_HIDDEN_INIT: Final = ("--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1")

# What `--dev` would make, without terminals: neither ptmx, of which a bot could take all that the host has, nor tty.
_DEVICE_NAMES: Final = ("null", "zero", "full", "random", "urandom")
# fmt: off
_DEVICES: Final = (
    "--perms", "0755", "--tmpfs", "/dev",
    *[word for name in _DEVICE_NAMES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")],
    "--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin",
    "--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr",
    "--dir", "/dev/shm",
)
# fmt: on

# What a Python needs beside its program; `-I` leaves out what a bot's clean environment leaves out too.
_PLACES: Final = "[sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]"
_ASK_PYTHON: Final = f"import json, sys; print(json.dumps({_PLACES}))"

SYSTEM: Final = ("/usr", "/nix/store", "/gnu/store")  # where the system's programs are
# Links into /usr today, folders of their own on older systems.
USR_MERGED: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

# fmt: off
# The files of /etc that every bot sees; `*` stands for anything. None of it tells who uses the machine.
ETC: Final = (
    # The loader, the links by which Debian chooses among programs, the time zone.
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl/openssl.cnf",
    # What runtimes and compilers read there, by the names that Debian and Fedora give it: of languages with a starter,
    # and of others.
    *(path for language in LANGUAGES for path in language.etc),
    "erlang", "fpc*.cfg", "ghc", "guile", "julia", "octave*", "R", "racket", "sbclrc", "swi-prolog",
)
# fmt: on

# Below these a manifest may ask for paths: where programs are installed for all users of a machine.
ASKABLE: Final = ("/opt", *SYSTEM)

_PRIVATE: Final = ("/boot", "/dev", "/home", "/proc", "/root", "/run", "/sys", "/tmp", "/var/run", "/var/tmp")
_TAKEN: Final = ("/bot", "/source")  # by what the sandbox itself puts there


def mounts(seat: SeatSpec, build_mb: int = 0) -> list[str]:
    """The arguments to bubblewrap for all that the bot of `seat` sees.

    With `build_mb` its folder is at `SOURCE`, and `HOME` is an empty folder of `build_mb` MiB in memory, for the
    build.
    """
    # What must stay secret must not be in any of it, and the bot can read in /proc/self/mountinfo where it is on this
    # machine.
    own: tuple[str, ...] = ("--ro-bind", seat.cwd, HOME)
    if build_mb:
        own = ("--ro-bind", seat.cwd, SOURCE, *_memory(build_mb), HOME)
    scratch = _memory(seat.tmp_mb)
    args = [*_system(), "--proc", "/proc", *_HIDDEN_INIT, *_DEVICES, "--dir", "/tmp"]
    args += [*scratch, "/tmp", *scratch, "/dev/shm"] if seat.tmp_mb else []
    args += [*runtime_mounts(seat.run[0], seat.cwd), *_more(seat.paths), *own, *_linked(seat.cwd)]
    # Last: every other mount makes its mount point here. Until then these are RAM disks without a limit. In /proc a
    # bot could give way to all others on its core (`autogroup`).
    return [*args, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]


def inside(argument: str, cwd: str) -> str:
    """An argument of the bot's command with its own folder called as it is in the sandbox."""
    return HOME + argument[len(cwd) :] if argument == cwd or argument.startswith(cwd + "/") else argument


def unreadable(folder: str) -> str | None:
    """The first path in `folder` (itself included) that other users cannot read; None if they can read all."""
    if os.stat(folder).st_mode & 0o005 != 0o005:
        return folder
    for entry in walk(folder):
        needed = 0o005 if entry.is_folder else 0o004
        if not entry.is_link and entry.status.st_mode & needed != needed:
            return os.path.join(folder, entry.name)
    return None


def _memory(size_mb: int) -> tuple[str, ...]:
    return ("--perms", "1777", "--size", str(size_mb << 20), "--tmpfs")


@cache
def _system() -> tuple[str, ...]:
    args: list[str] = []
    for place in SYSTEM:
        if os.path.isdir(place):
            args += _bound(place, place)
    for path in map(Path, USR_MERGED):
        if path.is_symlink():
            args += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            args += ["--ro-bind", str(path), str(path)]
    args += ["--dir", "/etc"]
    for place in etc():
        if os.path.exists(place):
            args += _bound(place, place)
    return tuple(args)


@cache
def runtime_mounts(program: str, cwd: str) -> tuple[str, ...]:
    """The paths that a bot's program needs beyond the system and the bot's folder."""
    # An interpreter outside /usr (a virtual environment, pyenv, nvm) needs the folder that it is installed in. If that
    # would be somebody's home, the bot sees the program alone, and a Python, which imports from there, is refused.
    if within(program, [cwd]):
        return ()
    roots = list(SYSTEM) + [place for place in USR_MERGED if os.path.isdir(place)]
    roots += etc()  # where Debian's alternatives lead through
    real = os.path.realpath(program)
    name = os.path.basename(real)
    if name.startswith(("python", "pypy")):
        wanted = python_places(program)
    elif os.path.basename(os.path.dirname(real)) == "bin":
        wanted = [os.path.dirname(os.path.dirname(real))]
        if too_wide(wanted[0]):
            wanted = [real]
    else:
        wanted = [real]
    args: list[str] = []
    places = {os.path.normpath(place) for place in wanted}
    for place in sorted(places, key=lambda path: (path.count("/"), path)):
        if within(place, roots) or not os.path.exists(place):
            continue
        if too_wide(place):
            raise BadInput(
                f"level sandbox: {program} needs {place}, which holds more than a bot may see; "
                "use an interpreter installed in a folder of its own"
            )
        roots.append(place)
        args += _bound(place, place)
    *hops, last = _links(program)
    for hop in hops:
        if not within(hop, roots):
            roots.append(hop)
            args += [*_parents(hop), "--symlink", str(Path(hop).readlink()), hop]
    if not within(last, roots):  # reached through a folder that is a link
        args += _bound(last, last)
    return tuple(args)


def _more(paths: Sequence[str]) -> list[str]:
    """The paths that this bot sees beside those that all see: each path where it is named, and where it really is."""
    args: list[str] = []
    roots = [*SYSTEM, *(etc() if paths else ())]
    for path in paths:
        for place in sorted({os.path.realpath(path), path}, key=lambda place: place.count("/")):
            if not within(place, roots):
                roots.append(place)
                args += _bound(os.path.realpath(path), place)
    return args


def _linked(cwd: str) -> list[str]:
    """The large files of a bot, where the links in its folder lead."""
    args: list[str] = []
    folder = cwd + FILES
    for entry in walk(folder) if os.path.isdir(folder) else ():
        if entry.is_link and not entry.base.endswith(".draft"):
            real = os.path.realpath(f"{folder}/{entry.name}")
            args += _bound(real, f"/{os.path.basename(folder)}/{entry.name}")
    return args


def _bound(real: str, place: str) -> list[str]:
    return [*_parents(place), "--ro-bind", real, place]


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
    while os.path.islink(program) and len(hops) < 40:
        target = os.path.join(os.path.dirname(program), os.readlink(program))
        program = os.path.normpath(target)
        hops.append(program)
    return hops


@cache
def etc() -> tuple[str, ...]:
    """The files of `ETC` on this machine, as this process first read them: reading takes long."""
    return tuple(str(path) for name in ETC for path in sorted(Path("/etc").glob(name)))


def within(path: str, roots: Iterable[str]) -> bool:
    """Whether `path` is one of `roots` or below it."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def too_wide(place: str) -> bool:
    """Whether `place` may hold somebody's files beside a runtime: a home, what holds one, or a top folder."""
    home = os.path.realpath(os.path.expanduser("~"))
    private = (home, os.path.join(home, ".local"))
    return place.count("/") < 2 or place in private or within(home, [place])


# -- more paths, that a manifest asks for or an organiser grants -----------------------------------------


def misfit(path: str) -> str:
    """The error in the form of an additional path; empty if nothing is."""
    if not path.startswith("/") or path != os.path.normpath(path) or "\0" in path:
        return f"{path!r} must be an absolute path, without . and .. in it"
    return ""


def misfit_asked(path: str, askable: Sequence[str] = ASKABLE) -> str:
    """The error in a path that a manifest asks for; empty if nothing is."""
    if text := misfit(path):
        return text
    if path in askable or not within(path, askable):
        return f"{path!r} is not below {' or '.join(askable)}; other paths an organiser can show, in the league file"
    return ""


def check_asked(
    paths: Sequence[str], bot: str, hidden: Sequence[Path] = (), askable: Sequence[str] = ASKABLE
) -> None:
    """Raise an error for a path that the manifest of `bot` asks for and that is not there, or not everybody's.

    Only paths below `askable` can be asked for. `hidden` are as in `check_granted`.
    """
    # A stranger wrote the manifest. So a path must lead, links followed, to where programs are installed. It and all
    # folders above it must be root's and readable by everyone.
    for path in paths:
        real = os.path.realpath(path)
        if not os.path.exists(real):
            raise MissingToolchain(f"{bot}: needs {path!r}, which is not there on this machine")
        if text := misfit_asked(real, askable):
            raise BotError(f"{bot}: asks to see {path}, but {text}")
        if too_wide(real) or _overlaps(real, hidden):
            raise BotError(f"{bot}: asks to see {path}, which holds files of the harness, or is among them")
        for place in (Path(real), *Path(real).parents):
            status = place.stat()
            readable = 0o005 if place.is_dir() else 0o004
            if status.st_uid or status.st_mode & readable != readable:
                raise BotError(
                    f"{bot}: asks to see {path}, but {place} does not belong to root, or not everyone may read it"
                )


def _overlaps(path: str, hidden: Sequence[Path]) -> bool:
    """Whether a path is in one of the folders, or holds one."""
    own = [os.path.realpath(place) for place in hidden]
    return within(path, own) or any(within(place, [path]) for place in own)


def check_granted(paths: Sequence[str], where: str, hidden: Sequence[Path] = ()) -> None:
    """Raise `BadInput` for a path of an organiser's that is not there, or that no bot may see.

    `where` names the file or the option that grants it. `hidden` are folders of the harness; no path may be in one of
    them or hold one.
    """
    for path in paths:
        text = misfit(path)
        real = os.path.realpath(path)
        if not text and not os.path.exists(real):
            text = f"{path} is not there"
        for place in (path, real):
            if not text and (within(place, (*_PRIVATE, *_TAKEN)) or too_wide(place)):
                text = f"{path} may hold what no bot may see; put what bots need into a folder below /opt or /srv"
            if not text and _overlaps(place, hidden):
                text = f"{path} holds files of the harness, or is among them"
        if text:
            raise BadInput(f"{where}: {text}")
