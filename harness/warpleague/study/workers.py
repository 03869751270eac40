"""Spreads tasks over processes, each on a core of its own with the bots it starts, and returns their results."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, Final, TypeVar

from warpleague.errors import HarnessFault, interrupt_behind
from warpleague.runner.host.reaper import become_subreaper, children, sweep
from warpleague.sim import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from multiprocessing.queues import Queue, SimpleQueue

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 4  # tasks for each process that are read before their turn


class TimeIsUp(Exception):
    """The time for the tasks is over."""


def spread(
    call: Callable[[T], R],
    tasks: Iterable[T],
    jobs: int | None = None,
    end_s: float | None = None,
    least: int = 1,
) -> Generator[R, None, None]:
    """The results of `call` for each of `tasks`, in their order, computed by `jobs` processes (default: one a core).

    `call` is a function of a module. Its exceptions are raised here. Raises `TimeIsUp` once `time.monotonic()` is
    `end_s`, but not before there are `least` results. Closing the iterator, or leaving its loop, cancels the running
    tasks. Raises `HarnessFault` if a process dies.
    """
    jobs = jobs or cores()
    forking = multiprocessing.get_context("fork" if hasattr(os, "fork") else None)
    places: Queue[int] = forking.Queue()
    pids: SimpleQueue[int] = forking.SimpleQueue()
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [-1]
    for number in range(jobs):
        places.put(allowed[number % len(allowed)])
    waiting: deque[Future[R]] = deque()
    done = False
    become_subreaper()
    before = children()
    try:
        with ProcessPoolExecutor(jobs, forking, _settle, (places, pids)) as pool:
            try:
                for task in tasks:
                    waiting.append(pool.submit(call, task))
                    if len(waiting) >= _AHEAD * jobs:
                        yield _next(waiting, end_s if least <= 0 else None)
                        least -= 1
                while waiting:
                    yield _next(waiting, end_s if least <= 0 else None)
                    least -= 1
                done = True
            except BrokenExecutor:
                raise HarnessFault("a process that computed a part of the work was killed") from None
            except RuntimeError as error:
                if (interrupt := interrupt_behind(error)) is not None:
                    raise interrupt from None
                raise
            finally:
                while not done and not pids.empty():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pids.get(), signal.SIGKILL)
                # The pool itself must wait for its processes: it would never end if the sweep did that.
                pool.shutdown(cancel_futures=True)
    finally:
        if not done:
            sweep(before)  # the bots of the processes that were killed


def _next(waiting: deque[Future[R]], end_s: float | None) -> R:
    """The next result. Raises `TimeIsUp` if it is not there at `end_s`."""
    if end_s is not None and not wait([waiting[0]], max(end_s - time.monotonic(), 0)).done:
        raise TimeIsUp
    return waiting.popleft().result()


def _settle(places: Queue[int], pids: SimpleQueue[int]) -> None:
    """Stay on one core, which the bots of this process share; a person at the terminal stops its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pids.put(os.getpid())
    core = places.get()
    if core >= 0:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})
