"""What a level puts between a bot and the machine: its command line, its environment, its memory watch.

Leaves the pipes and the clock to `warpleague.runner.process`. Level `none` changes nothing; `limits` sets resource
limits, a clean environment and death with the harness; it keeps accidents in, not attackers.
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput, BotError

if TYPE_CHECKING:
    from warpleague.match.spec import Level, SeatSpec

OPEN_FILES: Final = 256
FILE_MB: Final = 64
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

# `ulimit -f` counts 512-byte blocks in POSIX shells, `-d` kilobytes. A limit the host forbids to set is already
# lower, so a failure is no reason to stop.
_LIMITS: Final = (
    'ulimit -c 0; ulimit -n {files}; ulimit -f {blocks}; ulimit -d {data_kb}; exec 2>&3 3>&-; exec "$@"'
)
_SCRIPT: Final = "exec 3>&2 2>/dev/null; " + _LIMITS


@cache
def _setpriv() -> tuple[str, ...]:
    """The prefix that lets a bot die with its referee, where the system has one (Linux, util-linux)."""
    found = shutil.which("setpriv") if sys.platform == "linux" else None
    return () if found is None else (found, "--pdeathsig", "KILL", "--")


def dies_with_harness(level: Level) -> bool:
    """Whether the system kills a bot of `level` when the process that started it dies."""
    return level != "none" and bool(_setpriv())


def check_level(level: Level) -> None:
    """Raise `BadInput` when this machine or version cannot give `level`: never silently less."""
    if level == "sandbox":
        raise BadInput("level sandbox is not available in this version: use limits or none")


def command(seat: SeatSpec, level: Level) -> list[str]:
    """The argv that starts the bot of `seat` under `level`; `BotError` if its program is not there."""
    program = seat.run[0] if seat.run else ""
    # Checked here, since behind a shell a missing program would look like a bot that exits with 127.
    if not os.access(program, os.X_OK):
        raise BotError(
            f"{seat.bot}: cannot start {program!r}: there is no such program, or it may not be run"
        )
    if level == "none":
        return list(seat.run)
    # Writable private memory is capped well above the watched resident set: java and node map more than they
    # use; the watch catches what is really taken.
    data_kb = 2 * seat.memory_mb * 1024
    script = _SCRIPT.format(files=OPEN_FILES, blocks=FILE_MB * 2048, data_kb=data_kb)
    return [*_setpriv(), "/bin/sh", "-c", script, "bot", *seat.run]


def environment(seat: SeatSpec, level: Level) -> dict[str, str]:
    """The environment of the bot: at `limits` nothing of the harness's own, so nothing to snoop for."""
    # A fixed hash seed, so that a Python bot that iterates a set plays the same match again.
    python = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    if level == "none":
        return {**os.environ, **python}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": seat.cwd,
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        **python,
    }


class MemoryWatch:
    """Whether a process has taken more memory than its limit, in MiB of resident set, shared memory included."""

    __slots__ = ("_limit_pages", "exceeded_mb", "limit_mb")

    def __init__(self, limit_mb: int) -> None:
        self.limit_mb = limit_mb
        self._limit_pages = limit_mb * 1024 * 1024 // _PAGE
        self.exceeded_mb = 0
        """What was found, in MiB, once the limit was passed; else 0."""

    def check(self, pid: int) -> bool:
        """Look at `pid` (4 microseconds on Linux); true if it is over its limit."""
        try:
            with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:  # noqa: PTH123 - hot, and no Path needed
                pages = int(file.read().split()[1])
        except (OSError, IndexError, ValueError):
            return False
        if pages <= self._limit_pages:
            return False
        self.exceeded_mb = pages * _PAGE // (1024 * 1024)
        return True
