"""How to start a bot at its level: its command line, its environment, its limits; and the watch over its memory.

Level `none` changes nothing. `limits` sets resource limits, a clean environment and death with the harness: it
stops accidents, not attackers. `sandbox` stops both; it is made in `sandbox`. `doctor` tests what a level promises.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sys
import time
from functools import cache
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BotError
from warpleague.runner.confine.cgroups import Freezer, Group, Kill, open_freezer, open_group
from warpleague.runner.confine.mounts import HOME, SYSTEM, within
from warpleague.runner.confine.sandbox import KEY, Sandbox
from warpleague.runner.host import read_file, spawn

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence

    from warpleague.match.spec import Level, SeatSpec

OPEN_FILES: Final = 256
FILE_MB: Final = 64
MARGIN_MB: Final = 64
# Further limits of the sandbox: queued signals and timers, message queues, and priorities above the usual one.
MORE_LIMITS: Final = {"RLIMIT_SIGPENDING": 256, "RLIMIT_MSGQUEUE": 0, "RLIMIT_NICE": 0, "RLIMIT_RTPRIO": 0}

# The variable that tells a bot which file has its key; only bots with one have it.
KEY_FILE: Final = "WARPLEAGUE_KEY_FILE"

# `ulimit -f` counts 512-byte blocks in POSIX shells, `-d` kilobytes. A limit the host forbids to set is already
# lower, so a failure does not stop the launch.
_LIMITS: Final = "ulimit -c 0; ulimit -n {files}; ulimit -f {blocks}; ulimit -d {data_kb}"
_SCRIPT: Final = f'exec 3>&2 2>/dev/null; {_LIMITS}; exec 2>&3 3>&-; exec "$@"'

# The shell enters the bot's control groups by itself: here it stands for the bot, whatever that becomes. So nothing of
# the bot ever runs outside of them.
_ENTER: Final = 'echo 0 >"$1" || exit 125; shift; '


@cache
def _setpriv() -> tuple[str, ...]:
    """The prefix that lets a bot die with its referee, where the system has one (Linux, util-linux)."""
    program = shutil.which("setpriv") if sys.platform == "linux" else None
    return () if program is None else (program, "--pdeathsig", "KILL", "--")


@cache
def compiled_starter() -> str | None:
    """The program of enter.c, where it was compiled: it takes a third of the time of setpriv and a shell."""
    program = os.path.join(os.path.dirname(__file__), "enter.bin")
    return program if sys.platform == "linux" and os.access(program, os.X_OK) else None


def dies_with_harness(level: Level) -> bool:
    """Whether the system kills a bot of `level` when the process that started it dies."""
    return level == "sandbox" or (level == "limits" and bool(compiled_starter() or _setpriv()))


@attrs.frozen
class Launched:
    """A bot that was started: its process, and the sandbox and the control groups that it is in, if there are any.

    The caller must enter the sandbox, and close all three in the end.
    """

    process: subprocess.Popen[bytes]
    sandbox: Sandbox | None = None
    group: Group | None = None
    freezer: Freezer | None = None


def launch(seat: SeatSpec, level: Level) -> Launched:
    """Start the bot of `seat` under `level`; leaves nothing behind if that cannot be.

    Raises `BotError` if its program is not there, `OSError` if it cannot be started, `BadInput` or `HarnessFault` if
    the level cannot be given.
    """
    program = seat.run[0] if seat.run else ""
    # Checked here, since behind a shell a missing program would look like a bot that exits with 127.
    if not os.access(program, os.X_OK):
        text = f"cannot start {program!r}: there is no such program, or it may not be run"
        raise BotError(f"{seat.bot}: {text}")
    env = environment(seat, level)
    if level == "none":
        return Launched(spawn(seat.run, seat.cwd, env))
    # No level needs control groups: without them the watch over memory and RLIMIT_DATA remain.
    group = open_group(cap_bytes(seat))
    freezer = None
    try:
        freezer = open_freezer(group)
        entries = sorted({each.entry for each in (group, freezer) if each is not None})
        data = data_bytes(seat.memory_mb)
        if level == "sandbox":
            sandbox = Sandbox(seat, rlimits(OPEN_FILES, FILE_MB, data))
            return Launched(sandbox.start(env, _entering(entries)), sandbox, group, freezer)
        argv = limited(seat.run, OPEN_FILES, FILE_MB, data, entries)
        return Launched(spawn(argv, seat.cwd, env), None, group, freezer)
    except BaseException:
        remove_groups(group, freezer)
        raise


def remove_groups(group: Group | None, freezer: Freezer | None) -> None:
    """Remove the control groups of a bot."""
    # The freezer may be in the other's folder, and has it open.
    for each in (freezer, group):
        if each is not None:
            each.remove()


def limited(
    argv: Sequence[str], files: int, file_mb: int, data: int, entries: Sequence[str] = ()
) -> list[str]:
    """The command `argv` with resource limits, and dying with its parent where the system has the means.

    So many open files, MiB of a file that it writes, and bytes of private memory; in the control groups that it
    enters through `entries`.
    """
    if (starter := compiled_starter()) is not None:
        limits = (files, file_mb << 20, data, len(entries))
        return [starter, "1", *map(str, limits), *entries, *argv]
    script = _SCRIPT.format(files=files, blocks=file_mb * 2048, data_kb=data // 1024)
    return [*_setpriv(), "/bin/sh", "-c", _ENTER * len(entries) + script, "bot", *entries, *argv]


def _entering(entries: Sequence[str]) -> list[str]:
    """The beginning of a command that is run in the control groups that it enters through `entries`."""
    if not entries:
        return []
    if (starter := compiled_starter()) is not None:
        return [starter, "0", "-1", "-1", "-1", str(len(entries)), *entries]
    return ["/bin/sh", "-c", _ENTER * len(entries) + 'exec "$@"', "bot", *entries]


def rlimits(files: int, file_mb: int, data: int) -> dict[int, int]:
    """The same limits for setrlimit(2), by resource, and more; none above our own, which could not be set."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: files,
        resource.RLIMIT_FSIZE: file_mb << 20,
        resource.RLIMIT_DATA: data,
        **{getattr(resource, name): value for name, value in MORE_LIMITS.items()},
    }
    most = {kind: resource.getrlimit(kind)[1] for kind in wanted}
    return {
        kind: value if most[kind] == resource.RLIM_INFINITY else min(value, most[kind])
        for kind, value in wanted.items()
    }


