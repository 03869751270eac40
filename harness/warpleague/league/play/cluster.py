"""Plays matches on the workers of a Dask cluster: in batches, on fit workers, and not on those that have stalled.

Dask chooses the worker: a plugin checks each one and gives it bots (`cluster_worker`), and fit ones announce a
resource that every batch needs. Where each match has dice of its own, Dask may also play it again. Where dice are
shared, a batch is pinned to a worker, since it may be played again only when nobody who saw its dice is alive.
`running` decides what becomes of a match.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import pickle
import re
import threading
import time
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import attrs
import distributed

from warpleague.counts import counted
from warpleague.errors import BadInput, BotError
from warpleague.league.play.cluster_worker import (
    PREFIX,
    Player,
    call_everywhere,
    left_behind,
    look,
    play_batch,
    play_here,
)
from warpleague.league.referees.executor import MatchExecutor
from warpleague.league.referees.pool import RefereeDied, RemoteTraceback
from warpleague.runner.bundle.transfer import pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from warpleague.match.spec import Level, SeatSpec

P = ParamSpec("P")
T = TypeVar("T")
_ADDRESS: Final = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+")
_CONNECT_S: Final = 5
_LOOK_S: Final = 1.0
"""How often the scheduler is asked which workers there are, in seconds."""
_LOST_S: Final = 5.0
"""How long there may be no connection to the scheduler before it counts as dead, in seconds."""
_BUSY_S: Final = 60.0
"""How long the scheduler may be silent over a connection that stands, in seconds."""
_NOBODY_S: Final = 60.0
"""How long a run waits for a worker that can play when there is none, in seconds."""
_SILENT_S: Final = 5.0
"""How long a worker may be silent before its matches are played elsewhere, in seconds."""
_GRACE_S: Final = 5.0
"""How much longer than its clocks allow a match may take, in seconds."""
_ANSWER_S: Final = 10.0
"""How long the workers may take to end waiting bots, in seconds."""
_ASK_S: Final = 2.0
"""How long to wait until the workers have ended what a run left there, in seconds."""
_AIM_S: Final = 0.8
"""How long a batch should take at least, in seconds: much longer than Dask's work for it."""
_BATCHES_A_SECOND: Final = 100
"""The rate that a scheduler with 1,000 workers can serve. With more threads, batches take longer."""
_TASKS: Final = 2  # batches for each thread of a worker: one is played, one waits
_MOST: Final = 128  # matches of a batch
_MAX_AHEAD: Final = 20_000  # matches in flight, unless more are played at once
_TIMEOUTS: Final = {
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.timeouts.tcp": "15s",
    "distributed.comm.retry.count": 0,
    "distributed.client.scheduler-info-interval": "1h",  # nobody looks at it
}


@contextmanager
def cluster(
    address: str, level: Level, bots: Sequence[SeatSpec], *, shared: bool = False, limit_s: float = math.inf
) -> Iterator[ClusterExecutor]:
    """An executor on the Dask cluster whose scheduler is at `address`, for matches of `bots` at `level`.

    `shared` and `limit_s` are as in `ClusterExecutor`. Raises `BadInput` if there is no such cluster, or none of its
    workers can play.
    """
    if not _ADDRESS.fullmatch(address):
        raise BadInput(f"--cluster: must be HOST:PORT, or tcp://HOST:PORT, not {address!r}")
    # Lost connections get messages of our own, so Dask need not log them.
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] == "distributed":  # Dask gives some of them a level of their own
            logging.getLogger(name).setLevel(logging.CRITICAL)
    archives = {digest: _packed(digest, level) for digest in dict.fromkeys(bot.digest for bot in bots)}
    with import_module("dask.config").set(_TIMEOUTS):  # comes with distributed
        try:
            client: Any = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise BadInput(f"--cluster: no Dask scheduler answers at {address!r}: {error}") from None
        player = Player(f"{PREFIX}{client.id}", level, archives)
        executor = ClusterExecutor(client, player, shared=shared, limit_s=limit_s)
        try:
            executor.begin()
            yield executor
        finally:
            executor.shutdown()
            with suppress(Exception):  # the scheduler may have died
                client.close(timeout=2)


def _packed(digest: str, level: Level) -> bytes | None:
    """A built bot as an archive; None if it cannot be sent, and so only workers that have it can play."""
    try:
        return pack(digest, level)
    except BotError:
        return None


@attrs.frozen(eq=False)
class _Call:
    future: Future[Any]
    work: tuple[Any, ...]

    @property
    def match(self) -> str:
        """The id of the match to play."""
        return str(self.work[1][0].id)


