"""Tries to raise its limits and its priority, and to choose its processors."""

import contextlib
import os
import resource


def misbehave(wire):
    for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count()))
    wire.play_on()
