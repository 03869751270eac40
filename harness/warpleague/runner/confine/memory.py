"""How much of the machine's memory is free, or of what the control group of this process may take."""

from __future__ import annotations

import contextlib

from warpleague.runner.confine import cgroup, hierarchy


def free_share() -> float:
    """The share that is free, from 0 to 1; 1 where the system does not say."""
    share = 1.0
    with contextlib.suppress(OSError, ValueError, IndexError, KeyError, ZeroDivisionError):
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123 - looked at all the time
            meminfo = dict(line.split(b":") for line in file.read().splitlines())
        share = int(meminfo[b"MemAvailable"].split()[0]) / int(meminfo[b"MemTotal"].split()[0])
    group = cgroup.support()
    limit_name, used_name = (
        ("memory.limit_in_bytes", "total_rss") if group.version == 1 else ("memory.max", "anon")
    )
    most = hierarchy.read_number(f"{group.base}/{limit_name}") if group.version else 0
    if most:
        used = hierarchy.numbers(hierarchy.read(f"{group.base}/memory.stat").encode()).get(used_name, 0)
        share = min(share, 1 - used / most)
    return share