def data_bytes(memory_mb: int) -> int:
    """The most private writable memory of one process, in bytes, where all together may take so many MiB."""
    # Well above the resident set that is watched: java and node map more than they use. The watch catches what is
    # really taken; without a group, a process may take all of this before it looks.
    return 2 * memory_mb << 20


def cap_bytes(seat: SeatSpec) -> int:
    """The kernel's limit for a bot with all that it started, in bytes, where it can cap that."""
    # Above the limit that is watched, by what the watch does not count: kernel memory (page tables, stacks, pipes,
    # sockets), what is in /tmp and /dev/shm without being mapped, and files that are cached for the bot, though these
    # give way first.
    return (seat.memory_mb + seat.memory_mb // 8 + MARGIN_MB + 2 * seat.tmp_mb) << 20


def environment(seat: SeatSpec, level: Level) -> dict[str, str]:
    """The environment of the bot: at `limits` nothing of the harness's own, so nothing to snoop for."""
    # A fixed hash seed, so that a Python bot that iterates a set plays the same match again.
    python = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    if seat.key_file is not None:
        python[KEY_FILE] = KEY if level == "sandbox" else seat.key_file
    if level == "none":
        return {**os.environ, **python}
    return {
        "PATH": _search_path(SYSTEM + seat.paths if level == "sandbox" else None),
        "HOME": HOME if level == "sandbox" else seat.cwd,
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        **python,
    }


def _search_path(shown: Sequence[str] | None) -> str:
    """The `PATH` of a bot: the user's folders, as far as the sandbox shows them, then the usual ones."""
    # So a word finds the same program in a script as in `build` or `run` of the manifest.
    places = [place for place in os.environ.get("PATH", "").split(os.pathsep) if place.startswith("/")]
    if shown is not None:
        roots = [os.path.realpath(root) for root in shown]
        places = [real for place in places if within(real := os.path.realpath(place), roots)]
    return os.pathsep.join(dict.fromkeys([*places, "/usr/local/bin", "/usr/bin", "/bin"]))


WATCH_S: Final = 0.05  # how often the memory of a bot is measured, in seconds
# How many processes have their share of memory read at a time: that may take a millisecond each.
_CLOSELY: Final = 32

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class MemoryWatch:
    """Whether a bot has taken more memory than its limit, in MiB."""

    # It counts the resident set, with shared memory, and the page tables: a bot took more than twice its limit in
    # tables of 4 KiB each, and next to no memory besides.

    def __init__(self, limit_mb: int, group: Group | None = None) -> None:
        self.limit_mb = limit_mb
        self._limit_pages = limit_mb * 1024 * 1024 // _PAGE
        self._group = group
        self._checked = time.perf_counter()
        self._left: list[int] = []  # processes whose share is not read yet
        self._pages = 0  # pages of the processes counted before
        self.exceeded_mb = 0  # the measured memory, in MiB, once the limit was passed; else 0
        self.kill: Kill | None = None  # the processes that the kernel killed for want of memory, once it has

    @property
    def capped(self) -> bool:
        """Whether the kernel caps the memory."""
        return self._group is not None

    def due(self) -> bool:
        """Whether the last `check` was longer ago than `WATCH_S`."""
        return time.perf_counter() - self._checked > WATCH_S

    def check(self, processes: Callable[[], Sequence[int]]) -> bool:
        """Whether the bot is or was over the limit, by its control group, or else by all of its `processes`."""
        # These take 10 microseconds each on Linux. Of processes that share memory the exact share is read, `_CLOSELY`
        # of them at a time.
        self._checked = time.perf_counter()
        return self.exceeded_mb > 0 or self._capped() or self._over(processes)

    def killed(self) -> bool:
        """Whether memory ended the bot: stopped here, or by the kernel since. Call it after the bot's end."""
        return self.exceeded_mb > 0 or self._capped()

    def _capped(self) -> bool:
        """Whether the kernel had to kill at the bot's cap."""
        if self._group is not None and self.kill is None:
            self.kill = self._group.kills()
            if self.kill is not None and self.kill.at_cap:
                self.exceeded_mb = self.kill.peak_mb
        return self.exceeded_mb > 0

    def _over(self, processes: Callable[[], Sequence[int]]) -> bool:
        mapped = None if self._group is None else self._group.mapped_bytes(self._limit_pages * _PAGE)
        pages = self._pages_of(processes()) if mapped is None else mapped // _PAGE
        if pages > self._limit_pages:
            self.exceeded_mb = pages * _PAGE // (1024 * 1024)
        return self.exceeded_mb > 0

    def _pages_of(self, pids: Sequence[int]) -> int:
        """How many pages the processes use; too few until the share of each has been read."""
        pages = sum(map(_resident_pages, pids))
        if pages <= self._limit_pages or len(pids) <= 1:
            self._left = []
            return pages
        # Forked processes share pages, and the resident set of each counts them all.
        if not self._left:
            self._left, self._pages = list(pids), 0
        now, self._left = self._left[:_CLOSELY], self._left[_CLOSELY:]
        self._pages += sum(map(_proportional_pages, now))
        return self._pages


def _resident_pages(pid: int) -> int:
    """The pages of a process: its resident set, and the page tables, which are its doing and cost as much."""
    status = read_file(f"/proc/{pid}/status")
    with contextlib.suppress(ValueError):
        return (_status_kb(status, b"VmRSS:") + _status_kb(status, b"VmPTE:")) * 1024 // _PAGE
    return 0


def _status_kb(status: bytes, name: bytes) -> int:
    start = status.index(name) + len(name)
    return int(status[start : status.index(b"kB", start)])


def _proportional_pages(pid: int) -> int:
    """The same with each shared page divided among those that share it; the whole if the system does not say."""
    with contextlib.suppress(ValueError):
        shared_kb = _status_kb(read_file(f"/proc/{pid}/smaps_rollup"), b"\nPss:")
        return (shared_kb + _status_kb(read_file(f"/proc/{pid}/status"), b"VmPTE:")) * 1024 // _PAGE
    return _resident_pages(pid)
