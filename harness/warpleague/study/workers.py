"""Spreads tasks over processes, each on a core of its own with the bots it starts, and hands back what they find."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

from warpleague.errors import HarnessFault
from warpleague.sim import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.queues import Queue

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 4  # tasks for each process that are read before their turn


def spread(call: Callable[[T], R], tasks: Iterable[T], jobs: int | None = None) -> Iterator[R]:
    """The results of `call` for each of `tasks`, in their order, computed by `jobs` processes (default: one a core).

    `call` is a function of a module. What it raises is raised here. `HarnessFault` if a process dies.
    """
    jobs = jobs or cores()
    forking = multiprocessing.get_context("fork" if hasattr(os, "fork") else None)
    places: Queue[int] = forking.Queue()
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [-1]
    for number in range(jobs):
        places.put(allowed[number % len(allowed)])
    waiting: deque[Future[R]] = deque()
    with ProcessPoolExecutor(jobs, forking, _settle, (places,)) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(call, task))
                if len(waiting) >= _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenExecutor:
            raise HarnessFault("a process that computed a part of the work was killed") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _settle(places: Queue[int]) -> None:
    """Stay on one core, which the bots of this process share; whoever is at the terminal stops its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    core = places.get()
    if core >= 0:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})
