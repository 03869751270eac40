"""Spreads work over the cores of the machine with nothing but `fork`, so that it also works in a sandbox."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_cores(call: Callable[[T], R], items: Sequence[T], jobs: int | None = None) -> list[R]:
    """`call` of each item, in order, computed by `jobs` processes (default: one for each core), this one included.

    The others are forked from this process, which must have no other threads, and know all that it knows. What
    `call` returns must be fit for `pickle`. If it raises an exception, so does this function.
    """
    jobs = min(cores() if jobs is None else jobs, len(items))
    if jobs <= 1:
        return [call(item) for item in items]
    children = [_fork(call, items[first::jobs]) for first in range(1, jobs)]
    shares: list[list[R]] = []
    parts: list[list[R] | None] = []
    try:
        shares.append([call(item) for item in items[::jobs]])
    finally:
        parts += [_collect(pid, source) for pid, source in children]
    for part in parts:
        if part is None:
            raise RuntimeError("a process that computed a part of the work has failed: see standard error")
        shares.append(part)
    return [shares[number % jobs][number // jobs] for number in range(len(items))]


def _fork(call: Callable[[T], R], items: Sequence[T]) -> tuple[int, int]:
    """A child that computes `items`: its process id, and the pipe that its results come from."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sink)
        return pid, source
    status = 1
    try:
        os.close(source)
        with open(sink, "wb") as pipe:  # noqa: PTH123 - a descriptor
            pipe.write(pickle.dumps([call(item) for item in items]))
        status = 0
    except BaseException:  # noqa: BLE001 - a child must not continue its parent's work
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(status)


def _collect(pid: int, source: int) -> list[R] | None:
    """The result of a child, or None if it failed."""
    with open(source, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status:
        return None
    results: list[R] = pickle.loads(data)
    return results
