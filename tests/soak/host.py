"""What the host tells of processes: who descends from whom, what they hold, how much memory they take.

Leaves what to make of it to the commands beside it. Linux only: all of it comes from /proc.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def children(pid: int) -> set[int]:
    """The direct children of `pid`; empty once it has gone."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found.update(map(int, (task / "children").read_text().split()))
    return found


def descendants(pid: int) -> set[int]:
    """All processes below `pid`."""
    found = children(pid)
    return found.union(*map(descendants, found)) if found else found


def command(pid: int) -> str:
    """The command line of `pid`; empty once it has gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def program(pid: int) -> str:
    """The path of the file that `pid` executes; empty once it has gone."""
    with contextlib.suppress(OSError):
        return str(Path(f"/proc/{pid}/exe").readlink())
    return ""


def began(pid: int) -> int | None:
    """When `pid` was started, in clock ticks since boot; None once it has gone or is a zombie.

    Together with the number it identifies a process: numbers are used again.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def referees(scheduler: int) -> list[int]:
    """The referee processes of a `league run`."""
    servers = [pid for pid in children(scheduler) if "warpleague.league.referees.process" in command(pid)]
    return sorted(pid for server in servers for pid in children(server))


def resident_kib(pid: int) -> int:
    """The resident set of `pid` in KiB; 0 once it has gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    return 0


def descriptors(pid: int) -> int:
    """How many files `pid` has open; 0 once it has gone."""
    with contextlib.suppress(OSError):
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return 0
