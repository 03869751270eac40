"""Simulates a cluster of many workers that play nothing: some freeze, some die, some join late.

All run in this process: a Dask scheduler, workers, and the executor of `league run --cluster`. A worker answers a
match after a drawn time. Checks that each match has one result, and compares the rate of results with the rate of
the workers while they are well: the sum of the times in which each worker is alive and not frozen, divided by the
mean time of a match.

Scheduler, client and workers have threads of their own, so the processor time of each is known: while nothing is
played, and for each match. Scheduler and client are one thread each in earnest, too: the message says which of them
would be the limit, and at how many workers. The processor time of the workers is that of their machines.
"""

import argparse
import asyncio
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

import attrs
import dask.config
from distributed import Client, Scheduler, Status, Worker, get_worker
from distributed.utils import LoopRunner

from warpleague.extras.cluster.executor import ClusterExecutor
from warpleague.extras.cluster.worker import Player
from warpleague.league.referees.pool import PoolFailed, RefereeDied

PATIENCE_S = 600.0
"""How long a scenario waits, in seconds: the machine may be busy."""
QUIET = {
    "distributed.comm.timeouts.connect": "600s",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.tick.interval": "10s",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
}
"""Workers that share a process do not each measure it many times a second."""
FROZEN: set[str] = set()
"""The addresses of the workers whose matches do not end."""
PLAYED: Counter[str] = Counter()
STARTING = threading.Lock()
"""Dask imports parts of itself when a cluster starts, which two threads must not do at once."""


@attrs.frozen
class Match:
    """A match to answer after some seconds."""

    id: str
    seconds: float


