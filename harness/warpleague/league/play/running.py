"""Runs a season: plays the scheduled matches that are not stored yet, and commits each result as it comes.

`pool` or `cluster` provides the processes; a `RunWatcher` shows the progress.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections import Counter, deque
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from functools import partial
from itertools import chain, groupby, islice, zip_longest
from operator import attrgetter
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from warpleague.errors import BadInput, HarnessFault, ServiceFailed
from warpleague.games import load_game
from warpleague.league.referees.pool import (
    Adapter,
    MatchExecutor,
    Pool,
    PoolFailed,
    RefereeDied,
    RefereePool,
)
from warpleague.league.results.faulted import judge, voided
from warpleague.league.results.league import League, left_of, progress_of
from warpleague.league.schedule.schedule import Course
from warpleague.runner.confine.cgroups import memory_support, most_memory
from warpleague.runner.host import usable_cores
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from warpleague.league.season.fixture import Fixture
    from warpleague.match.spec import MatchResult, MatchSpec, SeatFault, SeatSpec
    from warpleague.runner.bot.logs import LogFolder

    Play = Callable[[MatchSpec], MatchResult]


# -- what a run tells, and what it is told ---------------------------------------------------------------


@attrs.frozen
class Void:
    """A match that the harness failed to play: nobody loses, and the next run tries it again."""

    fixture: Fixture
    error: str
    trace: str


@attrs.frozen
class MatchFault:
    """A fault in a match of a run: whose, in which seat, and what it was."""

    fixture: Fixture
    seat: int
    bot: str
    fault: SeatFault

    def to_json(self) -> dict[str, Any]:
        """The fault as a JSON object; `n` is the number of the record's line."""
        where = {"number": self.fixture.number, "match": self.fixture.id, "seat": self.seat, "bot": self.bot}
        return where | attrs.asdict(self.fault)


@attrs.frozen
class RunReport:
    """The report of a run: matches that count in the end, stored before it, played by it, void; and how it ended.

    `total` is None where results that are missing decide it. `stored` are those of `total` that are stored now.
    `stopped`: by the user. `failure`: why it was given up, or None. `complete`: all matches are stored. `cpu_ms` and
    `wait_ms`: how long the bots of the matches played computed in their decisions, and waited for a processor.
    `fault`: the one at which the run stopped, if it was to stop at a fault.
    """

    total: int | None
    before: int
    stored: int
    played: int
    void: tuple[Void, ...]
    stopped: bool
    failure: str | None
    elapsed_s: float
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    fault: MatchFault | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to play."""
        return self.stored == self.total


class RunWatcher:
    """Receives the events of a run; `run_league` calls every method in its own thread."""

    tick_s: float = 0.25
    """How often `tick` is called, in seconds."""

    def started(self, league: League, total: int | None, before: int, jobs: int) -> None:
        """The run begins: `before` of the `total` matches (None: results decide that) are stored already."""

    def submitted(self, fixture: Fixture) -> None:
        """A match waits for a referee; referees take matches in this order."""

    def finished(self, fixture: Fixture, result: MatchResult) -> None:
        """A match has been played and is in the store."""

    def failed(self, void: Void) -> None:
        """A match is void."""

    def stopping(self) -> None:
        """The user asked to stop: the matches being played are the last."""

    def note(self, text: str) -> None:
        """Something about where matches are played that the user should know."""

    def tick(self) -> None:
        """Some time has passed."""


@attrs.frozen(kw_only=True)
class StopWhen:
    """Reasons to stop a run before all is played; the matches being played then end, and are stored.

    If all is played, the season is over and its secret becomes public, unless `more_may_come`.
    """

    matches: int | None = None
    """So many matches were played."""
    after_s: float | None = None
    """So many seconds have passed."""
    asked: Callable[[], bool] | None = None
    """It returns true; it is called a few times a second."""
    bot_faults: bool = False
    """A bot has faulted."""
    bots_are_killed: bool = False
    """Something else on the machine has killed several bots. Not where strangers play: a bot can kill itself."""
    more_may_come: bool = False
    """Bots or deals may still be entered, so the end of what there is now is not that of the season."""


# -- a run -----------------------------------------------------------------------------------------------


_GUESSED = 8
"""How many matches a job will play at a time, before it is known how many it does."""
_REFILL = 4
"""More matches are begun once only this part of those that wait or are played is left."""
_MAX_VOID = 10
"""Void matches in a row, after which the rest would be void too."""
_COMMIT_S = 0.05
"""How long a result may wait for others, to share one sync of the disk.

