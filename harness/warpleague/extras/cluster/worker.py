"""Runs on a worker of a cluster: checks the worker, and plays batches of matches in referee processes.

A Dask worker may run several tasks at once, in threads of one process. A referee starts and ends processes, so it
needs a process of its own: each worker has a pool of them, like a league on one machine. Where a worker has more
threads than cores, each referee plays several matches at a time.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import pickle
import platform
import sys
import time
import traceback
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

import attrs
from distributed import WorkerPlugin, get_worker
from distributed.utils import sync

import warpleague
import warpline
from warpleague.errors import HarnessFault, WarpLeagueError
from warpleague.extras.cluster.bots import Archive, BotLacking, BotOnItsWay, WorkerBots
from warpleague.extras.cluster.protocol import Gate
from warpleague.league.referees.pool import PoolFailed, RefereePool
from warpleague.runner.bundle.cache import HELD
from warpleague.runner.doctor import check_level
from warpleague.runner.host import usable_cores
from warpleague.runner.play import play_beside
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from warpleague.match.spec import Level, MatchResult, MatchSpec


class Report(TypedDict):
    """What a worker tells of itself for a run.

    Its process, its threads, why it cannot play if so, and the numbers of the batches that it plays, each with the
    seconds for which it has played it.
    """

    process: str
    threads: int
    unfit: str | None
    playing: list[tuple[int, float]]


Seen: TypeAlias = "tuple[float, str, Report | None]"
"""A worker on the scheduler: the time of its last heartbeat, Dask's word for its state, and its report, if any."""
PREFIX: Final = "warpleague-"
"""The prefix of the names of plugins; the id of the client follows."""
_MAX_NAME: Final = 64  # characters
_UNFIT_S: Final = 1.0  # how long a batch lasts that found its worker unfit: until the client knows
_CLOCK_S: Final = time.time() - time.monotonic()


