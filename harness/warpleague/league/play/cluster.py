"""Plays matches on the workers of a Dask cluster: checks each worker, sends it bots, and replaces workers that die.

Only workers that passed the check get matches; a worker that joins later is checked then. Dask's own scheduling is
not used: each match is sent to a worker that is chosen here, so that none reaches a worker that was not checked.
What a worker does is in `cluster_worker`, what becomes of a match in `running`.
"""

from __future__ import annotations

import itertools
import logging
import re
import threading
import time
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import attrs

from warpleague.counts import counted
from warpleague.errors import BadInput, BotError
from warpleague.league.play.cluster_worker import (
    Fitness,
    call_everywhere,
    inspect_worker,
    play_here,
    take_bot,
    this_program,
)
from warpleague.league.referees.executor import MatchExecutor
from warpleague.league.referees.pool import RefereeDied
from warpleague.runner.bundle.transfer import pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpleague.match.spec import Level, SeatSpec

P = ParamSpec("P")
T = TypeVar("T")
_ADDRESS: Final = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+")
_CONNECT_S: Final = 5
_LOOK_S: Final = 1.0
"""How often the scheduler is asked which workers there are, in seconds."""
_LOST_S: Final = 5.0
"""How long the scheduler may be silent before it counts as dead, in seconds."""
_NOBODY_S: Final = 60.0
"""How long a run waits for a worker that can play when there is none, in seconds."""
_TIMEOUTS: Final = {
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.timeouts.tcp": "15s",
    "distributed.comm.retry.count": 0,
}

play_there = play_here
"""The tasks to submit."""


@contextmanager
def cluster(address: str, level: Level, bots: Sequence[SeatSpec]) -> Iterator[ClusterExecutor]:
    """An executor on the Dask cluster whose scheduler is at `address`, for matches of `bots` at `level`.

    Raises `BadInput` if there is no such cluster, or none of its workers can play.
    """
    try:
        # Not by import statements: whether Dask is installed must not matter to those who check types.
        dask: Any = import_module("dask")
        distributed: Any = import_module("distributed")
    except ImportError:
        raise BadInput(
            "--cluster: needs Dask in this environment: pip install 'warpleague[cluster]'"
        ) from None
    if not _ADDRESS.fullmatch(address):
        raise BadInput(f"--cluster: must be HOST:PORT, or tcp://HOST:PORT, not {address!r}")
    # Lost connections get messages of our own, so Dask need not log them.
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] == "distributed":  # Dask gives some of them a level of their own
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set(_TIMEOUTS):
        try:
            client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise BadInput(f"--cluster: no Dask scheduler answers at {address!r}: {error}") from None
        executor = ClusterExecutor(client, address, level, tuple(dict.fromkeys(bot.digest for bot in bots)))
        try:
            executor.begin()
            yield executor
        finally:
            executor.shutdown()
            with suppress(Exception):  # the scheduler may have died
                client.close(timeout=2)


@attrs.define(eq=False)
class _Task:
    future: Future[Any]
    call: tuple[Any, ...]
    there: Any = None  # Dask's future


@attrs.define(eq=False)
class _Worker:
    address: str
    threads: int
    tasks: dict[int, _Task] = attrs.Factory(dict)


def _lost(worker: _Worker, why: str = "") -> RefereeDied:
    return RefereeDied(f"the worker at {worker.address} was lost{why}")


