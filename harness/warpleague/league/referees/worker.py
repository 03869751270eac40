"""A referee process: takes calls from its pipe, and sends back what they return.

`pool` hands out the calls, and `forkserver` starts the process. A plain function is called while nothing else runs. An
async function is a task: `tasks` runs several of them side by side. A frame is a length (8 bytes, big-endian) and a
pickle.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Final

from warpleague.league.referees.frames import called, next_call, send

_PR_SET_PDEATHSIG: Final = 1


def serve(calls: int, answers: int, core: int) -> None:
    """Serve the calls that come from one pipe end until it ends, and answer to the other; stay on `core` (-1: any)."""
    if core >= 0 and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(PermissionError):  # in a sandbox it may be forbidden
            os.sched_setaffinity(0, {core})
    call = next_call(calls)
    while call is not None:
        number, is_task, packed = call
        if is_task:
            from warpleague.league.referees.tasks import run_tasks

            call = run_tasks(calls, answers, call)
        else:
            send(answers, number, *called(packed))
            call = next_call(calls)


def die_with(parent: int) -> None:
    """Have the kernel kill us when the thread that started us ends (Linux); elsewhere the pipe's end must do."""
    if sys.platform != "linux":
        return
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(_PR_SET_PDEATHSIG)")
    # It may have died before we asked.
    if os.getppid() != parent:
        sys.exit(1)