@cache
def this_program() -> dict[str, str]:
    """The program in this process: its version, what runs it, and the beginning of the SHA-256 of its source files."""
    digest = hashlib.sha256()
    for package in (warpleague, warpline):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            # Bots and pages come along in a wheel only, and do not play.
            if path.suffix in (".py", ".toml", ".json") and name.parts[0] != "shipped":
                digest.update(f"{name.as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    python = f"{platform.python_implementation()} {sys.version_info.major}.{sys.version_info.minor}"
    return {
        "warpleague": warpleague.__version__,
        "Python": f"{python} for {platform.system()} on {platform.machine()}",
        "the source of warpleague (changed, or of another commit)": digest.hexdigest()[:16],
    }


class Player(WorkerPlugin):
    """Prepares a Dask worker for the matches of one run, and has the referee processes that play them.

    Dask calls `setup` on each worker of the cluster, also on those that join later. From then on each heartbeat tells
    the scheduler what the check found, as a metric of the name `name`: this is state, and so it can be read at any
    time, whatever came and went before. `archives` are as in `WorkerBots`.
    """

    pool: RefereePool
    gate: Gate
    since_s: dict[int, float]
    """When each batch that is played was begun, by the monotonic clock."""

    def __init__(self, name: str, level: Level, archives: Mapping[str, Archive | None]) -> None:
        self.name, self.bots = name, WorkerBots(name, level, archives)
        self._level, self._program = level, this_program()

    async def setup(self, worker: Any) -> None:
        """Check the worker; in a thread, so that it stays responsive."""
        use_steady_clock()
        for handler in logging.getLogger("distributed").handlers:
            handler.addFilter(_without_traceback)
        self._threads, self._lock = int(worker.state.nthreads), asyncio.Lock()
        self.gate, self.since_s = Gate(worker.id), {}
        async with self._lock:
            try:
                self._unfit = await asyncio.to_thread(self._prepare, worker)
            except Exception as error:  # noqa: BLE001 - whatever it is, this worker cannot play
                self._unfit = f"its check failed: {error}"
        worker.metrics[self.name] = self._report
        await worker.heartbeat()  # or the client would learn of it some seconds later

    def _report(self, worker: Any) -> Report:
        now_s = time.monotonic()
        playing = [(number, now_s - since_s) for number, since_s in self.since_s.copy().items()]
        return {"process": worker.id, "threads": self._threads, "unfit": self._unfit, "playing": playing}

    async def retire(self, worker: Any, why: str) -> None:
        """Say that this worker can play no more."""
        self._unfit = why
        await worker.heartbeat()

    async def teardown(self, worker: Any) -> None:
        """End the referee processes, and with them the bots; what they used may be removed from the cache."""
        worker.metrics.pop(self.name, None)
        async with self._lock:
            self.gate.renew(inf, {worker.id})
            if hasattr(self, "pool"):
                await asyncio.to_thread(self.pool.kill)
        if not any(name.startswith(PREFIX) for name in worker.plugins if name != self.name):
            HELD.release()

    async def renew(self, number: int, processes: Collection[str]) -> None:
        """End all matches and bots, and have new referee processes, if this is news; see `Gate.renew`."""
        async with self._lock:
            if self.gate.renew(number, processes):
                await asyncio.to_thread(self.pool.kill)
                self.pool = await asyncio.to_thread(self._new_pool)

    def _new_pool(self) -> RefereePool:
        cores = len(usable_cores())
        jobs = min(self._threads, cores)
        # With fewer threads than cores, nobody knows which cores the other workers of this machine have.
        return RefereePool(jobs, "core" if jobs == cores else "none", tasks=-(-self._threads // jobs))

    def _prepare(self, worker: Any) -> str | None:
        """Why this worker cannot play, or None."""
        for what, wanted in self._program.items():
            if (here := this_program()[what]) != wanted:
                return f"{what} is {here} there, not {wanted}"
        self.pool = self._new_pool()
        try:
            # In a referee process, since there bots are started.
            self.pool.submit(check_level, self._level).result()
            return self.bots.check(worker)
        except (WarpLeagueError, OSError) as error:
            return str(error)


def _without_traceback(record: logging.LogRecord) -> bool:
    """Have a worker log a lost connection in one line: it ends because its scheduler did."""
    if record.exc_info and isinstance(error := record.exc_info[1], OSError):
        record.msg, record.args, record.exc_info = f"{record.getMessage()}: {error}", (), None
    return True


def play_batch(name: str, process: str, number: int, packed: bytes, most_s: float) -> bytes:
    """Make the pickled calls one after the other, and begin none after `most_s` seconds: a Dask task.

    All get the same pool of the plugin `name`, so that they end with it, also if there is a new one. Returns, pickled,
    the seconds it took, and what each call that was made returned or raised, with the traceback. A worker that lacks
    a bot makes no more calls of the batch; if it cannot be had, or no more referees, the worker is unfit from now on.
    Raises `HarnessFault` if this batch is not for this worker, or was taken from it meanwhile: then calls fail since
    the pool has ended.
    """
    began_s = time.monotonic()
    worker = get_worker()
    player: Any = worker.plugins[name]
    pool = player.pool  # before the gate is asked: `renew` changes it after that
    if not player.gate.begin(number, process):
        raise HarnessFault("this batch is not for this worker")
    done: list[tuple[Any, str]] = []
    player.since_s[number] = began_s
    try:
        for fn, args, kwargs in pickle.loads(packed):
            try:
                done.append((fn(pool, *args, **kwargs), ""))
            except BotOnItsWay:
                break
            except (BotLacking, PoolFailed) as error:
                sync(worker.loop, player.retire, worker, str(error))
                time.sleep(_UNFIT_S)
                break
            except Exception as error:  # noqa: BLE001 - it is raised where the result is taken
                done.append((error, traceback.format_exc()))
            if not player.gate.is_open(number):
                raise HarnessFault("this batch was taken from this worker")
            if time.monotonic() - began_s > most_s:
                break
    finally:
        del player.since_s[number]
    return pickle.dumps((time.monotonic() - began_s, done), protocol=pickle.HIGHEST_PROTOCOL)


def play_here(pool: RefereePool, spec: MatchSpec, name: str, log: bool = False) -> MatchResult:
    """Play `spec` in a referee process, with the bots of the plugin `name`.

    With `log`, the result holds what the bots printed and were sent. Raises what playing and `WorkerBots.find` raised.
    """
    worker = get_worker()
    bots: WorkerBots = worker.plugins[name].bots  # type: ignore[attr-defined]
    bundles = [bots.find(seat.digest) for seat in spec.seats]
    seats = zip(spec.seats, bundles, strict=True)
    here = attrs.evolve(
        spec,
        seats=tuple(attrs.evolve(seat, run=bundle.run, cwd=bundle.cwd) for seat, bundle in seats),
        machine=machine_of(worker),
    )
    return pool.submit(play_beside, here, log).result()  # type: ignore[return-value]


def machine_of(worker: Any) -> str:
    """How the machine of a Dask worker is named in records: by the name the worker was given, or else its host."""
    given = str(worker.name)
    # A worker without a name is named after its address.
    return safe(platform.node() if "://" in given else given)[:_MAX_NAME]


async def take_all(name: str, dask_worker: Any) -> None:
    """On a worker: take all bots of the plugin `name` into the cache; `BotLacking` if one cannot be had."""
    await dask_worker.plugins[name].bots.take_all()


async def broadcast_here(name: str, fn: Callable[[], object], dask_worker: Any) -> None:
    """On a worker: call `fn` in each referee process of the plugin `name`."""
    await asyncio.to_thread(dask_worker.plugins[name].pool.broadcast, fn)


async def renew(name: str, number: int, processes: Collection[str], dask_worker: Any) -> None:
    """On a worker: end all bots of the plugin `name`, and play nothing that was sent before; see `Gate.renew`."""
    await dask_worker.plugins[name].renew(number, processes)


def look(name: str, dask_scheduler: Any) -> dict[str, Seen]:
    """On the scheduler: the workers of the cluster by address, for the run `name`."""
    return {
        worker.address: (worker.last_seen, worker.status.name, worker.metrics.get(name))
        for worker in dask_scheduler.workers.values()
    }


def use_steady_clock() -> None:
    """Have what Dask does later in this process go by a clock that nobody sets.

    Else a clock that is set back by an hour ends heartbeats and messages for an hour (`PeriodicCallback` of Tornado).
    """

    def clock() -> float:
        return time.monotonic() + _CLOCK_S

    loops: Any = import_module("tornado.ioloop")  # comes with distributed
    messages: Any = import_module("distributed.batched")
    loops.IOLoop.time, messages.time = staticmethod(clock), clock


def take_over(dask_scheduler: Any) -> list[str]:
    """On the scheduler: leave it to the client who is silent; the names of the plugins of runs whose client has gone.

    Dask itself drops workers that were silent for some minutes, by a clock that may be set.
    """
    use_steady_clock()
    dask_scheduler.worker_ttl = inf
    logging.getLogger("distributed.worker").setLevel(logging.WARNING)  # or it logs each look
    names = [name for name in dask_scheduler.worker_plugins if name.startswith(PREFIX)]
    return [name for name in names if name.removeprefix(PREFIX) not in dask_scheduler.clients]
