"""Says what the system gives this process too little of, and what allows more."""

from __future__ import annotations

import errno
import sys
import threading
from typing import Final

from warpleague.errors import BadInput

_LEAST_FILES: Final = 64
_LEAST_PROCESSES: Final = {"limits": 8, "sandbox": 32}
_MORE_PROCESSES: Final = (
    "`ulimit -u` in the shell that starts it, or pids.max of its control group, allows more"
)


def check_own_limits(level: str) -> None:
    """Raise `BadInput` if this process may open too few files, or start too few processes, to try a level."""
    files = _limit("RLIMIT_NOFILE")
    if files is not None and files < _LEAST_FILES:
        raise BadInput(
            f"this process may open {files} files; Warp League needs {_LEAST_FILES}: `ulimit -n {_LEAST_FILES}` "
            "in the shell that starts it allows more"
        )
    needed = _LEAST_PROCESSES.get(level, 0)
    processes = _startable(needed)
    if processes < needed:
        raise BadInput(
            f"this process may start {processes} processes; Warp League needs {needed} at level {level}: "
            f"{_MORE_PROCESSES}"
        )


def shortage(error: OSError | MemoryError) -> str:
    """The resource that was short, from the error that it caused, and the setting that allows more."""
    match error:
        case OSError(errno=errno.EMFILE) if (files := _limit("RLIMIT_NOFILE")) is not None:
            return f"it may open {files} files: `ulimit -n` in the shell that starts it allows more"
        case OSError(errno=errno.EAGAIN):
            return f"it may start no more processes: {_MORE_PROCESSES}"
        case MemoryError() | OSError(errno=errno.ENOMEM):
            memory = _limit("RLIMIT_AS")
            if memory is None:
                return "out of memory"
            return f"it may use {memory >> 20} MiB of memory: `ulimit -v` in the shell that starts it allows more"
    return str(error)


def _limit(name: str) -> int | None:
    """A resource limit of this process; None where there is none."""
    if sys.platform == "win32":
        return None
    import resource

    most: int = resource.getrlimit(getattr(resource, name))[0]
    return None if most == resource.RLIM_INFINITY else most


def _startable(most: int) -> int:
    """How many processes could be started at once, up to `most`.

    It starts threads, which count, too, and take less time. Where memory is limited, none is tried: the stacks of
    threads might be too much of it.
    """
    if _limit("RLIMIT_AS") is not None:
        return most
    enough = threading.Event()
    threads: list[threading.Thread] = []
    try:
        for _ in range(most):
            thread = threading.Thread(target=enough.wait)
            thread.start()
            threads.append(thread)
    except RuntimeError:
        pass  # there is no room for one more
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    return len(threads)
