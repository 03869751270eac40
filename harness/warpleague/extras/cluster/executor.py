"""Plays matches on the workers of a Dask cluster: in batches, on fit workers, and not on those that have stalled.

A plugin checks each worker (`worker`), and fit ones announce a resource that every batch needs. A worker takes the
bots that it lacks when it needs them (`bots`). A batch is pinned to a worker, or Dask would play it again by itself:
with dice that bots have seen. `running` decides what becomes of a match whose worker is lost or has stalled.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import pickle
import re
import threading
import time
from collections import Counter, deque
from concurrent.futures import BrokenExecutor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Final

import attrs
import distributed

from warpleague.errors import BadInput
from warpleague.extras.cluster import worker as cluster_worker
from warpleague.extras.cluster.bots import BotSource
from warpleague.league.referees.pool import MatchExecutor, RefereeDied, RemoteTraceback
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from warpleague.match.spec import Level, SeatSpec


_CONNECT_S: Final = 5
_LOOK_S: Final = 1.0  # how often the scheduler is asked for the state of the cluster
_LOST_S: Final = 5.0  # how long there may be no connection to the scheduler before it counts as dead
_BUSY_S: Final = 60.0  # how long the scheduler may be silent while the connection is open
_NOBODY_S: Final = 60.0  # how long a run waits for a worker that can play when there is none
_SILENT_S: Final = 5.0  # how long a worker may be silent before others play its matches
_GRACE_S: Final = 5.0  # how much longer than its clocks allow a match may take
_ANSWER_S: Final = 10.0  # how long workers may take to end bots
_ASK_S: Final = 2.0  # how long to wait until the workers have ended what a run left there
_AIM_S: Final = 0.8  # how long a batch should take at least: much longer than Dask's work for it
_BATCHES_A_SECOND: Final = 100  # what a scheduler with 1,000 workers can serve; more threads: longer batches
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
    address: str, level: Level, bots: Sequence[SeatSpec], *, limit_s: float = inf
) -> Iterator[ClusterExecutor]:
    """An executor on the Dask cluster whose scheduler is at `address`, for matches of `bots` at `level`.

    `limit_s` is as in `ClusterExecutor`. Raises `BadInput` if there is no such cluster, or none of its
    workers can play.
    """
    if not re.fullmatch(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+", address):
        raise BadInput(f"--cluster: must be HOST:PORT, or tcp://HOST:PORT, not {address!r}")
    # Lost connections get messages of our own, so Dask need not log them.
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] == "distributed":  # Dask gives some of them a level of their own
            logging.getLogger(name).setLevel(logging.CRITICAL)
    source = BotSource(level, {bot.digest: None for bot in bots})
    with import_module("dask.config").set(_TIMEOUTS):  # comes with distributed
        try:
            client: Any = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise BadInput(f"--cluster: no Dask scheduler answers at {address!r}: {error}") from None
        player = cluster_worker.Player(f"{cluster_worker.PREFIX}{client.id}", level, source.archives)
        source.serve(client, player.name)
        executor = ClusterExecutor(client, player, limit_s=limit_s)
        try:
            executor.begin()
            yield executor
        finally:
            executor.shutdown()
            with suppress(Exception):  # the scheduler may have died
                client.close(timeout=2)


@attrs.frozen(eq=False)
class _Call:
    """A call, which is a batch of its own if it is `alone`."""

    future: Future[Any]
    work: tuple[Any, ...]
    alone: bool = False


@attrs.define(eq=False)
class _Batch:
    """Calls that are one task of Dask's, pinned to `worker`."""

    calls: list[_Call]
    worker: str
    task: Any = None