class Bots:
    """The bots of a worker in the place of its pool: they know the dice of all matches that they began."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.ended = threading.Event()
        self.failed = False

    def broadcast(self, fn: Callable[[], object]) -> None:
        """Do what a pool of referees would do."""
        fn()
        self.known.clear()

    def kill(self) -> None:
        """End all matches and bots."""
        self.ended.set()


class Fit(Player):
    """Takes every worker as it is."""

    def __init__(self) -> None:
        self.name = "stand-in"

    def _new_pool(self) -> Any:
        return Bots()

    def _prepare(self, _worker: Any) -> None:
        self.pool = self._new_pool()


def answer(bots: Bots, match: Match) -> str:
    """Answer after the time of the match; on a frozen worker only once its bots have ended."""
    if bots.ended.is_set():
        raise RuntimeError("the pool has ended")
    if bots.failed:
        raise PoolFailed("no more referees")
    bots.known.add(match.id)
    worker = get_worker().contact_address
    time.sleep(match.seconds)
    if worker in FROZEN:
        bots.ended.wait()
    PLAYED[match.id] += 1
    return match.id


class Machines:
    """A Dask scheduler in a thread, and its workers in another."""

    def __init__(self, workers: int, protocol: str) -> None:
        self.protocol = protocol
        self.runners = {"scheduler": LoopRunner(), "workers": LoopRunner()}
        for runner in self.runners.values():
            runner.start()
        self.workers: dict[int, Any] = {}
        self.ever = workers
        self.scheduler: Any = self.runners["scheduler"].run_sync(self._new_scheduler)
        self.runners["workers"].run_sync(self._start, range(workers))

    async def _new_scheduler(self) -> Any:
        host = None if self.protocol == "inproc" else "127.0.0.1"
        return await Scheduler(protocol=f"{self.protocol}://", host=host, dashboard_address="127.0.0.1:0")

    def scale(self, workers: int) -> None:
        """Start workers until there have been so many."""
        new = range(self.ever, workers)
        self.ever = workers
        self.runners["workers"].loop.add_callback(self._start, new)

    async def _start(self, names: Iterable[int]) -> None:
        beats = []
        for name in names:
            self.workers[name] = await Worker(self.scheduler.address, name=name, nthreads=1, memory_limit=0)
            beats.append(self.workers[name].periodic_callbacks["heartbeat"])
            beats[-1].stop()  # or the heartbeats of many would leave no time to start more
        for beat in beats:
            beat.start()

    def close(self) -> None:
        """End all."""
        self.runners["workers"].run_sync(self._close_workers)
        self.runners["scheduler"].run_sync(self.scheduler.close)
        for runner in self.runners.values():
            runner.stop()

    async def _close_workers(self) -> None:
        await asyncio.gather(*(worker.close(nanny=False) for worker in self.workers.values()))


class Simulation:
    """A cluster in this process with an executor on it."""

    def __init__(self, workers: int, protocol: str = "inproc", **how: Any) -> None:
        dask.config.set(QUIET)
        for name in ["distributed", *logging.root.manager.loggerDict]:
            if name.split(".")[0] == "distributed":
                logging.getLogger(name).setLevel(logging.CRITICAL)
        with STARTING:
            self.cluster = Machines(workers, protocol)
            self.client = Client(self.cluster.scheduler.address, set_as_default=False)
        self.executor = ClusterExecutor(self.client, Fit(), **how)
        self.executor.begin()
        self.futures: dict[str, Future[str]] = {}
        self.lost: list[Match] = []
        self.notes: list[str] = []
        self.ended: dict[str, float] = {}
        """When each match ended, by the monotonic clock."""

    def used_s(self) -> dict[str, float]:
        """The processor time of the scheduler, of the client with this thread that calls it, and of the workers."""

        async def loop() -> int:
            return threading.get_ident()

        threads = {thread.name: thread.ident or 0 for thread in threading.enumerate()}
        scheduler = cpu_s(self.cluster.runners["scheduler"].run_sync(loop))
        me = threading.get_ident()
        own = {me, threads.get("cluster-watch", me), self.client.sync(loop)}
        client = sum(cpu_s(thread) for thread in own)
        return {"scheduler": scheduler, "client": client, "workers": time.process_time() - scheduler - client}

    @property
    def workers(self) -> list[Any]:
        """The workers alive, in the order in which they came."""
        return [worker for worker in self.cluster.workers.copy().values() if worker.status.name == "running"]

    def bots(self, worker: Any) -> Bots:
        """The bots that a worker has now."""
        pool: Bots = worker.plugins["stand-in"].pool
        return pool

    def submit(self, match: Match) -> None:
        """Have a match played."""
        future = self.executor.submit(answer, match)
        self.futures[match.id] = future
        future.add_done_callback(lambda ended: self._end(ended, match))

    def _end(self, future: Future[str], match: Match) -> None:
        if future.cancelled():
            return
        if isinstance(future.exception(), RefereeDied):
            self.lost.append(match)
        elif future.exception() is None:
            self.ended[future.result()] = time.monotonic()

    def have_ended(self, matches: int) -> bool:
        """Whether so many matches have ended; those whose worker was lost are played again, as a league does."""
        while self.lost:
            self.submit(self.lost.pop())
        self.executor.flush()
        return len(self.ended) >= matches

    def play(self, matches: int, seconds: float) -> None:
        """Have so many matches played."""
        for number in range(matches):
            self.submit(Match(str(number), seconds))
        self.executor.flush()

    def said(self, text: str) -> bool:
        """Whether a note says this."""
        self.notes += self.executor.new_notes()
        return any(text in note for note in self.notes)

    def freeze(self, worker: Any, *, silent: bool = True) -> None:
        """Freeze a worker: its matches do not end, and if `silent`, it does not report to the scheduler."""
        FROZEN.add(worker.contact_address)
        if silent:
            worker.loop.add_callback(worker.periodic_callbacks["heartbeat"].stop)

    def pause(self, worker: Any) -> None:
        """Have Dask say that a worker takes no matches."""
        worker.loop.add_callback(setattr, worker, "status", Status.paused)

    def thaw(self, worker: Any) -> None:
        """Have a frozen worker that was paused go on."""
        FROZEN.remove(worker.contact_address)
        worker.loop.add_callback(setattr, worker, "status", Status.running)

    def kill(self, worker: Any) -> None:
        """Cut a worker off at once, so that it ends."""
        worker.loop.add_callback(worker.batched_stream.comm.abort)

    def end(self) -> None:
        """End everything."""
        frozen = {worker.contact_address for worker in self.workers}
        for worker in self.workers:
            self.bots(worker).ended.set()
        self.executor.shutdown()
        self.client.close()
        self.cluster.close()
        FROZEN.difference_update(frozen)


def cpu_s(thread: int) -> float:
    """The processor time that a thread has taken."""
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


def wait_until(holds: Callable[[], object]) -> None:
    """Return once `holds` is true; AssertionError if it does not become true."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s, "waited too long"
        time.sleep(0.01)


