"""Keeps one referee process for each job, runs calls in them, and replaces those that die.

A referee runs one plain function at a time, or several tasks (async functions), as many as it has room for. What is
called, and what to do about a match whose referee died, is decided in `running`.

A `ProcessPoolExecutor` would not do. When one of its processes dies, it is broken as a whole: every match in every
process is lost, and nobody knows which of them killed its referee. It does not tell processes apart, so it cannot keep
each on a core, call a function in all of them, or give one to a match alone. And it cannot be ended at once. Those who
only execute records again (`verify`, `merge`, `mend`, exports, pages) use the same pool: they too must name the record
that killed a process, since a record may come from a stranger.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
import pickle
import select
import selectors
import threading
from abc import abstractmethod
from collections import deque
from concurrent.futures import Executor, Future
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Literal, ParamSpec, TypeVar

import attrs

from warpleague.errors import HarnessFault
from warpleague.league.referees.process import (
    ROOM,
    Forked,
    ForkServer,
    describe_status,
    read_frame,
    write_frame,
)
from warpleague.runner.host import shortage, usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    NewPool = Callable[[int, Literal["core", "none"]], "Pool"]
    """Makes a pool with a number of jobs (0: one for each usable core), each pinned to a core or not."""


# -- executor --------------------------------------------------------------------------------------------


class MatchExecutor(Executor):
    """An executor that plays matches in `jobs` processes (0: unknown)."""

    jobs: int = 0
    is_local = False
    """Whether these are processes of this machine, which keep its processors busy."""

    @cached_property
    def known_keys(self) -> set[bytes]:
        """The keys of the dice that a process may know, from this run or one before; who ends all bots clears it."""
        return set()

    @property
    def places(self) -> int:
        """How many matches are played at a time, as far as is known now; 0 if unknown."""
        return self.jobs

    @property
    def ahead(self) -> int:
        """How many matches to submit for each place: enough for the time in which results are synced to the disk."""
        return 8

    def submit_alone(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Like `submit`, but nothing else runs beside it in the same process: if that dies, this did it."""
        return self.submit(fn, *args, **kwargs)

    def flush(self) -> None:
        """Begin what was submitted: nothing more comes for now."""

    def broadcast(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each process, and wait until all have done so that may play matches later."""

    def new_notes(self) -> Sequence[str]:
        """Lines for the user about what happened to the processes since the last call."""
        return ()

    def when_room(self, call: Callable[[], None]) -> None:
        """Have `call` called, in any thread, when there may be room for more matches than before."""


class Adapter(MatchExecutor):
    """Any `executor` as one for matches: nothing more is known of it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As the executor does."""
        return self._executor.submit(fn, *args, **kwargs)


# -- pool ------------------------------------------------------------------------------------------------


P = ParamSpec("P")
T = TypeVar("T")
_MAX_FAILED_STARTS = 20
"""Deaths in a row without one answer between them, after which something is wrong with all referees."""
_MAX_TASKS = 512
"""Tasks at a time in all referees, where these say themselves for how many they have room."""
_END_S = 2.0
"""How long referees may take to end."""


@attrs.frozen(eq=False)
class _Call:
    """A call: as a task (an async function), and if `alone`, without other tasks in the same process."""

    future: Future[Any]
    work: tuple[Any, tuple[Any, ...], dict[str, Any]]
    is_task: bool = False
    alone: bool = True


class RefereeDied(HarnessFault):
    """The process that ran this call has died; the call may or may not have had effects outside it.

    When that has happened `most` times to a call, the call is taken to be the cause.
    """

    most: ClassVar[float] = 3


class WorkerLost(RefereeDied):
    """The machine that ran this call was lost, or has no referees any more. The call is seldom the cause."""

    most = 16


class TakenAway(RefereeDied):
    """The call was taken away from a machine that had gone silent, by this program: the call is never the cause."""

    most = inf


class PoolFailed(HarnessFault):
    """The pool can start no more referees. This call was not begun."""


class RemoteTraceback(Exception):
    """The traceback of an exception in a referee process; the cause of the exception that `result` raises."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0]) if self.args else ""


@attrs.define(eq=False)
class _Referee:
    """A referee process with our ends of its pipes; `most` is how many tasks it takes, `own` waits for it alone."""

    process: Forked
    calls: int
    answers: int
    core: int
    most: int
    running: dict[int, _Call] = attrs.Factory(dict)
    own: deque[_Call] = attrs.Factory(deque)

    def takes(self, call: _Call) -> bool:
        """Whether it can begin `call` now."""
        if self.own:
            return False
        return not self.running or not (call.alone or self.is_exclusive or len(self.running) >= self.most)

    @property
    def is_exclusive(self) -> bool:
        """Whether what it runs allows nothing beside it."""
        return any(call.alone for call in self.running.values())


def _reason(error: BaseException | None) -> str:
    return shortage(error) if isinstance(error, OSError) else str(error)


class Pool(MatchExecutor):
    """An executor with processes of this machine, which can be ended at once."""

    is_local = True

    @abstractmethod
    def kill(self) -> None:
        """End all calls at once."""


class RefereePool(Pool):
    """Runs calls in `jobs` referee processes (0: one for each usable core), each pinned to its own core.

    A referee runs at most `tasks` async functions at a time; these are matches, and with 0 it says itself how many of
    them it has room for. `modules` are imported before it starts.
    A dead referee's futures raise `RefereeDied`, and another referee takes its place. The referees die with
    this process, however it ends: their pipe ends, and on Linux the kernel kills them when the thread that
    started them does, which is why one thread of the pool starts them all and lives as long as the pool.
    They are sessions of their own, so that Ctrl-C in the terminal reaches only the scheduler.
    """

    def __init__(
        self,
        jobs: int = 0,
        affinity: Literal["core", "none"] = "core",
        tasks: int = 1,
        modules: Sequence[str] = (),
    ) -> None:
        cores = usable_cores()
        self.jobs = jobs or len(cores)
        self._cores = [cores[i % len(cores)] if affinity == "core" else -1 for i in range(self.jobs)]
        self._tasks = tasks
        self._modules = tuple(modules)
        self._on_room: Callable[[], None] | None = None
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: deque[_Call] = deque()
        self._broadcasts: deque[tuple[Future[list[Future[Any]]], Callable[[], object]]] = deque()
        self._closed = self._killed = self._ended = False
        self._wake_out, self._wake_in = os.pipe()
        os.set_blocking(self._wake_in, False)
        self._referees: list[_Referee] = []
        self._begun, self._started = threading.Event(), threading.Event()
        self._failure: BaseException | None = None
        self._failed_starts = 0
        # One thread starts all referees, hears all answers and ends with the pool. Were referees started by the thread
        # that submits, they would die with that: the kernel's signal (PR_SET_PDEATHSIG) comes at the end of the thread
        # that forked, not of its process. It is a daemon: else a forgotten shutdown would hang the interpreter's exit.
        self._thread = threading.Thread(target=self._serve, name="referee-pool", daemon=True)
        self._thread.start()
        self._begun.wait()
        if self._failure is not None:
            raise HarnessFault(
                f"no referee process can be started: {_reason(self._failure)}"
            ) from self._failure

    @property
    def places(self) -> int:
        """How many tasks run at a time if there are enough of them, as far as is known now."""
        return max(sum(referee.most for referee in list(self._referees)), self.jobs * max(self._tasks, 1))

    def when_room(self, call: Callable[[], None]) -> None:
        """Have `call` called, in the pool's thread, when there may be room for more tasks than before."""
        self._on_room = call

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn`, which pickle must find by name, called in a referee process. A task may run beside others."""
        is_task = inspect.iscoroutinefunction(fn)
        return self._take(_Call(Future(), (fn, args, kwargs), is_task, alone=not is_task))

    def submit_alone(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Like `submit`, but nothing else runs beside it in the same process: if that dies, this did it."""
        return self._take(_Call(Future(), (fn, args, kwargs), inspect.iscoroutinefunction(fn)))

    def broadcast(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each referee process, after what that does now, and wait until all have done so.

        One that dies meanwhile has not called it, nor has its successor.
        """
        calls: Future[list[Future[Any]]] = Future()
        with self._taking():
            self._broadcasts.append((calls, fn))
            self._wake()
        for future in calls.result():
            with contextlib.suppress(RefereeDied):
                future.result()

    def _take(self, call: _Call) -> Future[Any]:
        with self._taking():
            # Behind a call that waits for a referee there is nothing to do before an answer comes: no system call
            # then.
            if not self._waiting or self._waiting[0].future.cancelled():
                self._wake()
            self._waiting.append(call)
        return call.future

    @contextlib.contextmanager
    def _taking(self) -> Iterator[None]:
        with self._lock:
            if self._failure is not None:
                raise self._has_failed() from self._failure
            if self._closed:
                raise RuntimeError("the referee pool has been shut down")
            yield

    def _has_failed(self) -> PoolFailed:
        return PoolFailed(f"the referee pool has failed: {self._failure}")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; let the submitted ones end (`cancel_futures`: only the running ones)."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                for call in self._waiting:
                    call.future.cancel()
            self._wake()
        if wait:
            self._thread.join()

    def kill(self) -> None:
        """Kill all referees at once, and with them what they run; their futures raise `RefereeDied`."""
        with self._lock:
            self._closed = self._killed = True
            self._wake()
        self._thread.join()

    def processes(self) -> list[int]:
        """The process ids of the referees now alive."""
        self._started.wait()
        return [referee.process.pid for referee in list(self._referees)]

    def _wake(self) -> None:
        # Only under the lock, as is the closing: the number of a closed pipe may be that of another file by now, and a
        # byte would be written into a store or to a bot.
        if not self._ended:
            with contextlib.suppress(BlockingIOError):  # a full pipe wakes as well as a fuller one
                os.write(self._wake_in, b"!")

    # Below: the pool's thread

    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_out, selectors.EVENT_READ, None)
            try:
                self._server = ForkServer(self._modules)
                self._begun.set()
                for core in self._cores:
                    self._start(core, selector)
                self._started.set()
                while True:
                    # First: the remaining calls may be cancelled ones, which end without an answer to wait for. The
                    # other way round, a run that stopped for a full disk waited here for good.
                    self._hand_out(selector)
                    if not self._work_left():
                        break
                    for key, _ in selector.select():
                        if key.data is None:
                            os.read(self._wake_out, 4096)
                        elif key.data in self._referees:
                            self._on_readable(key.data, selector)
            except BaseException as error:  # noqa: BLE001 - the futures must learn of it, or their waiters hang
                self._failure = error
            finally:
                self._begun.set()
                self._end(selector)
                self._started.set()

    def _work_left(self) -> bool:
        with self._lock:
            busy = any(referee.running or referee.own for referee in self._referees)
            return not self._killed and (not self._closed or bool(self._waiting or self._broadcasts) or busy)

    def _start(self, core: int, selector: selectors.BaseSelector) -> None:
        their_calls, our_calls = os.pipe()
        our_answers, their_answers = os.pipe()
        try:
            process = self._forked(their_calls, their_answers, core)
        except BaseException:
            os.close(our_calls)
            os.close(our_answers)
            raise
        finally:
            # Only the referee may have these: else its pipe would not end when it dies, and nobody would notice.
            os.close(their_calls)
            os.close(their_answers)
        referee = _Referee(process, our_calls, our_answers, core, max(self._tasks, 1))
        self._referees.append(referee)
        selector.register(our_answers, selectors.EVENT_READ, referee)

    def _forked(self, calls: int, answers: int, core: int) -> Forked:
        while True:
            try:
                return self._server.start(calls, answers, core)
            except ConnectionError as error:
                self._count_death(
                    f"; the process that starts them {describe_status(self._server.close())}", error
                )
                self._server = ForkServer(self._modules)

    def _count_death(self, how: str, error: Exception | None = None) -> None:
        self._failed_starts += 1
        if self._failed_starts > _MAX_FAILED_STARTS:
            raise HarnessFault(f"{self._failed_starts} referee processes in a row died{how}") from error

    def _hand_out(self, selector: selectors.BaseSelector) -> None:
        self._share_out()
        # Search again each time: a dead referee is replaced by another one, which may also wait for work.
        while (ready := self._ready()) is not None:
            referee, call = ready
            try:
                packed = pickle.dumps(call.work, protocol=pickle.HIGHEST_PROTOCOL)
            except Exception as error:  # noqa: BLE001 - a call that cannot be pickled is its caller's affair
                # What pickle raises differs from one Python to the next, and may not say that it comes from pickle.
                failure = RuntimeError(f"the call cannot be pickled: {error}")
                failure.__cause__ = error
                call.future.set_exception(failure)
                continue
            # Before it is written: if the referee dies of it, the call is among those that fail.
            number = next(self._numbers)
            referee.running[number] = call
            try:
                write_frame(referee.calls, (number, call.is_task, packed))
            except (BrokenPipeError, ConnectionError):
                self._replace_dead(referee, selector)

    def _share_out(self) -> None:
        with self._lock:
            while self._broadcasts:
                made, fn = self._broadcasts.popleft()
                calls = [_Call(Future(), (fn, (), {})) for _ in self._referees]
                for referee, call in zip(self._referees, calls, strict=True):
                    call.future.set_running_or_notify_cancel()
                    referee.own.append(call)
                made.set_result([call.future for call in calls])

    def _ready(self) -> tuple[_Referee, _Call] | None:
        """A referee that can begin a call, and the call; None if there are not both."""
        for referee in self._referees:
            if referee.own and not referee.running:
                return referee, referee.own.popleft()
        with self._lock:
            while self._waiting:
                call = self._waiting[0]
                if call.future.cancelled():
                    self._waiting.popleft().future.set_running_or_notify_cancel()
                    continue
                free = [referee for referee in self._referees if referee.takes(call)]
                if not free and not (call.alone and self._reserve(call)):
                    return None
                self._waiting.popleft()
                if call.future.set_running_or_notify_cancel() and free:
                    return min(free, key=lambda referee: len(referee.running)), call
            return None

    def _reserve(self, call: _Call) -> bool:
        """Keep a referee that runs tasks for `call`, which must be alone.

        Else new tasks would take each place that gets free, and a match whose referee died would never be played
        again.
        """
        free = [referee for referee in self._referees if not (referee.own or referee.is_exclusive)]
        if free:
            min(free, key=lambda referee: len(referee.running)).own.append(call)
        return bool(free)

    def _on_readable(self, referee: _Referee, selector: selectors.BaseSelector) -> None:
        try:
            number, done, value, text = pickle.loads(read_frame(referee.answers))
        except (EOFError, OSError):
            self._replace_dead(referee, selector)
            return
        if number == ROOM:
            if not self._tasks:
                referee.most = max(1, min(value, _MAX_TASKS // self.jobs))
            if self._on_room is not None:
                self._on_room()
            return
        self._failed_starts = 0
        future = referee.running.pop(number).future
        if done:
            future.set_result(value)
        else:
            value.__cause__ = RemoteTraceback(text)
            future.set_exception(value)

    def _replace_dead(self, referee: _Referee, selector: selectors.BaseSelector) -> None:
        """Fail the calls of a dead referee and put another in its place."""
        selector.unregister(referee.answers)
        self._referees.remove(referee)
        status = self._stop(referee)
        for call in referee.running.values():
            call.future.set_exception(
                RefereeDied(f"the referee process {describe_status(status)} during a match")
            )
        for call in referee.own:
            if not call.is_task:  # its successor knows nothing that such a call could be about
                call.future.set_exception(RefereeDied(f"the referee process {describe_status(status)}"))
        self._count_death(f"; the last {describe_status(status)}")
        self._start(referee.core, selector)
        self._referees[-1].own.extend(call for call in referee.own if call.is_task)

    def _stop(self, referee: _Referee) -> int:
        # Killed first: the wait for a referee that closed its pipes but lives would not end.
        referee.process.kill()
        status = referee.process.wait()
        if referee.calls >= 0:
            os.close(referee.calls)
        os.close(referee.answers)
        return status

    def _end(self, selector: selectors.BaseSelector) -> None:
        selector.unregister(self._wake_out)
        with self._lock:
            self._closed = True
        self._share_out()  # so that these calls fail with their referees, and their callers do not hang
        idle = [referee for referee in self._referees if not referee.running]
        for referee in idle:
            # Its pipe ends, so it leaves by itself, and can end its bots; nothing is lost if it does not. All pipes
            # end before the first wait, so that referees leave side by side.
            os.close(referee.calls)
            referee.calls = -1
        for referee in idle:
            ended = select.poll()
            ended.register(referee.answers, 0)
            ended.poll(_END_S * 1000)  # its end closes the other end
        lost = RefereeDied if self._failure is None else WorkerLost
        for referee in self._referees:
            self._stop(referee)
            for call in referee.running.values():
                call.future.set_exception(lost("the referee process was stopped during a match"))
            for call in referee.own:
                call.future.set_exception(RefereeDied("the referee process was stopped"))
        self._referees.clear()
        if hasattr(self, "_server"):
            self._server.close()
        with self._lock:
            for call in self._waiting:
                if call.future.set_running_or_notify_cancel():
                    failed = None if self._failure is None else self._has_failed()
                    call.future.set_exception(failed or RefereeDied("the referee pool has ended"))
            self._waiting.clear()
            self._ended = True
            os.close(self._wake_out)
            os.close(self._wake_in)