class ClusterExecutor(MatchExecutor):
    """The fit workers of a cluster as an executor.

    Its notes say which workers joined, were left out or were lost. A match whose worker is lost raises `RefereeDied`.
    When the scheduler dies, or nobody can play any more, everything raises `BrokenExecutor`.
    """

    def __init__(self, client: Any, address: str, level: Level, digests: tuple[str, ...]) -> None:
        self._notes: SimpleQueue[str] = SimpleQueue()
        self._client, self._address, self._level, self._digests = client, address, level, digests
        self._archives: dict[str, bytes] = {}
        self._lock = threading.RLock()
        self._workers: dict[str, _Worker] = {}
        self._seen: set[str] = set()
        self._waiting: deque[_Task] = deque()
        self._numbers = itertools.count()
        self._broken: str | None = None
        self._stop = threading.Event()
        self._nobody_since: float | None = None
        self._watch = threading.Thread(target=self._watch_cluster, name="cluster-watch", daemon=True)

    @property
    def jobs(self) -> int:  # type: ignore[override]
        """How many matches the workers play at once, now; at least 1."""
        return max(1, sum(worker.threads for worker in list(self._workers.values())))

    def begin(self) -> None:
        """Look over the workers that are there; `BadInput` if none can play."""
        self._update(self._threads())
        if not self._workers:
            notes = [f"\n  {note}" for note in self.new_notes()]
            raise BadInput(
                f"--cluster: no worker of the cluster at {self._address} can play"
                + ("".join(notes) or ": it has none; start some with: dask worker ADDRESS")
            )
        self._watch.start()

    def new_notes(self) -> list[str]:
        """The notes since the last call."""
        notes = []
        with suppress(Empty):
            while True:
                notes.append(self._notes.get_nowait())
        return notes

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn` called on the fit worker that has least to do."""
        future: Future[T] = Future()
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            self._waiting.append(_Task(future, (fn, args, kwargs)))
            self._send()
        return future

    def everywhere(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each referee process of all fit workers; one that does not answer has died."""
        with self._lock:
            workers = list(self._workers)
        if not workers or self._broken is not None:
            return
        try:
            self._client.run(call_everywhere, fn, workers=workers, on_error="ignore")
        except Exception as error:
            self._break(self._silent(error))
            raise BrokenExecutor(self._broken) from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Drop the matches that are being played, and stop watching the cluster."""
        self._stop.set()
        with self._lock:
            tasks = [task.there for worker in self._workers.values() for task in worker.tasks.values()]
            self._broken = self._broken or "the run is over"
        with suppress(Exception):
            self._client.cancel(tasks, force=True)

    # ------------------------------------------------------------------ tasks

    def _send(self) -> None:
        """Hand waiting tasks to workers; the caller has taken the lock."""
        while self._waiting and self._workers:
            task = self._waiting.popleft()
            if task.future.cancelled():
                continue
            worker = min(self._workers.values(), key=lambda worker: len(worker.tasks) / worker.threads)
            fn, args, kwargs = task.call
            number = next(self._numbers)
            try:
                task.there = self._client.submit(
                    fn,
                    *args,
                    **kwargs,
                    key=f"warpleague-{id(self)}-{number}",
                    pure=False,
                    retries=0,
                    workers=[worker.address],
                    allow_other_workers=False,
                )
            except Exception as error:  # noqa: BLE001 - whatever Dask raises when the connection is lost
                self._waiting.appendleft(task)
                self._break(f"the cluster at {self._address} accepts no more matches: {error}")
                return
            worker.tasks[number] = task
            task.there.add_done_callback(lambda there, w=worker, n=number: self._done(w, n, there))

    def _done(self, worker: _Worker, number: int, there: Any) -> None:
        """Dask says that a task has ended, somehow; called in a thread of Dask's."""
        with self._lock:
            task = worker.tasks.pop(number, None)
        if task is None or not task.future.set_running_or_notify_cancel():
            return
        try:
            if there.status == "finished":
                task.future.set_result(there.result(timeout=_CONNECT_S))
            elif there.status == "error":
                task.future.set_exception(there.exception(timeout=_CONNECT_S))
            else:
                task.future.set_exception(_lost(worker))
        except Exception as error:  # noqa: BLE001 - the result did not arrive: the match is played again
            if not task.future.done():
                task.future.set_exception(_lost(worker, f": {error}"))
        there.release()

    def _break(self, text: str) -> None:
        """Nothing can be played any more: every match that is under way ends with `text`."""
        with self._lock:
            self._broken = self._broken or text
            tasks = [*self._waiting]
            self._waiting.clear()
            for worker in self._workers.values():
                tasks += worker.tasks.values()
                worker.tasks.clear()
            self._workers.clear()
        for task in tasks:
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(BrokenExecutor(text))

    # ------------------------------------------------------------------ workers

    def _watch_cluster(self) -> None:
        answered = time.monotonic()
        while not self._stop.wait(_LOOK_S):
            try:
                if self._client.status != "running":
                    raise ConnectionError("the connection was lost")
                threads = self._threads()
                answered = time.monotonic()
                self._update(threads)
            except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is the silence
                if self._stop.is_set():
                    return
                if time.monotonic() - answered > _LOST_S:
                    self._break(self._silent(error))
                    return
                continue
            if self._nobody():
                return

    def _silent(self, error: Exception) -> str:
        return f"the scheduler at {self._address} does not answer any more: {error}"

    def _threads(self) -> dict[str, int]:
        """The workers that the scheduler knows, each with its threads."""
        threads: dict[str, int] = self._client.sync(self._client.scheduler.ncores, callback_timeout=_LOST_S)
        return threads

    def _nobody(self) -> bool:
        """Whether there has been no worker that can play for too long; then everything is given up."""
        if self._workers:
            self._nobody_since = None
            return False
        now = time.monotonic()
        self._nobody_since = self._nobody_since or now
        if now - self._nobody_since < _NOBODY_S:
            return False
        self._break(f"no worker of the cluster at {self._address} could play for {_NOBODY_S:.0f} s")
        return True

    def _update(self, threads: dict[str, int]) -> None:
        """Update the list of workers: drop those that have left, and check those that are new."""
        with self._lock:
            gone = [self._workers.pop(address) for address in self._workers.keys() - threads.keys()]
            self._seen &= threads.keys()
            new = sorted(threads.keys() - self._seen)
            self._seen |= threads.keys()
        for worker in gone:
            self._notes.put(f"the worker at {worker.address} was lost; others play its matches")
            for task in list(worker.tasks.values()):
                if task.future.set_running_or_notify_cancel():
                    task.future.set_exception(_lost(worker))
            worker.tasks.clear()
        if not new:
            return
        answers = self._client.run(
            inspect_worker, this_program(), self._level, self._digests, workers=new, on_error="return"
        )
        for address in new:
            self._judge(address, answers.get(address, "it was lost"))

    def _judge(self, address: str, answer: Any) -> None:
        """Take a worker in, after sending it the bots that it lacks, or say why not."""
        fitness = answer if isinstance(answer, Fitness) else Fitness(f"its check failed: {answer}")
        unfit = fitness.unfit
        for digest in fitness.lacks:
            unfit = unfit or self._send_bot(address, digest)
        if unfit is not None:
            self._notes.put(f"the worker at {address} gets no matches: {unfit}")
            return
        with self._lock:
            self._workers[address] = _Worker(address, fitness.threads)
            self._send()
        if self._watch.is_alive():
            self._notes.put(f"the worker at {address} joined, {counted(fitness.threads, 'match')} at a time")

    def _send_bot(self, address: str, digest: str) -> str | None:
        """Send the built bot with `digest` to a worker; why that failed, or None."""
        try:
            if digest not in self._archives:
                self._archives = {digest: pack(digest, self._level)}  # one at a time: some are large
            sent = self._client.run(
                take_bot, digest, self._archives[digest], workers=[address], on_error="return"
            )
        except (BotError, OSError) as error:
            return str(error)
        answer = sent.get(address, "it was lost")
        return None if answer is None else f"it cannot take a bot: {answer}"