@contextmanager
def simulated(*args: Any, **how: Any) -> Iterator[Simulation]:
    """A simulation, which is ended."""
    simulation = Simulation(*args, **how)
    try:
        yield simulation
    finally:
        simulation.end()


def come_and_go() -> None:
    """Two workers freeze, two die, three join late: each match has one result."""
    with simulated(10, silent_s=2.0) as simulation:
        simulation.play(300, 0.1)
        wait_until(lambda: len(simulation.ended) > 20)
        first, second, third, fourth, *_ = simulation.workers
        for worker in (first, second):
            simulation.freeze(worker)
        for worker in (third, fourth):
            simulation.kill(worker)
        simulation.cluster.scale(13)
        wait_until(lambda: simulation.have_ended(300))
        wait_until(lambda: simulation.said("joined, 1 match at a time"))
        wait_until(lambda: simulation.said("was lost; others play its matches"))
        wait_until(lambda: simulation.said("has been silent since"))


def overdue() -> None:
    """A match that takes longer than its clocks allow is played elsewhere, also where its worker reports as always."""
    with simulated(2, limit_s=1.0) as simulation:
        simulation.freeze(simulation.workers[0], silent=False)
        simulation.play(8, 0.01)
        wait_until(lambda: simulation.have_ended(8))
        assert simulation.said("plays an overdue match; others play its matches")


def shared() -> None:
    """With shared dice others play the matches of a stalled worker, and it ends its bots before it plays again.

    It is stalled for Dask pauses it: on a busy machine any worker may be silent for some seconds.
    """
    with simulated(2, silent_s=PATIENCE_S) as simulation:
        executor, (frozen, other) = simulation.executor, simulation.workers
        simulation.freeze(frozen, silent=False)
        simulation.play(20, 0.01)
        wait_until(lambda: simulation.bots(frozen).known)
        simulation.pause(frozen)
        wait_until(lambda: simulation.said("others play its matches"))
        wait_until(lambda: simulation.have_ended(20))
        executor.broadcast(time.monotonic)
        knowing = simulation.bots(frozen)
        assert knowing.known
        assert not simulation.bots(other).known
        simulation.thaw(frozen)
        wait_until(lambda: simulation.said("answers again, and gets matches"))
        assert simulation.bots(frozen) is not knowing, "it plays on with bots that know dice"
        assert executor.jobs == 2
        simulation.kill(other)
        for number in range(20, 40):
            simulation.submit(Match(str(number), 0.01))
        wait_until(lambda: executor.flush() or all(future.done() for future in simulation.futures.values()))
        lost = [future for future in simulation.futures.values() if future.exception() is not None]
        assert len(simulation.ended) + len(lost) == 40
        assert all("was lost" in str(future.exception()) for future in lost)


