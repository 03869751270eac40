"""Runs on a worker of a cluster: checks the worker, takes bots, and plays batches of matches in referee processes.

A Dask worker may run several tasks at once, in threads of one process. A referee starts and ends processes, so it
needs a process of its own: each worker has a pool of them, like a league on one machine. Where a worker has more
threads than cores, each referee plays several matches at a time.
"""

from __future__ import annotations

import asyncio
import hashlib
import pickle
import platform
import sys
import time
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
from distributed import WorkerPlugin, get_worker

import warpleague
import warpline
from warpleague.errors import HarnessFault, WarpLeagueError
from warpleague.league.referees.pool import RefereePool, usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpleague.match.spec import Level, MatchResult, MatchSpec

PREFIX: Final = "warpleague-"
"""With it begin the names of plugins; behind it stands the id of the client."""


@attrs.frozen
class Program:
    """The program that plays: its version, the SHA-256 of its source files, and what runs it."""

    version: str
    source: str
    python: str
    machine: str


@cache
def this_program() -> Program:
    """The program in this process."""
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
    machine = f"{platform.system()} {platform.machine()}"
    return Program(warpleague.__version__, digest.hexdigest(), python, machine)


class Player(WorkerPlugin):
    """Prepares a Dask worker for the matches of one run, and has the referee processes that play them.

    Dask calls `setup` on each worker of the cluster, also on those that join later. A worker that can play announces
    one unit of the resource `name` for each of its threads; whether it can is logged under the topic of that name.
    `archives` are the built bots by digest, None for a bot that cannot travel.
    """

    def __init__(self, name: str, level: Level, archives: Mapping[str, bytes | None]) -> None:
        self.name = name
        self.pool: RefereePool | None = None
        self._level, self._archives, self._program = level, archives, this_program()

    async def setup(self, worker: Any) -> None:
        """Check the worker and give it the bots that its cache lacks; in a thread, so that it stays responsive."""
        threads = int(worker.state.nthreads)
        try:
            unfit = await asyncio.to_thread(self._prepare, threads)
        except Exception as error:  # noqa: BLE001 - whatever it is, this worker cannot play
            unfit = f"its check failed: {error}"
        await announce(worker, self.name, threads, unfit)

    async def teardown(self, worker: Any) -> None:  # noqa: ARG002 - the run may go on elsewhere
        """End the referee processes, and with them the bots."""
        if self.pool is not None:
            await asyncio.to_thread(self.pool.kill)

    def _prepare(self, threads: int) -> str | None:
        """Why this worker cannot play, or None."""
        from warpleague.runner.doctor.promises import check_level

        here, wanted = this_program(), self._program
        for what, ours, theirs in (
            ("warpleague", here.version, wanted.version),
            ("Python", here.python, wanted.python),
            ("the machine", here.machine, wanted.machine),
        ):
            if ours != theirs:
                return f"{what} is {ours} there, not {theirs}"
        if here.source != wanted.source:
            return (
                "the source of warpleague was changed there, or is from another commit: its digest is "
                f"{here.source[:12]}, not {wanted.source[:12]}"
            )
        cores = len(usable_cores())
        jobs = min(threads, cores)
        # With fewer threads than cores, nobody knows which cores the other workers of this machine have.
        self.pool = RefereePool(jobs, "core" if jobs == cores else "none", tasks=-(-threads // jobs))
        try:
            # In a referee process, since there bots are started.
            self.pool.submit(check_level, self._level).result()
            for digest, archive in self._archives.items():
                self._take(digest, archive)
        except (WarpLeagueError, OSError) as error:
            return str(error)
        finally:
            self._archives = {}  # some are large
        return None

    def _take(self, digest: str, archive: bytes | None) -> None:
        from warpleague.runner.bundle.bundle import find
        from warpleague.runner.bundle.transfer import receive

        if find(digest, level=self._level) is None:
            if archive is None:
                raise HarnessFault(f"it lacks the bot with digest {digest[:12]}, which cannot be sent")
            receive(digest, archive)
            find(digest)  # its interpreter must be here, too


async def announce(worker: Any, name: str, threads: int, unfit: str | None = None) -> None:
    """Offer the threads of a Dask worker as the resource `name`, unless it is `unfit`, and log that for the client."""
    if unfit is None:
        await worker.set_resources(**{name: threads})
    worker.log_event(name, {"worker": worker.contact_address, "threads": threads, "unfit": unfit})


def play_batch(packed: bytes, most_s: float) -> bytes:
    """Make the pickled calls one after the other, and begin none after `most_s` seconds: a Dask task.

    Returns, pickled, the seconds it took, and for each call that was made whether it returned, what it returned or
    raised, and the traceback.
    """
    began_s = time.monotonic()
    done: list[tuple[bool, Any, str]] = []
    for fn, args, kwargs in pickle.loads(packed):
        try:
            done.append((True, fn(*args, **kwargs), ""))
        except Exception as error:  # noqa: BLE001 - it is raised where the result is taken
            done.append((False, error, traceback.format_exc()))
        if time.monotonic() - began_s > most_s:
            break
    return pickle.dumps((time.monotonic() - began_s, done), protocol=pickle.HIGHEST_PROTOCOL)


def play_here(name: str, spec: MatchSpec, log: bool = False) -> MatchResult:
    """Play `spec` in a referee process of the plugin `name`, with the bots of this worker's cache.

    With `log`, the result holds what the bots printed and were sent. Raises what playing raised.
    """
    from warpleague.runner.bundle.bundle import find
    from warpleague.runner.play import play_beside

    seats = []
    for seat in spec.seats:
        bundle = find(seat.digest, level=spec.level)
        if bundle is None:
            raise HarnessFault(f"{seat.bot} ({seat.digest[:12]}) is missing from the cache of this worker")
        seats.append(attrs.evolve(seat, run=bundle.run, cwd=bundle.cwd))
    here = attrs.evolve(spec, seats=tuple(seats))
    return _pool(name).submit(play_beside, here, log).result()  # type: ignore[return-value]


def call_everywhere(name: str, fn: Callable[[], object]) -> None:
    """Call `fn` in each referee process of the plugin `name`: a Dask task."""
    _pool(name).everywhere(fn)


def _pool(name: str) -> RefereePool:
    plugin: Any = get_worker().plugins[name]
    pool: RefereePool | None = plugin.pool
    if pool is None:
        raise HarnessFault("this worker was not checked before its first match")
    return pool


def look(
    name: str, silent_s: float, limit_s: float, dask_scheduler: Any
) -> tuple[dict[str, float], dict[str, str], list[str]]:
    """On the scheduler: the state of the workers, and the tasks of the run `name` that need another worker.

    Returns the silence of each worker in seconds; for each stalled worker the reason; and the keys of the tasks of
    stalled workers, and of those that no worker takes. A worker is stalled if it is silent for longer than `silent_s`
    (more in a large cluster, where workers report less often), or if one of its tasks takes longer than `limit_s`.
    A stalled worker gets no more tasks until it has recovered. Dask gives the scheduler in the parameter of that name.
    """
    silent_s += len(dask_scheduler.workers) / 100
    silence: dict[str, float] = {}
    stalled: dict[str, str] = {}
    keys: list[str] = []
    for worker in dask_scheduler.workers.values():
        silence[worker.address] = time.time() - worker.last_seen
        ours = {task.key for task in worker.processing if str(task.key).startswith(name)}
        if silence[worker.address] > silent_s:
            stalled[worker.address] = "silent"
        elif any(took_s > limit_s and task.key in ours for task, took_s in worker.executing.items()):
            stalled[worker.address] = "late"
        is_stalled = worker.address in stalled
        keys += ours if is_stalled else ()
        places = 0 if is_stalled else worker.nthreads
        if worker.resources.get(name, places) != places:
            dask_scheduler.add_resources(worker.address, {name: places})
    keys += [task.key for task in dask_scheduler.unrunnable if str(task.key).startswith(name)]
    return silence, stalled, keys


def left_behind(dask_scheduler: Any) -> list[str]:
    """On the scheduler: the names of the plugins of runs whose client has gone."""
    names = [name for name in dask_scheduler.worker_plugins if name.startswith(PREFIX)]
    return [name for name in names if name.removeprefix(PREFIX) not in dask_scheduler.clients]
