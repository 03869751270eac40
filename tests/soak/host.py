"""What the scripts beside it ask of processes, besides what the harness asks itself, from /proc."""

import contextlib
import os
from pathlib import Path

from warpleague.runner.host import children_of, state


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
    """When `pid` was started, which tells it from a later process of this number; None once it has gone."""
    found = state(pid)
    return found and found[1]


def referees(scheduler: int) -> list[int]:
    """The referee processes of a `league run`."""
    servers = [pid for pid in children_of(scheduler) if "warpleague.league.referees.process" in command(pid)]
    return sorted(pid for server in servers for pid in children_of(server))


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
