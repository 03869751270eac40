"""Plays matches on the workers of a Dask cluster: in batches, on fit workers, and not on those that have stalled.

A plugin checks each worker (`worker`), which takes the bots that it lacks when it needs them (`bots`). A batch is
pinned to a worker, or Dask would play it again by itself: with dice that bots have seen. `protocol` has the rules of
that, and `running` decides what becomes of a match whose worker is lost or has stalled.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
import threading
import time
from collections import deque
from concurrent.futures import BrokenExecutor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any, Final

import distributed

from warpleague.errors import BadInput
from warpleague.extras.cluster import worker as cluster_worker
from warpleague.extras.cluster.bots import BotSource
from warpleague.extras.cluster.protocol import TASKS, Call, Ledger, Silence
from warpleague.league.referees.pool import MatchExecutor, RemoteTraceback, TakenAway, WorkerLost
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from warpleague.extras.cluster.protocol import Batch
    from warpleague.extras.cluster.worker import Report, Seen
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
    cluster_worker.use_steady_clock()
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


class ClusterExecutor(MatchExecutor):
    """The fit workers of the cluster of a Dask `client` as an executor.

    `player` is the plugin that makes workers fit, a `cluster_worker.Player`. A worker has stalled if it has been
    silent for `silent_s` seconds (more in a large cluster, where workers report less often), if Dask has paused it, or
    if a match takes longer than `limit_s`. Its matches are then taken from it, and before it gets matches again, it
    ends all its bots.

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
        self._ledger, self._silence = Ledger(), Silence()
        self._checked: dict[str, str] = {}  # the processes of the workers that were checked, by address
        self._size = 1
        self._broken: str | None = None
        self._ready, self._stop = threading.Event(), threading.Event()
        self._begin_s = time.monotonic() + _NOBODY_S
        self._watch = threading.Thread(target=self._watch_cluster, name="cluster-watch", daemon=True)

    @property
    def jobs(self) -> int:  # type: ignore[override]
        """How many matches the workers play at once, now; at least 1."""
        return max(1, sum(self._ledger.well.values()))

    @property
    def ahead(self) -> int:
        """How many matches to submit for each place: enough for the batches that are played, wait and are filled."""
        return max(8, min((TASKS + 1) * self._size, _MAX_AHEAD // self.jobs))

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
        """Give no more matches to a worker that cannot play; it plays what it has begun, and sends back the rest."""
        self._notes.append(f"the worker at {worker} gets no matches: {why}")
        with self._lock:
            self._ledger.retire(worker)

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
        return self._add(Call(Future(), (fn, args, kwargs)))

    def submit_alone(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Like `submit`, but in a batch of its own."""
        return self._add(Call(Future(), (fn, args, kwargs), alone=True))

    def _add(self, call: Call) -> Future[Any]:
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            self._ledger.waiting.append(call)
        return call.future

    @property
    def _threads(self) -> dict[str, int]:
        """The threads of the fit workers, by address."""
        return {worker: place.threads for worker, place in self._ledger.places.copy().items()}

    def broadcast(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each referee process of the workers that are well; who cannot do so has stalled."""
        while self._broken is None:
            well = self._ledger.well.keys()
            with suppress(TimeoutError):  # who is silent has stalled by now
                deaf = well - self._ask(well, cluster_worker.broadcast_here, fn)
                with self._lock:
                    for worker in deaf & self._ledger.well.keys():
                        self._drop(
                            self._ledger.stall(worker), TakenAway(f"the worker at {worker} did not answer")
                        )
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
            for batch in self._ledger.send(self._size) if self._broken is None else ():
                self._send(batch)

    def _aim_s(self) -> float:
        return max(_AIM_S, self.jobs / _BATCHES_A_SECOND)

    def _send(self, batch: Batch) -> None:
        packed = pickle.dumps([call.work for call in batch.calls], protocol=pickle.HIGHEST_PROTOCOL)
        task = (self._name, batch.process, batch.number, packed, 2 * self._aim_s())
        how = {"key": f"{self._name}-{batch.number}", "pure": False, "workers": batch.worker}
        try:
            batch.task = self._client.submit(cluster_worker.play_batch, *task, **how)
        except Exception as error:  # noqa: BLE001 - whatever Dask raises when the connection is lost
            self._break(f"the cluster at {self._address} accepts no more matches: {error}")
        else:
            self._client.loop.add_callback(self._take, batch)

    async def _take(self, batch: Batch) -> None:
        """Wait for the results of a batch, in Dask's event loop; calls that were not made are made again."""
        try:
            took_s, done = pickle.loads(await self._client.gather(batch.task))
        except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is that there is no result
            took_s, done = 0.0, [(WorkerLost(f"its worker was lost: {error}"), "")] * len(batch.calls)
        with self._lock:
            if batch.number in self._ledger.batches:
                calls = self._ledger.end(batch, len(done))
                batch.task.release()
                if took_s:
                    size = int(self._aim_s() * len(done) / took_s)
                    self._size = max(1, min(2 * self._size, _MOST, size))
                for call, (value, trace) in zip(calls, done, strict=True):
                    if trace:
                        value.__cause__ = RemoteTraceback(trace)
                    _resolve(call, value)
                self.flush()

    def _drop(self, batches: Iterable[Batch], why: Exception) -> None:
        """End the calls of batches whose results nobody will see."""
        for batch in batches:
            if batch.task is not None:
                batch.task.release()
            for call in batch.calls:
                _resolve(call, why)

    def _break(self, text: str) -> None:
        """Nothing can be played any more: every match that is under way ends with `text`."""
        with self._lock:
            self._broken = self._broken or text
            self._drop(list(self._ledger.batches.values()), BrokenExecutor(text))
            for call in self._ledger.waiting:
                _resolve(call, BrokenExecutor(text))
            self._ledger = Ledger()
        self._ready.set()

    async def _register(self) -> None:
        """Give the plugin to all workers; this ends when all of them have answered, maybe never."""
        try:
            for name in await self._client.run_on_scheduler(cluster_worker.take_over):
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
            fit_s = now_s if self._ledger.well else fit_s
            if self._ready.is_set() and now_s - fit_s > _NOBODY_S:
                self._break(f"no worker of the cluster at {self._address} could play for {_NOBODY_S:.0f} s")
            try:
                if self._client.status != "running":
                    raise ConnectionError("the connection was lost")
                seen = self._client.run_on_scheduler(
                    cluster_worker.look, self._name, callback_timeout=_LOST_S
                )
                answered_s = time.monotonic()
                silent = self._silent(seen)
                self._update(seen, silent)
                self._recover(silent)
                unchecked = seen.keys() - self._checked.keys()
                if not self._ready.is_set() and (silent.keys() >= unchecked or now_s > self._begin_s):
                    for worker in sorted(unchecked):
                        self._notes.append(f"the worker at {worker} gets no matches: it does not answer")
                    self._ready.set()
            except Exception as error:  # noqa: BLE001 - Dask raises many kinds; what counts is the silence
                patience_s = _BUSY_S if isinstance(error, TimeoutError) else _LOST_S
                if now_s - answered_s > patience_s and not self._stop.is_set():
                    self._break(f"the scheduler at {self._address} does not answer any more: {error}")

    def _ask(self, workers: Iterable[str], fn: Callable[..., Any], *args: Any) -> set[str]:
        """Run `fn` on workers; those where it succeeded. `TimeoutError` unless all answer in time."""
        how = {"workers": list(workers), "on_error": "ignore", "callback_timeout": _ANSWER_S}
        return set(self._client.run(fn, self._name, *args, **how))

    def _silent(self, seen: Mapping[str, Seen]) -> dict[str, str]:
        """The workers that do not answer, or take no batches, and why."""
        since_s = self._silence.look(
            {worker: beat for worker, (beat, _, _) in seen.items()}, time.monotonic()
        )
        patience_s = self._silent_s + len(seen) / 100
        silent = {
            worker: f"takes no matches: Dask says it is {status}"
            for worker, (_, status, _) in seen.items()
            if status in ("paused", "closing_gracefully")
        }
        for worker, silence_s in since_s.items():
            if silence_s > patience_s:
                since = time.strftime("%H:%M:%S", time.localtime(time.time() - silence_s))
                silent[worker] = f"has been silent since {since}"
        return silent

    def _update(self, seen: Mapping[str, Seen], silent: Mapping[str, str]) -> None:
        """Drop the workers that have left, take batches from those that have stalled, and take those that joined."""
        reports = {worker: report for worker, (_, _, report) in seen.items() if report is not None}
        with self._lock:
            for worker, place in self._ledger.places.copy().items():
                if worker not in reports or reports[worker]["process"] != place.process:
                    self._notes.append(f"the worker at {worker} was lost; others play its matches")
                    self._drop(self._ledger.leave(worker), WorkerLost(f"the worker at {worker} was lost"))
                elif (unfit := reports[worker]["unfit"]) is not None:
                    self._drop_unfit(worker, unfit)
            for worker in self._ledger.retired:
                if worker in silent or worker not in reports or self._is_late(reports[worker]):
                    text = f"the worker at {worker} did not send its matches back"
                    self._drop(self._ledger.taken_from(worker), TakenAway(text))
            for worker in self._ledger.well:
                if worker in silent:
                    self._stall(worker, silent[worker], TakenAway)
                elif self._is_late(reports[worker]):
                    self._stall(worker, "plays an overdue match", WorkerLost)
            for worker, report in reports.items():
                if self._checked.get(worker) != report["process"]:
                    self._take_in(worker, report)
            self._checked = {worker: report["process"] for worker, report in reports.items()}
            self.flush()

    def _is_late(self, report: Report) -> bool:
        """Whether a worker plays a batch that it still has for longer than its clocks allow."""
        most_s = self._limit_s + 2 * self._aim_s()
        return any(took_s > most_s and number in self._ledger.batches for number, took_s in report["playing"])

    def _stall(self, worker: str, why: str, error: type[WorkerLost | TakenAway]) -> None:
        self._notes.append(f"the worker at {worker} {why}; others play its matches")
        self._drop(self._ledger.stall(worker), error(f"the worker at {worker} {why}"))

    def _take_in(self, worker: str, report: Report) -> None:
        """Have a worker play that was checked, if it can."""
        if report["unfit"] is not None:
            self._drop_unfit(worker, report["unfit"])
            return
        self._ledger.join(worker, report["process"], report["threads"])
        if self._ready.is_set():
            text = f"joined, {counted(report['threads'], 'match')} at a time"
            self._notes.append(f"the worker at {worker} {text}")

    def _recover(self, silent: Mapping[str, str]) -> None:
        """Give batches again to workers that answer, once they have ended their bots.

        These could know dice that others have played with meanwhile.
        """
        with self._lock:
            back = self._ledger.stalled - silent.keys()
            number, processes = self._ledger.renewal(back), {self._ledger.places[one].process for one in back}
        with suppress(TimeoutError):
            for worker in self._ask(back, cluster_worker.renew, number, processes) if back else ():
                with self._lock:
                    self._ledger.renewed(worker, number)
                self._notes.append(f"the worker at {worker} answers again, and gets matches")


def _resolve(call: Call, value: Any) -> None:
    """Give a call its result or error, unless it was cancelled while it waited."""
    with suppress(InvalidStateError):
        (call.future.set_exception if isinstance(value, Exception) else call.future.set_result)(value)