A commit with its sync takes 3 to 5 ms, of twenty matches together not more: less than 0.4 ms for each (measured).
"""


@attrs.define
class _InFlight:
    fixture: Fixture
    spec: MatchSpec
    deaths: Counter[type[RefereeDied]] = attrs.Factory(Counter)
    """How often the match was lost in each way that may be its own doing."""


def run_league(
    league: League,
    *,
    executor: Executor | Callable[..., Pool] = RefereePool,
    jobs: int | None = None,
    play: Play | None = None,
    watcher: RunWatcher | None = None,
    logs: LogFolder | None = None,
    stop_when: StopWhen = StopWhen(),
) -> RunReport:
    """Play the missing matches of `league`, which must be open to run, and commit each match as it ends.

    `executor` is any executor, best a `MatchExecutor`, or makes a pool for this run: of the config's jobs, affinity
    and matches for each job, but with no more jobs than matches are left. `jobs` says how many matches are played at
    once (default: what the executor says itself at that moment, or else the config). `play` is what is submitted
    (default: the runner's `play_in_series`, or `play_beside` in a pool for this run). Matches with the same dice are
    never played at once. Between them all bots that wait for a match are ended, in all processes of the executor.
    `logs` takes the output of the bots, if `play` returns that, as the default one does where `logs` are given.

    In the main thread the first SIGINT or SIGTERM lets the matches being played end, the second one kills them.
    `stop_when` has more reasons to stop.

    Raises `BadInput` if a match cannot be played as asked (a sandbox that is not there, say).
    """
    course = _course_of(league)
    first = list(course.missing())
    before, total = progress_of(league, course)
    own = None
    if not isinstance(executor, Executor):
        own = _own_pool(league, jobs, None if total is None else total - before, executor)
        executor, jobs = own, None
    if not isinstance(executor, MatchExecutor):
        executor = Adapter(executor)
    watcher = watcher or RunWatcher()
    run = _Run(
        league=league,
        executor=executor,
        jobs=jobs,
        play=play or _default_play(beside=own is not None, log=logs is not None),
        watcher=watcher,
        logs=logs,
        queue=_Queue(league, course, first, executor.known_keys),
        stop=_Stop(stop_when, watcher.tick_s),
        total=total,
        before=before,
    )
    executor.when_room(run.wake)
    killed = False
    try:
        with _signals(run):
            return run.go()
    except KeyboardInterrupt:
        killed = True
        run.take_back()
        run.collect_ended()
        run.commit()
        return run.report()
    finally:
        if own is not None:
            own.kill() if killed else own.shutdown(cancel_futures=True)


def _course_of(league: League) -> Course:
    """What is left to play, in the order in which to play it."""
    if league.schedule.choices is None:
        return Course(left_of(league))
    from warpleague.league.results.ladders import going_on  # numpy, which other leagues do without

    return going_on(league)


def _own_pool(league: League, jobs: int | None, left: int | None, new_pool: Callable[..., Pool]) -> Pool:
    """The pool of a run in which this number of matches is left, if known."""
    wanted = fitting_jobs(league, jobs)
    # A referee without a match would cost its start for nothing.
    return referee_pool(league, wanted if left is None else max(min(wanted, left), 1), new_pool)


def _default_play(*, beside: bool, log: bool) -> Play:
    # It takes long to load: meanwhile the process that starts referees loads the same.
    from warpleague.runner.play import play_beside, play_in_series

    play: Any = play_beside if beside else play_in_series
    return cast("Play", partial(play, log=True) if log else play)


def referee_pool(league: League, jobs: int, new_pool: Callable[..., Pool] = RefereePool) -> Pool:
    """The processes in which the matches of a league are played, `jobs` of them; who asks for them ends them."""
    config = league.config
    tasks = 0 if config.run.matches_per_job == "auto" else config.run.matches_per_job
    game = type(load_game(league.season.game)).__module__
    modules = ("warpleague.runner.play", "warpleague.league.referees.process", game)
    return new_pool(jobs, config.run.affinity, tasks, modules)


def fitting_jobs(league: League, wanted: int | None) -> int:
    """How many matches to play at once: so many, else as the config says, else as cores and memory allow.

    Raises `BadInput` if the bots of so many matches may take more memory than there is.
    """
    fits = _jobs_in_memory(league)
    jobs = (league.config.run.jobs if wanted is None else wanted) or min(len(usable_cores()), max(fits, 1))
    if jobs > fits:
        each = _match_mb(league)
        remedy = f"play fewer matches at once (--jobs {fits})" if fits else "use a machine with more"
        raise BadInput(
            f"the bots of {counted(jobs, 'match', 'matches')} at once may take {jobs * each:,} MiB of memory together "
            f"({each:,} MiB a match), and this machine, or its control group, has {most_memory() >> 20:,} MiB: "
            f"{remedy}, or lower memory_mb in the manifests of the bots"
        )
    return jobs


def _match_mb(league: League) -> int:
    """What the bots of one match may take together, in MiB: those of the season that may take most."""
    season = league.season
    return sum(sorted((bot.memory_mb for bot in season.bots), reverse=True)[: season.players])


def _jobs_in_memory(league: League) -> int:
    """For how many matches at once this machine has the memory that their bots may take."""
    # Else a bot could have the kernel kill another one, or itself, while both are within their limits.
    if league.config.rules.level == "none":
        return sys.maxsize
    # Before there are referees, since these start in this process's control group and cannot move it.
    memory_support()
    return (most_memory() >> 20) // max(_match_mb(league), 1)


@attrs.define(kw_only=True, eq=False)
class _Run:
    """One run of a league; see `run_league`."""

    league: League
    executor: MatchExecutor
    jobs: int | None
    play: Play
    watcher: RunWatcher
    logs: LogFolder | None
    queue: _Queue
    stop: _Stop
    total: int | None
    before: int
    played: int = 0
    cpu_ms: float = 0.0
    wait_ms: float = 0.0
    void: list[Void] = attrs.Factory(list)
    _void_in_a_row: int = 0
    _voided: Counter[str] | None = None  # by services that failed, by bot, once that was read
    _unsaved: list[tuple[_InFlight, MatchResult]] = attrs.Factory(list)
    _commit_at: float = float("inf")
    _in_flight: dict[Future[MatchResult], _InFlight] = attrs.Factory(dict)
    _ended: SimpleQueue[Future[MatchResult] | None] = attrs.Factory(SimpleQueue)

    def __attrs_post_init__(self) -> None:
        self.queue.window = self._window

    @property
    def places(self) -> int:
        """How many matches are played at once: workers of a cluster come and go, and referees take more or fewer."""
        return self.jobs or self.executor.places or self.league.config.run.jobs or 1

    def _window(self) -> int:
        """How many matches will be played at once in the phases to come, where that has to be guessed."""
        guessed = self.league.config.run.matches_per_job == "auto"
        return max(self.places, _GUESSED * self.executor.jobs) if guessed else self.places

    def go(self) -> RunReport:
        self.watcher.started(self.league, self.total, self.before, self.places)
        cores = len(usable_cores())
        if self.executor.is_local and self.executor.jobs > cores:
            self.watcher.note(
                f"{counted(self.executor.jobs, 'match')} at once share {counted(cores, 'processor')}: "
                f"bots that compute will wait for each other, and nothing ends sooner than with --jobs {cores}"
            )
        announced = False
        while True:
            if self._commit_is_due():
                self._begin()
            if self.stop.is_due():
                self.take_back()  # what is being played ends, and is stored
                if self.stop.interrupts and not announced:
                    announced = True
                    self.watcher.stopping()
            if not self._in_flight:
                break
            self._collect(self._wait())
            self._pass_on_notes()
            self.watcher.tick()
        self._pass_on_notes()
        self.league.store.files.check()
        if self.stop.wrong is not None:
            raise self.stop.wrong
        report = self.report()
        if report.complete and not self.stop.when.more_may_come:
            self.league.store.publish_secret()
        return report

    def _pass_on_notes(self) -> None:
        for note in self.executor.new_notes():
            self.watcher.note(note)

    def report(self) -> RunReport:
        total, stored = self.total, self.before + self.played
        if self.league.schedule.format.ahead is not None:  # results decide
            stored, total = progress_of(self.league, self.queue.course)
        return RunReport(
            total=total,
            before=self.before,
            stored=stored,
            played=self.played,
            void=tuple(self.void),
            stopped=self.stop.interrupts > 0,
            failure=self.stop.failure,
            elapsed_s=time.monotonic() - self.stop.began_s,
            cpu_ms=self.cpu_ms,
            wait_ms=self.wait_ms,
            fault=self.stop.fault,
        )

    def interrupt(self) -> None:
        """Handle a signal: the first one stops the run, the second one is raised."""
        self.stop.interrupts += 1
        if self.stop.interrupts > 1:
            raise KeyboardInterrupt
        self.wake()

    def wake(self) -> None:
        """Have the run check what there is to do now; may be called in a signal handler and in other threads."""
        # A `SimpleQueue` has no lock that the interrupted code could be holding.
        self._ended.put(None)

    def _commit_is_due(self) -> bool:
        """Whether to store results and begin matches now; to do so seldom, many share one sync of the disk."""
        if self.stop.is_due() or not self._in_flight or time.monotonic() >= self._commit_at:
            return True
        few = self.executor.ahead * self.places // _REFILL
        return not self.queue.is_dry and len(self._in_flight) <= few

    def _begin(self) -> None:
        """Store what has been played, and begin as many matches as may begin now."""
        self.commit(begin=True)
        if not self._in_flight and self.queue.is_blocked and not self.stop.is_due():
            self._end_idle_bots()
            self.commit(begin=True)
        self.executor.flush()

    def take_back(self) -> None:
        """Take back what waits in the executor, whose dice no bot has seen."""
        cancelled = [future for future in self._in_flight if future.cancel()]
        if cancelled:
            self.league.store.withdraw(self._in_flight.pop(future).fixture.id for future in cancelled)

    def _taken(self, flights: list[_InFlight]) -> Iterator[tuple[Fixture, tuple[SeatSpec, ...]]]:
        """Take the matches to begin now out of the queue into `flights`.

        They are more than are played at once, so that a referee that has ended one finds the next, while results are
        synced.
        """
        under_way = len(self._in_flight)
        room = self.executor.ahead * self.places - under_way
        if self.stop.when.matches is not None:
            room = min(room, self.stop.when.matches - self.played - under_way)
        while len(flights) < room and not self.stop.is_due() and (flight := self.queue.next()) is not None:
            self.queue.known_keys.add(flight.spec.key)
            flights.append(flight)
            yield flight.fixture, flight.spec.seats

    def _end_idle_bots(self) -> None:
        """End all bots that may know the dice of a match that was played."""
        from warpleague.runner.play import end_idle

        try:
            self.executor.broadcast(end_idle)
        except (BrokenExecutor, HarnessFault, RuntimeError, OSError) as error:
            self.stop.failure = f"the bots that wait for their next match cannot be ended: {error}"
        self.queue.known_keys.clear()

    def _submit(self, flight: _InFlight) -> None:
        # A match whose referee died is played without others beside it: if it dies again, this match is the cause.
        # Else one match that kills its referee would cost those beside it their tries, too, and end the run for their
        # sake.
        submit = self.executor.submit_alone if flight.deaths else self.executor.submit
        try:
            future = submit(self.play, flight.spec)
        except (BrokenExecutor, HarnessFault, RuntimeError) as error:
            self.stop.failure = f"the executor accepts no more matches: {error}"
            self.league.store.withdraw([flight.fixture.id])
            return
        self._in_flight[future] = flight
        future.add_done_callback(self._ended.put)
        self.watcher.submitted(flight.fixture)

    def _wait(self) -> list[Future[MatchResult]]:
        """The matches that have ended, after a short wait at most."""
        ended: list[Future[MatchResult] | None] = []
        try:
            patience_s = max(min(self.stop.tick_s, self._commit_at - time.monotonic()), 0.0)
            ended.append(self._ended.get(timeout=patience_s))
            while True:
                ended.append(self._ended.get_nowait())
        except Empty:
            return [future for future in ended if future is not None and future in self._in_flight]

    def collect_ended(self) -> None:
        """Take the results that are there now."""
        self._collect([future for future in self._in_flight if future.done()])

    def _collect(self, ended: list[Future[MatchResult]]) -> None:
        for future in ended:
            flight = self._in_flight.pop(future)
            if future.cancelled():
                self.league.store.withdraw([flight.fixture.id])
                continue
            error = future.exception()
            if error is not None:
                self._failed(flight, error)
            elif future.result().id != flight.fixture.id:
                self._failed(flight, AssertionError(f"the result of another match: {future.result().id}"))
            elif (failure := self._service_failed(flight, future.result())) is not None:
                self._failed(flight, failure)
            else:
                if not self._unsaved:
                    self._commit_at = time.monotonic() + _COMMIT_S
                self._unsaved.append((flight, future.result()))
                self._void_in_a_row = 0
                self.stop.note(_first_fault(flight, future.result()))
                self.stop.note_kills(_killed_by_others(flight, future.result()), len(self.league.season.bots))

    def _service_failed(self, flight: _InFlight, result: MatchResult) -> ServiceFailed | None:
        """Why a match is void, if it is because a bot's service failed."""
        most = self.league.season.void
        if most and any(fault.kind == "service" for seat in result.faults for fault in seat):
            store = self.league.store
            self._voided = voided(store) if self._voided is None else self._voided
            return judge(store, self._voided, most, flight.spec, result)
        return None

    def commit(self, *, begin: bool = False) -> None:
        """Store what has been played, and report it only after that; with `begin`, begin as many as may begin now.

        What begins is noted in the same transaction, before any bot sees its dice: a match that was begun when the run
        died has other dice the next time. Formats that go by results see those of this transaction.
        """
        # Emptied first: if storing fails, the end of the run does not try to store the same once more.
        unsaved, self._unsaved, self._commit_at = self._unsaved, [], float("inf")
        flights: list[_InFlight] = []
        self.played += len(unsaved)
        begun: Iterable[tuple[Fixture, tuple[SeatSpec, ...]]] = self._taken(flights) if begin else ()
        if not unsaved:
            begun = list(begun)
        if unsaved or begun:
            results = [(flight.fixture, flight.spec.seats, result) for flight, result in unsaved]
            self.league.store.add(results, begun)
        while flights and not self.stop.is_due():
            self._submit(flights.pop(0))
        if flights:
            self.league.store.withdraw(flight.fixture.id for flight in flights)
        self._tell(unsaved)

    def _tell(self, saved: list[tuple[_InFlight, MatchResult]]) -> None:
        """Tell of matches that are stored."""
        for seat in (times for _, result in saved for times in result.times):
            self.cpu_ms += seat.cpu_ms
            self.wait_ms += seat.wait_ms
        for flight, result in saved:
            if self.logs is not None and result.logs:
                self.logs.keep(result.id, [seat.bot for seat in flight.spec.seats], result.logs)
            self.watcher.finished(flight.fixture, result)

    def _failed(self, flight: _InFlight, error: BaseException) -> None:
        fixture, stop = flight.fixture, self.stop
        match error:
            case BadInput():
                stop.wrong = stop.wrong or error
                self.league.store.withdraw([fixture.id])
                return
            case BrokenExecutor() | PoolFailed():
                stop.failure = f"the executor broke: {error}"
                return
            case RefereeDied() if stop.is_due():
                return
            case RefereeDied() if flight.deaths[type(error)] + 1 < error.most:
                self.league.store.void(fixture.id, flight.spec.seats, str(error))
                self.queue.again(flight, error)
                return
            case RefereeDied():
                stop.failure = (
                    f"match {fixture.number} ({fixture.id}): {error}, {error.most} times; "
                    "memory may be short (see the kernel's log), or the match kills its referee"
                )
        from warpleague.runner.doctor import first_cause

        cause = first_cause(error)  # trio's nurseries put even a single error into a group
        void = Void(fixture, f"{type(cause).__name__}: {cause}", _trace(error))
        if not isinstance(error, ServiceFailed):  # `judge` has noted that
            self.league.store.void(fixture.id, flight.spec.seats, void.error)
        self.void.append(void)
        self.watcher.failed(void)
        self._void_in_a_row += 1
        if self._void_in_a_row >= _MAX_VOID and stop.failure is None:
            stop.failure = f"{_MAX_VOID} matches in a row were void; the last: {void.error}"


def _first_fault(flight: _InFlight, result: MatchResult) -> MatchFault | None:
    """The first fault of a match; None if there was none."""
    faults = [(fault.n, seat, fault) for seat, faults in enumerate(result.faults) for fault in faults]
    if not faults:
        return None
    _, seat, fault = min(faults, key=lambda one: one[0])
    return MatchFault(flight.fixture, seat, flight.spec.seats[seat].bot, fault)


def _killed_by_others(flight: _InFlight, result: MatchResult) -> set[str]:
    """The bots of a match that neither the referee nor a limit killed."""
    return {
        seat.bot
        for seat, faults in zip(flight.spec.seats, result.faults, strict=True)
        if any(fault.killed_by_others for fault in faults)
    }


def _trace(error: BaseException) -> str:
    """The traceback of where it happened, in the referee if that is known."""
    cause = error.__cause__
    if cause is not None and type(cause).__name__.endswith("RemoteTraceback"):
        return str(cause).strip()
    return "".join(traceback.format_exception(error)).strip()


@contextmanager
def _signals(run: _Run) -> Iterator[None]:
    """Route SIGINT and SIGTERM to `run`, where a program may: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(*_: Any) -> None:
        run.interrupt()

    old = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, previous in old.items():
            signal.signal(number, previous)


# -- the queue of a run ----------------------------------------------------------------------------------
# Which match may begin now, such that no bot plays dice that it has seen.
#
# All seat orders of a deal have the same dice, and so have all bots of a solo league. A process that has played one
# of them may know the dice in the next one: its bots stay alive between two matches, if they are reusable. So the
# executor remembers which dice its processes may know. A match on one of these waits until no match is being
# played; then all bots that wait for their next match are ended, everywhere, and nobody knows anything any more.
# To do this seldom, matches of one deal are put far apart: first one match of each of many deals is played, then the
# second one of each, and so on. Tables, ids and numbers keep the order of the schedule.
#
# Where bots wait for their next match, later matches pass those that wait. Before, processors were idle until the
# slowest match had ended; now ladders of few such bots with short matches play a third more in the same time.
# Elsewhere to end the bots costs nothing, and the order of the schedule is kept.


_MAX_KNOWN = 100_000
"""Keys that are remembered; where no dice come twice, nothing else would forget them."""
_MAX_WAITING = 64
"""Matches that wait while later ones are played first."""


class _Queue:
    """The matches of `course` that are left to play; `first` are those that were missing at the beginning.

    `known_keys` are the keys of the dice that a process may know.
    """

    def __init__(
        self, league: League, course: Course, first: list[Iterable[Fixture]], known_keys: set[bytes]
    ) -> None:
        self.course = course
        self.known_keys = known_keys
        self.is_dry = False
        """Whether the last call of `next` found nothing that may begin."""
        self._attempts = league.store.attempts()
        self.window: Callable[[], int] = lambda: 1
        """How many matches will be played at once in the phases to come."""
        self._season = league.season
        self._waiting: deque[_InFlight] = deque()
        self._max_waiting = _MAX_WAITING if any(bot.reusable for bot in league.season.bots) else 1
        self._left = self._in_order(first)

    def _in_order(self, batches: Iterable[Iterable[Fixture]]) -> Iterator[Fixture | None]:
        """The matches left, in the order in which to play them; None while the next ones go by results."""
        while True:
            any_played = False
            for missing in batches:
                for fixture in in_phases(missing, lambda: self.window()):
                    any_played = True
                    yield fixture
            if self.course.over:
                return
            if not any_played:
                yield None
            batches = self.course.missing()  # results may have come since

    def next(self) -> _InFlight | None:
        """The match to play next; None while that has to wait, or if nothing is left.

        Those that wait come first once nobody knows their dice any more; else later ones would pass them for good.
        """
        self.is_dry = False
        while len(self.known_keys) < _MAX_KNOWN:
            for flight in self._waiting:
                if flight.spec.key not in self.known_keys:
                    self._waiting.remove(flight)
                    return flight
            fixture = next(self._left, None) if len(self._waiting) < self._max_waiting else None
            if fixture is None:
                break
            self._waiting.append(_InFlight(fixture, self._spec(fixture)))
        self.is_dry = True
        return None

    def again(self, flight: _InFlight, error: RefereeDied) -> None:
        """Play a match again whose referee died, with other dice."""
        self.is_dry = False
        self._attempts[flight.fixture.id] += 1
        if error.most < float("inf"):
            flight.deaths[type(error)] += 1
        self._waiting.appendleft(_InFlight(flight.fixture, self._spec(flight.fixture), flight.deaths))

    def _spec(self, fixture: Fixture) -> MatchSpec:
        return self._season.spec(fixture.id, fixture.deal, fixture.seats, self._attempts[fixture.id])

    @property
    def is_blocked(self) -> bool:
        """Whether the remaining matches wait for the end of processes that may know their dice."""
        return bool(self._waiting) or len(self.known_keys) >= _MAX_KNOWN


DEALS_A_JOB: Final = 32
"""Deals in a window for each match that is played at once: so much longer are phases than the wait at their ends."""

_MAX_FIXTURES: Final = 20_000
"""Matches in a window, since it is in memory; but always one deal for each match at once."""


def in_phases(fixtures: Iterable[Fixture], jobs: Callable[[], int]) -> Iterator[Fixture]:
    """The fixtures, given in schedule order, in the order in which to play them.

    `jobs` returns the number of matches at the same time, and is called at the beginning of each window. Matches on
    one deal follow each other in the schedule.
    """
    deals = (list(group) for _, group in groupby(fixtures, attrgetter("deal")))
    while window := list(_window(deals, jobs())):
        yield from (fixture for fixture in chain(*zip_longest(*window)) if fixture is not None)


def _window(deals: Iterator[list[Fixture]], jobs: int) -> Iterator[list[Fixture]]:
    count = 0
    for number, deal in enumerate(islice(deals, DEALS_A_JOB * jobs), 1):
        yield deal
        count += len(deal)
        if number >= jobs and count >= _MAX_FIXTURES:
            break


# -- the end of a run ------------------------------------------------------------------------------------


_MAX_KILLED = 3
"""Bots that something else killed, after which it is not the bots' doing."""


@attrs.define
class _Stop:
    """What has happened that ends a run before all is played."""

    when: StopWhen
    tick_s: float
    began_s: float = attrs.field(factory=time.monotonic)
    interrupts: int = 0
    failure: str | None = None
    """Why no more matches can be played."""
    wrong: BadInput | None = None
    """Why a match cannot be played as asked."""
    fault: MatchFault | None = None
    """The fault that ended the run."""
    killed: set[str] = attrs.field(factory=set)
    """The bots that something else killed."""
    _asked_at: float = 0.0
    _said_yes: bool = False

    def is_due(self) -> bool:
        """Whether no more matches are to begin."""
        now_s = time.monotonic()
        late = self.when.after_s is not None and now_s - self.began_s >= self.when.after_s
        if self.when.asked is not None and not self._said_yes and now_s >= self._asked_at:
            self._asked_at = now_s + self.tick_s
            self._said_yes = self.when.asked()
        late = late or self._said_yes
        ended = self.failure is not None or self.wrong is not None or self.fault is not None
        return late or self.interrupts > 0 or ended

    def note(self, fault: MatchFault | None) -> None:
        """Stop at a fault, if that is wanted; of several, the one of the first match in the schedule counts."""
        if not self.when.bot_faults or fault is None:
            return
        if self.fault is None or fault.fixture.number < self.fault.fixture.number:
            self.fault = fault

    def note_kills(self, bots: Iterable[str], entered: int) -> None:
        """Stop once something else has killed several of the `entered` bots: it will go on, and cost points."""
        self.killed.update(bots)
        if (
            self.when.bots_are_killed
            and self.failure is None
            and len(self.killed) >= min(_MAX_KILLED, entered)
        ):
            self.failure = (
                f"SIGKILL ended {', '.join(sorted(self.killed))}, and it came neither from the referee nor at a limit "
                "of memory: something else on this machine kills bots, and each kill counts as a crash. Look for "
                '"out of memory" in the kernel\'s log (dmesg), and for whoever kills processes here'
            )