@attrs.define(eq=False)
class _Batch:
    """Calls that are one task of Dask's, pinned to `worker` if there is one; `stalled` if they wait elsewhere, too."""

    calls: list[_Call]
    worker: _Worker | None
    task: Any = None
    stalled: bool = False


@attrs.define(eq=False)
class _Worker:
    """`batches` counts those that are pinned to it; `seen` are matches whose dice its bots may know."""

    address: str
    threads: int
    stalled: bool = False
    batches: int = 0
    seen: set[str] = attrs.Factory(set)

    def load(self) -> float:
        """The batches that are pinned to it, for each thread."""
        return self.batches / self.threads


class ClusterExecutor(MatchExecutor):
    """The fit workers of the cluster of a Dask `client` as an executor.

    `player` is the plugin that makes workers fit: it announces the resource of its name (`cluster_worker.announce`).
    A worker is stalled if it has been silent for `silent_s` seconds, or if a match takes longer than `limit_s`. Its
    matches are then played on other workers, too, and the first result counts. But where dice are `shared`, they wait
    until it recovers, or is lost and they raise `RefereeDied`; the first argument of each call must be a `MatchSpec`.

    Notes say which workers joined, were left out, stalled or were lost. When the scheduler dies, or nobody can play
    any more, everything raises `BrokenExecutor`.
    """

    def __init__(
        self,
        client: Any,
        player: Any,
        *,
        shared: bool = False,
        limit_s: float = math.inf,
        silent_s: float = _SILENT_S,
    ) -> None:
        self._client, self._player, self._shared = client, player, shared
        self._name: str = player.name
        self._address: str = client.scheduler.address
        self._silent_s, self._limit_s = silent_s, limit_s + _GRACE_S
        self._notes: SimpleQueue[str] = SimpleQueue()
        self._lock = threading.RLock()
        self._workers: dict[str, _Worker] = {}
        self._checked: set[str] = set()
        self._waiting: deque[_Call] = deque()
        self._batches: dict[str, _Batch] = {}
        self._numbers = itertools.count()
        self._size = 1
        self._broken: str | None = None
        self._begun, self._stop = threading.Event(), threading.Event()
        self._begin_s = time.monotonic() + _NOBODY_S
        self._stuck: frozenset[str] = frozenset()
        self._watch = threading.Thread(target=self._watch_cluster, name="cluster-watch", daemon=True)

    @property
    def jobs(self) -> int:  # type: ignore[override]
        """How many matches the workers play at once, now; at least 1."""
        return max(1, sum(worker.threads for worker in self._well()))

    @property
    def _aim_s(self) -> float:
        return max(_AIM_S, self.jobs / _BATCHES_A_SECOND)

    @property
    def ahead(self) -> int:
        """How many matches to submit for each place: enough for the batches that are played, wait and are filled."""
        return max(8, min((_TASKS + 1) * self._size, _MAX_AHEAD // self.jobs))

    @property
    def stuck(self) -> frozenset[str]:
        """The ids of matches that wait for a stalled worker, since others may not play them."""
        return self._stuck

    def player(self, *, log: bool = False) -> Callable[..., Any]:
        """The call to submit for a match. With `log`, its result has the bots' logs."""
        return partial(play_here, self._name, log=log)

    def begin(self) -> None:
        """Check the workers that are there; `BadInput` if none can play."""
        self._client.subscribe_topic(self._name, self._joined)
        self._client.loop.add_callback(self._register)
        silence: dict[str, float] = {}
        while time.monotonic() < self._begin_s:
            try:
                silence, _, _ = self._look()
                for event in self._client.get_events(self._name):  # those of before the subscription
                    self._joined(event)
            except TimeoutError:
                continue  # it is busy with the plugin
            except (ImportError, AttributeError, OSError) as error:
                raise BadInput(
                    f"--cluster: the scheduler at {self._address} must have this version of warpleague: {error}"
                ) from None
            if self._checked >= {address for address, s in silence.items() if s < self._silent_s}:
                break
            self._stop.wait(0.1)
        for address in sorted(silence.keys() - self._checked):
            self._notes.put(f"the worker at {address} gets no matches: it does not answer")
        if not self._workers:
            notes = [f"\n  {note}" for note in self.new_notes()]
            raise BadInput(
                f"--cluster: no worker of the cluster at {self._address} can play"
                + ("".join(notes) or ": it has none; start some with: dask worker ADDRESS")
            )
        self._begun.set()
        self._watch.start()

    def new_notes(self) -> list[str]:
        """The notes since the last call."""
        notes = []
        with suppress(Empty):
            while True:
                notes.append(self._notes.get_nowait())
        return notes

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn` called on a fit worker, in a batch with other calls; `flush` sends them."""
        future: Future[T] = Future()
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            self._waiting.append(_Call(future, (fn, args, kwargs)))
        return future

    def everywhere(self, fn: Callable[[], object]) -> frozenset[str]:
        """Have `fn` called in each referee process of all workers that answer within 10 s.

        Returns the ids of the matches whose dice the other ones may know.
        """
        with self._lock:
            asked = [(worker, frozenset(worker.seen)) for worker in self._well()]
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            tasks = [
                self._client.submit(
                    call_everywhere,
                    self._name,
                    fn,
                    key=f"{self._name}-end-{next(self._numbers)}",
                    pure=False,
                    workers=[worker.address],
                )
                for worker, _ in asked
            ]
        with suppress(TimeoutError), self._client.as_current():
            distributed.wait(tasks, timeout=_ANSWER_S)  # type: ignore[no-untyped-call]
        with self._lock:
            for (worker, seen), task in zip(asked, tasks, strict=True):
                if task.status == "finished":
                    worker.seen -= seen
            return frozenset().union(*(worker.seen for worker in self._workers.values()))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Drop the matches that are being played, and stop watching the cluster."""
        self._stop.set()
        with self._lock:
            tasks = [batch.task for batch in self._batches.values()]
            self._batches.clear()
            self._broken = self._broken or "the run is over"
        with suppress(Exception):
            self._client.cancel(tasks, force=True)
        with suppress(Exception):  # stalled workers end their referees when they have recovered
            self._client.sync(
                self._client.scheduler.unregister_worker_plugin, name=self._name, callback_timeout=_ASK_S
            )

    # ------------------------------------------------------------------ tasks

    def _well(self) -> list[_Worker]:
        return [worker for worker in list(self._workers.values()) if not worker.stalled]

    def flush(self) -> None:
        """Send what was submitted to workers, as far as they have room for it."""
        with self._lock:
            well = self._well()
            # A batch that waits elsewhere, too, and one of a stalled worker take nobody's room.
            sent = [batch for batch in self._batches.values() if not (batch.worker or batch).stalled]
            free = _TASKS * sum(worker.threads for worker in well) - len(sent)
            while self._waiting and free > 0 and self._broken is None:
                worker = min(well, key=_Worker.load) if self._shared else None
                size = min(self._size, math.ceil(len(self._waiting) / free))
                calls = [self._waiting.popleft() for _ in range(size)]
                self._send(_Batch([call for call in calls if not call.future.done()], worker))
                free -= 1

    def _send(self, batch: _Batch) -> None:
        if not batch.calls:
            return
        key = f"{self._name}-{next(self._numbers)}"
        pinned = {} if batch.worker is None else {"workers": [batch.worker.address]}
        try:
            packed = pickle.dumps([call.work for call in batch.calls], protocol=pickle.HIGHEST_PROTOCOL)
            batch.task = self._client.submit(
                play_batch, packed, 2 * self._aim_s, key=key, pure=False, resources={self._name: 1}, **pinned
            )
        except Exception as error:  # noqa: BLE001 - whatever Dask raises when the connection is lost
            self._waiting.extendleft(reversed(batch.calls))
            self._break(f"the cluster at {self._address} accepts no more matches: {error}")
            return
        self._batches[key] = batch
        if batch.worker is not None:
            batch.worker.batches += 1
            batch.worker.seen.update(call.match for call in batch.calls)
        self._client.loop.add_callback(self._take, key, batch)

    async def _take(self, key: str, batch: _Batch) -> None:
        """Wait for the results of a batch, in Dask's event loop; calls that were not made are made again."""
        try:
            took_s, done = pickle.loads(await self._client.gather(batch.task))
        except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is that there is no result
            took_s, done = 0.0, [(False, RefereeDied(f"its worker was lost: {error}"), "")] * len(batch.calls)
        with self._lock:
            if self._batches.get(key) is not batch:
                return
            self._end(key)
            if took_s:
                self._size = max(1, min(2 * self._size, _MOST, int(self._aim_s * len(done) / took_s)))
            for call, (returned, value, trace) in zip(batch.calls, done, strict=False):
                if returned:
                    _settle(call, value)
                elif not batch.stalled:
                    value.__cause__ = RemoteTraceback(trace) if trace else None
                    _settle(call, error=value)
            if not batch.stalled:
                self._waiting.extendleft(reversed(batch.calls[len(done) :]))
            self.flush()

    def _end(self, key: str) -> None:
        batch = self._batches.pop(key)
        batch.task.release()
        if batch.worker is not None:
            batch.worker.batches -= 1

    def _break(self, text: str) -> None:
        """Nothing can be played any more: every match that is under way ends with `text`."""
        with self._lock:
            self._broken = self._broken or text
            calls = [*self._waiting, *(call for batch in self._batches.values() for call in batch.calls)]
            self._waiting.clear()
            self._batches.clear()
            self._workers.clear()
            for call in calls:
                _settle(call, error=BrokenExecutor(text))

    # ------------------------------------------------------------------ workers

    async def _register(self) -> None:
        """Give the plugin to all workers; this ends when all of them have answered, maybe never."""
        try:
            for name in await self._client.run_on_scheduler(left_behind):
                with suppress(TimeoutError):  # silent workers do so later
                    await asyncio.wait_for(self._client.unregister_worker_plugin(name), _ASK_S)
            await self._client.register_plugin(self._player, name=self._name)
        except Exception as error:  # noqa: BLE001 - one worker is enough to make Dask raise, of another version
            self._notes.put(f"a worker cannot be checked: {error}")
            self._begin_s = min(self._begin_s, time.monotonic() + _ANSWER_S)

    def _joined(self, event: tuple[float, dict[str, Any]]) -> None:
        """Handle what the plugin has logged on a worker."""
        address, threads, unfit = (event[1][name] for name in ("worker", "threads", "unfit"))
        with self._lock:
            if address in self._checked:
                return
            if unfit is None:
                self._workers[address] = _Worker(address, threads)
                if self._begun.is_set():
                    self._notes.put(f"the worker at {address} joined, {counted(threads, 'match')} at a time")
                self.flush()
            else:
                self._notes.put(f"the worker at {address} gets no matches: {unfit}")
            self._checked.add(address)

    def _watch_cluster(self) -> None:
        answered_s = fit_s = time.monotonic()
        while self._broken is None and not self._stop.wait(_LOOK_S):
            now_s = time.monotonic()
            fit_s = now_s if self._workers else fit_s
            if now_s - fit_s > _NOBODY_S:
                self._break(f"no worker of the cluster at {self._address} could play for {_NOBODY_S:.0f} s")
            try:
                if self._client.status != "running":
                    raise ConnectionError("the connection was lost")
                self._update(list(self._workers.values()), *self._look())
                answered_s = now_s
            except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is the silence
                patience_s = _BUSY_S if isinstance(error, TimeoutError) else _LOST_S
                if now_s - answered_s > patience_s and not self._stop.is_set():
                    self._break(f"the scheduler at {self._address} does not answer any more: {error}")

    def _look(self) -> tuple[dict[str, float], dict[str, str], list[str]]:
        return self._client.run_on_scheduler(  # type: ignore[no-any-return]
            look, self._name, self._silent_s, self._limit_s + 2 * self._aim_s, callback_timeout=_LOST_S
        )

    def _update(
        self,
        workers: list[_Worker],
        silence: dict[str, float],
        stalled: dict[str, str],
        keys: Iterable[str],
    ) -> None:
        """Drop the workers that have left, and play elsewhere what may be of those that have stalled."""
        with self._lock:
            for worker in workers:
                who, reason = f"the worker at {worker.address}", stalled.get(worker.address)
                if worker.address not in silence:
                    del self._workers[worker.address]
                    self._notes.put(f"{who} was lost; others play its matches")
                    for key in [key for key, batch in self._batches.items() if batch.worker is worker]:
                        for call in self._batches[key].calls:
                            _settle(call, error=RefereeDied(f"{who} was lost"))
                        self._end(key)
                elif worker.stalled and reason is None:
                    self._notes.put(f"{who} answers again, and gets matches")
                elif reason is not None and not worker.stalled:
                    since = time.strftime("%H:%M:%S", time.localtime(time.time() - silence[worker.address]))
                    why = f"has been silent since {since}" if reason == "silent" else "plays an overdue match"
                    then = "its matches wait" if self._shared else "others play its matches"
                    self._notes.put(f"{who} {why}; {then}")
                worker.stalled = reason is not None
            for key in self._batches.keys() & keys:
                batch = self._batches[key]
                if not self._shared and not batch.stalled:
                    batch.stalled = True
                    self._waiting.extendleft(reversed(batch.calls))
            waiting = [batch for batch in self._batches.values() if batch.worker and batch.worker.stalled]
            self._stuck = frozenset(call.match for batch in waiting for call in batch.calls)
            self.flush()


def _settle(call: _Call, value: Any = None, error: BaseException | None = None) -> None:
    """Give a call its result, unless it has one: another worker may have been first."""
    if call.future.done() or not call.future.set_running_or_notify_cancel():
        return
    if error is None:
        call.future.set_result(value)
    else:
        call.future.set_exception(error)