def registrations(workers: int) -> None:
    """After three times so many registrations, more than Dask remembers events, those that come still get matches.

    Dask remembers 1,000; here as many in proportion.
    """
    dask.config.set({"distributed.admin.low-level-log-length": 5 * workers // 2})
    with simulated(workers) as simulation:
        for more in (workers, 2 * workers):
            for worker in simulation.workers[1:]:
                simulation.kill(worker)
            wait_until(lambda: simulation.executor.jobs == 1)
            simulation.cluster.scale(workers + more)
            wait_until(lambda: simulation.executor.jobs > workers)
        simulation.play(workers, 0.01)
        wait_until(lambda: simulation.have_ended(workers))


def pre_empted() -> None:
    """Where a worker is taken and another one comes all the time, all matches end."""
    with simulated(6) as simulation:
        simulation.play(60, 0.4)
        for many in range(7, 27):
            simulation.kill(simulation.workers[0])
            simulation.cluster.scale(many)
            wait_until(partial(simulation.have_ended, 2 * (many - 6)))
        wait_until(lambda: simulation.have_ended(60))
        assert simulation.said("was lost; others play its matches")


def no_referees() -> None:
    """A worker that can start no more referees gets no more matches, and loses none of those that it had."""
    with simulated(2) as simulation:
        failed, _ = simulation.workers
        simulation.play(40, 0.05)
        wait_until(lambda: simulation.have_ended(4))
        simulation.bots(failed).failed = True
        wait_until(lambda: len(simulation.ended) == 40)
        assert simulation.said(f"the worker at {failed.contact_address} gets no matches: no more referees")
        assert simulation.executor.jobs == 1


def have_reported(since: dict[Any, float]) -> bool:
    """Whether workers were heard, as the scheduler knows them, since these last times."""
    return all(worker.last_seen != last_s for worker, last_s in since.items())


def clock_is_set() -> None:
    """Workers go on to report when the clock is set back, and when it is set forward, Dask drops none of them."""
    with simulated(2) as simulation:
        scheduler, wall = simulation.cluster.scheduler, time.time
        workers = list(scheduler.workers.values())
        time.time = lambda: wall() - 3600
        try:
            for _ in range(2):
                wait_until(partial(have_reported, {worker: worker.last_seen for worker in workers}))
        finally:
            time.time = wall
        for worker in workers:
            worker.last_seen -= 3600
        simulation.cluster.runners["scheduler"].run_sync(scheduler.check_worker_ttl)
        assert list(scheduler.workers.values()) == workers


SCENARIOS: dict[str, Callable[[], None]] = {
    "come-and-go": come_and_go,
    "overdue": overdue,
    "shared": shared,
    "registrations": partial(registrations, 40),
    "1200-registrations": partial(registrations, 400),
    "pre-empted": pre_empted,
    "no-referees": no_referees,
    "clock-is-set": clock_is_set,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--scenario", nargs="+", choices=SCENARIOS, help="only these small ones, side by side, without a rate"
    )
    parser.add_argument("--workers", type=int, default=200, help="at the beginning and late")
    parser.add_argument("--frozen", type=int, default=5)
    parser.add_argument("--dying", type=int, default=10)
    parser.add_argument("--late", type=int, default=20)
    parser.add_argument(
        "--mean-s",
        type=float,
        help="a match takes half to one and a half of it (4 s, or more if this process could not play so many)",
    )
    parser.add_argument("--for-s", type=float, default=90.0)
    parser.add_argument("--idle-s", type=float, default=10.0, help="so long nothing is played first")
    parser.add_argument("--protocol", choices=("inproc", "tcp"), default="inproc", help="between the parts")
    parser.add_argument("--least", type=float, default=0.9, help="share of the rate of the well workers")
    args = parser.parse_args()
    args.mean_s = args.mean_s or max(4.0, args.workers / 50)
    if args.scenario:
        with ThreadPoolExecutor() as threads:
            for done in [threads.submit(SCENARIOS[name]) for name in args.scenario]:
                done.result()
        return
    began_s, early = time.monotonic(), args.workers - args.late
    simulation = Simulation(early, args.protocol)
    passed_s = time.monotonic() - began_s
    cpu = 100 * time.process_time() / passed_s
    print(f"{early} workers started in {passed_s:.0f} s, with {cpu:.0f} % of a processor", flush=True)
    try:
        sys.exit(Measurement(simulation, args).run())
    except BrokenExecutor as error:
        cpu = 100 * time.process_time() / (time.monotonic() - began_s)
        sys.exit(f"{error}. The limit is this process, which got {cpu:.0f} % of a processor")
    finally:
        simulation.end()


class Measurement:
    """Workers that freeze, die and join late, and the rate of results meanwhile."""

    def __init__(self, simulation: Simulation, args: argparse.Namespace) -> None:
        self.simulation, self.args, self.random = simulation, args, Random(1)
        self.sent, self.started = 0, args.workers - args.late
        self.came = dict.fromkeys(simulation.workers, 0.0)
        self.went: dict[Any, float] = {}

    def run(self) -> str | None:
        """Measure, and print what was found; what is wrong, or None."""
        simulation, args = self.simulation, self.args
        idle = self.shares(simulation.used_s(), time.monotonic(), args.idle_s)
        began_s, used_s = time.monotonic(), simulation.used_s()
        warm_s = 2 * args.mean_s  # until then workers have not ended a match
        draw = self.random.uniform
        events = sorted(
            [(draw(0.1, 0.4) * args.for_s, "freeze") for _ in range(args.frozen)]
            + [(draw(0.1, 0.6) * args.for_s, "kill") for _ in range(args.dying)]
            + [(draw(0.1, 0.6) * args.for_s, "join") for _ in range(args.late)]
        )
        while (now_s := time.monotonic() - began_s) < args.for_s:
            self.fill()
            while events and events[0][0] < now_s:
                self.happen(events.pop(0)[1], now_s)
            for worker in simulation.workers:
                self.came.setdefault(worker, now_s)
            time.sleep(0.05)
        passed_s = time.monotonic() - began_s
        shares = self.shares(used_s, began_s)
        rate = sum(at_s - began_s > warm_s for at_s in list(simulation.ended.values())) / (passed_s - warm_s)
        well_s = sum(
            max(0.0, self.went.get(worker, passed_s) - max(since_s, warm_s))
            for worker, since_s in self.came.items()
        )
        best = well_s / args.mean_s / (passed_s - warm_s)
        wait_until(lambda: simulation.have_ended(self.sent))
        print(
            f"{len(self.came)} workers, {args.late} of them late: {len(simulation.ended)} of {self.sent} matches have "
            f"a result, {sum(count > 1 for count in PLAYED.values())} were played twice; {rate:.1f} a second, "
            f"{100 * rate / best:.0f} % of {best:.1f}"
        )
        kinds = Counter(" ".join(note.split()[4:7]) for note in simulation.executor.new_notes())
        print("notes:", ", ".join(f"{count} times '{kind} ...'" for kind, count in kinds.items()))
        print(self.limit(idle, shares, rate, best), flush=True)
        assert all(future.result() == number for number, future in simulation.futures.items())
        return f"below {args.least:.0%}" if rate < args.least * best else None

    def fill(self) -> None:
        """Have enough matches under way, and lost ones played again."""
        for _ in range(self.sent - len(self.simulation.ended), 3 * self.simulation.executor.jobs):
            seconds = self.random.uniform(0.5, 1.5) * self.args.mean_s
            self.simulation.submit(Match(str(self.sent), seconds))
            self.sent += 1
        self.simulation.have_ended(self.sent)

    def happen(self, what: str, now_s: float) -> None:
        """Have a worker freeze, die or join."""
        if what == "join":
            self.started += 1
            self.simulation.cluster.scale(self.started)
            return
        worker = self.random.choice([worker for worker in self.came if worker not in self.went])
        self.went[worker] = now_s
        (self.simulation.freeze if what == "freeze" else self.simulation.kill)(worker)

    def shares(self, before_s: dict[str, float], since_s: float, wait_s: float = 0.0) -> dict[str, float]:
        """The share of a processor that each part has taken since then, after a wait."""
        time.sleep(wait_s)
        passed_s = time.monotonic() - since_s
        return {part: (s - before_s[part]) / passed_s for part, s in self.simulation.used_s().items()}

    def limit(self, idle: dict[str, float], shares: dict[str, float], rate: float, best: float) -> str:
        """Which part is the limit, from the share of a processor of each while nothing is played, and at a rate."""
        here = f"this process, which got {100 * sum(shares.values()):.0f} % of a processor"
        if not rate:
            return f"nothing was played in time: the limit is {here}"
        workers, mean_s = len(self.came), self.args.mean_s
        match_s = {part: max(taken - idle[part], 0.0) / rate for part, taken in shares.items()}
        full = {part: idle[part] / workers + s / mean_s for part, s in match_s.items()}
        limit = max(["scheduler", "client"], key=lambda part: full[part])
        told = ", ".join(
            f"{part} {100 * idle[part]:.1f} % and {1e3 * s:.2f} ms" for part, s in match_s.items()
        )
        text = (
            f"of a processor while nothing is played, and for each match: {told}. The limit is the {limit}: with a "
            f"core of its own it serves about {1 / full[limit]:.0f} workers with matches of {mean_s:g} s"
        )
        if rate < self.args.least * best:
            text += f". Here it was {here}"
        return text


if __name__ == "__main__":
    main()