class ClusterExecutor(MatchExecutor):
    """The fit workers of the cluster of a Dask `client` as an executor.

    `player` is the plugin that makes workers fit: it announces the resource of its name (`cluster_worker.announce`).
    A worker is stalled if it has been silent for `silent_s` seconds, or if a match takes longer than `limit_s`. Its
    matches are then taken from it, and before it gets matches again, it ends all its bots.

    Notes say which workers joined, were left out, stalled or were lost. When the scheduler dies, or nobody can play
    any more, everything raises `BrokenExecutor`.
    """

    def __init__(
        self,
        client: Any,
        player: Any,
        *,
        limit_s: float = inf,
        silent_s: float = _SILENT_S,
    ) -> None:
        self._client, self._player = client, player
        self._name: str = player.name
        self._address: str = client.scheduler.address
        self._silent_s, self._limit_s = silent_s, limit_s + _GRACE_S
        self._notes: deque[str] = deque()
        self._lock = threading.RLock()
        self._threads: dict[str, int] = {}  # of the fit workers, by address
        self._stalled: set[str] = set()
        self._checked: list[str] = []
        self._waiting: deque[_Call] = deque()
        self._batches: dict[str, _Batch] = {}
        self._numbers = itertools.count()
        self._size = 1
        self._broken: str | None = None
        self._ready, self._stop = threading.Event(), threading.Event()
        self._begin_s = time.monotonic() + _NOBODY_S
        self._watch = threading.Thread(target=self._watch_cluster, name="cluster-watch", daemon=True)

    @property
    def jobs(self) -> int:  # type: ignore[override]
        """How many matches the workers play at once, now; at least 1."""
        return max(1, sum(self._well().values()))

    @property
    def ahead(self) -> int:
        """How many matches to submit for each place: enough for the batches that are played, wait and are filled."""
        return max(8, min((_TASKS + 1) * self._size, _MAX_AHEAD // self.jobs))

    def player(self, *, log: bool) -> Callable[..., Any]:
        """What plays a match on a worker; with `log`, its result has the logs of its bots."""
        return partial(cluster_worker.play_here, name=self._name, log=log)

    def send_bots(self) -> None:
        """Have all workers take all bots now; who cannot do so gets no matches."""
        how = {"workers": list(self._threads), "on_error": "return"}
        for worker, error in self._client.run(cluster_worker.take_all, self._name, **how).items():
            if isinstance(error, Exception):
                self._drop_unfit(worker, str(error))

    def _drop_unfit(self, worker: str, why: str) -> None:
        self._threads.pop(worker, None)
        self._notes.append(f"the worker at {worker} gets no matches: {why}")

    def begin(self) -> None:
        """Wait until the workers that are there have been checked; `BadInput` if none can play."""
        self._client.loop.add_callback(self._register)
        self._watch.start()
        self._ready.wait()
        if self._broken is not None:
            raise BadInput(f"--cluster: {self._broken}; it needs this version of warpleague")
        if not self._threads:
            notes = "".join(f"\n  {note}" for note in self.new_notes())
            why = notes or ": it has none; start some with: dask worker ADDRESS"
            raise BadInput(f"--cluster: no worker of the cluster at {self._address} can play{why}")

    def new_notes(self) -> list[str]:
        """The notes since the last call."""
        return [self._notes.popleft() for _ in range(len(self._notes))]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have `fn` called on a worker with its pool and these arguments, in a batch with others; `flush` sends it."""
        return self._add(_Call(Future(), (fn, args, kwargs)))

    def submit_alone(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Like `submit`, but in a batch of its own."""
        return self._add(_Call(Future(), (fn, args, kwargs), alone=True))

    def _add(self, call: _Call) -> Future[Any]:
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            self._waiting.append(call)
        return call.future

    def broadcast(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each referee process of the workers that are well; who cannot do so has stalled."""
        while self._broken is None:
            well = self._well()
            with suppress(TimeoutError):  # who is silent has stalled by now
                self._stalled |= well.keys() - self._ask(well, cluster_worker.broadcast_here, fn)
                return
        raise BrokenExecutor(self._broken)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Drop the matches that are being played, and stop watching the cluster."""
        self._stop.set()
        self._break("the run is over")
        with suppress(Exception):  # stalled workers end their referees when they have recovered
            unregister = self._client.scheduler.unregister_worker_plugin
            self._client.sync(unregister, name=self._name, callback_timeout=_ASK_S)

    def flush(self) -> None:
        """Send what was submitted to workers, as far as they have room for it."""
        with self._lock:
            well = self._well()
            load = Counter(batch.worker for batch in self._batches.values())
            free = _TASKS * sum(well.values()) - sum(load[worker] for worker in well)
            while self._waiting and free > 0 and self._broken is None:
                size = min(self._size, ceil(len(self._waiting) / free))
                calls = [self._waiting.popleft()]
                while len(calls) < size and not (calls[0].alone or self._waiting[0].alone):
                    calls.append(self._waiting.popleft())
                if calls := [call for call in calls if _begins(call)]:
                    worker = min(well, key=lambda one: load[one] / well[one])
                    load[worker] += 1
                    self._send(_Batch(calls, worker))
                    free -= 1

    def _well(self) -> dict[str, int]:
        return {one: threads for one, threads in list(self._threads.items()) if one not in self._stalled}

    def _aim_s(self) -> float:
        return max(_AIM_S, self.jobs / _BATCHES_A_SECOND)

    def _send(self, batch: _Batch) -> None:
        number = next(self._numbers)
        key = f"{self._name}-{number}"
        how = {"key": key, "pure": False, "resources": {self._name: 1}, "workers": batch.worker}
        packed = pickle.dumps([call.work for call in batch.calls], protocol=pickle.HIGHEST_PROTOCOL)
        task = (cluster_worker.play_batch, self._name, number, packed, 2 * self._aim_s())
        try:
            batch.task = self._client.submit(*task, **how)
        except Exception as error:  # noqa: BLE001 - whatever Dask raises when the connection is lost
            self._waiting.extend(batch.calls)
            self._break(f"the cluster at {self._address} accepts no more matches: {error}")
            return
        self._batches[key] = batch
        self._client.loop.add_callback(self._take, key, batch)

    async def _take(self, key: str, batch: _Batch) -> None:
        """Wait for the results of a batch, in Dask's event loop; calls that were not made are made again."""
        try:
            took_s, done = pickle.loads(await self._client.gather(batch.task))
        except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is that there is no result
            took_s, done = 0.0, [(RefereeDied(f"its worker was lost: {error}"), "")] * len(batch.calls)
        with self._lock:
            if self._batches.get(key) is not batch:
                return
            self._end(key)
            if took_s:
                self._size = max(1, min(2 * self._size, _MOST, int(self._aim_s() * len(done) / took_s)))
            for call, (value, trace) in zip(batch.calls, done, strict=False):
                if trace:
                    value.__cause__ = RemoteTraceback(trace)
                _resolve(call, value)
            self._waiting.extendleft(reversed(batch.calls[len(done) :]))
            self.flush()

    def _end(self, key: str) -> list[_Call]:
        """Forget a batch; nobody will see its results. Its calls."""
        batch = self._batches.pop(key)
        batch.task.release()
        return batch.calls

    def _break(self, text: str) -> None:
        """Nothing can be played any more: every match that is under way ends with `text`."""
        with self._lock:
            self._broken = self._broken or text
            calls = [*self._waiting, *(call for key in list(self._batches) for call in self._end(key))]
            self._waiting.clear()
            self._threads.clear()
            for call in calls:
                _resolve(call, BrokenExecutor(text))
        self._ready.set()

    async def _register(self) -> None:
        """Give the plugin to all workers; this ends when all of them have answered, maybe never."""
        try:
            for name in await self._client.run_on_scheduler(cluster_worker.left_behind):
                with suppress(TimeoutError):  # silent workers do so later
                    await asyncio.wait_for(self._client.unregister_worker_plugin(name), _ASK_S)
            await self._client.register_plugin(self._player, name=self._name)
        except Exception as error:  # noqa: BLE001 - one worker is enough to make Dask raise, of another version
            self._notes.append(f"a worker cannot be checked: {error}")
            self._begin_s = min(self._begin_s, time.monotonic() + _ANSWER_S)

    def _watch_cluster(self) -> None:
        answered_s = fit_s = time.monotonic()
        while self._broken is None and not self._stop.wait(_LOOK_S if self._ready.is_set() else 0.1):
            now_s = time.monotonic()
            fit_s = now_s if self._threads else fit_s
            if self._ready.is_set() and now_s - fit_s > _NOBODY_S:
                self._break(f"no worker of the cluster at {self._address} could play for {_NOBODY_S:.0f} s")
            try:
                if self._client.status != "running":
                    raise ConnectionError("the connection was lost")
                state = self._look()
                answered_s = now_s
                self._update(state)
                self._recover(state)
                unchecked = state.silence.keys() - set(self._checked)
                if not self._ready.is_set() and (state.stalled.keys() >= unchecked or now_s > self._begin_s):
                    for worker in sorted(unchecked):
                        self._notes.append(f"the worker at {worker} gets no matches: it does not answer")
                    self._ready.set()
            except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is the silence
                patience_s = _BUSY_S if isinstance(error, TimeoutError) else _LOST_S
                if now_s - answered_s > patience_s and not self._stop.is_set():
                    self._break(f"the scheduler at {self._address} does not answer any more: {error}")

    def _look(self) -> cluster_worker.State:
        what = (self._name, len(self._checked), self._silent_s, self._limit_s + 2 * self._aim_s())
        return self._client.run_on_scheduler(cluster_worker.look, *what, callback_timeout=_LOST_S)  # type: ignore[no-any-return]

    def _ask(self, workers: Iterable[str], fn: Callable[..., Any], *args: Any) -> set[str]:
        """Run `fn` on workers; those where it succeeded. `TimeoutError` unless all answer in time."""
        how = {"workers": list(workers), "on_error": "ignore", "callback_timeout": _ANSWER_S}
        return set(self._client.run(fn, self._name, *args, **how))

    def _update(self, state: cluster_worker.State) -> None:
        """Drop the workers that have left, take matches from those that have stalled, and take those that joined."""
        with self._lock:
            for worker in self._threads.keys() - state.silence.keys():
                del self._threads[worker]
                self._notes.append(f"the worker at {worker} was lost; others play its matches")
                for key in [key for key, batch in self._batches.items() if batch.worker == worker]:
                    for call in self._end(key):
                        _resolve(call, RefereeDied(f"the worker at {worker} was lost"))
            self._stalled &= self._threads.keys()
            for worker in (self._threads.keys() & state.stalled.keys()) - self._stalled:
                self._stalled.add(worker)
                since = time.strftime("%H:%M:%S", time.localtime(time.time() - state.silence[worker]))
                why = state.stalled[worker].format(since=since)
                self._notes.append(f"the worker at {worker} {why}; others play its matches")
            for key in self._batches.keys() & state.keys:
                worker = self._batches[key].worker
                for call in self._end(key):
                    _resolve(call, RefereeDied(f"the worker at {worker} has stalled"))
            for worker, threads, unfit in state.checked:
                self._checked.append(worker)
                if unfit is not None:
                    self._drop_unfit(worker, unfit)
                    continue
                self._threads[worker] = threads
                if self._ready.is_set():
                    text = f"joined, {counted(threads, 'match')} at a time"
                    self._notes.append(f"the worker at {worker} {text}")
            self.flush()

    def _recover(self, state: cluster_worker.State) -> None:
        """Give matches again to workers that have recovered, once they have ended their bots.

        These could know dice that others have played with meanwhile.
        """
        back = self._stalled - state.stalled.keys()
        with suppress(TimeoutError):
            if back:
                back = self._ask(back, cluster_worker.renew, next(self._numbers))
            for worker in back:
                self._stalled.remove(worker)
                self._notes.append(f"the worker at {worker} answers again, and gets matches")


def _begins(call: _Call) -> bool:
    """Whether a call is to be made: from then on it cannot be cancelled, since bots may see the dice of its match."""
    future = call.future
    return not future.done() and (future.running() or future.set_running_or_notify_cancel())


def _resolve(call: _Call, value: Any) -> None:
    """Give a call its result or error, unless it was cancelled while it waited."""
    with suppress(InvalidStateError):
        (call.future.set_exception if isinstance(value, Exception) else call.future.set_result)(value)
