"""Keeps one referee process for each job, runs calls in them, and replaces those that die.

What is called, and what to do about a match whose referee died, is decided in `running`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, ParamSpec, TypeVar

import attrs

from warpleague.errors import HarnessFault
from warpleague.league.worker import read_frame, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")
_MOST_STILLBORN = 20  # deaths in a row, without one answer between them: something is wrong with all
_Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


class RefereeDied(HarnessFault):
    """The process that ran this call has died; the call may or may not have had effects outside it."""


class RemoteTraceback(Exception):
    """The traceback of an exception in a referee process; the cause of the exception that `result` raises."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0]) if self.args else ""


@attrs.define(eq=False)
class _Referee:
    process: subprocess.Popen[bytes]
    calls: BinaryIO
    answers: BinaryIO
    core: int
    future: Future[Any] | None = None
    own: deque[tuple[Future[Any], _Call]] = attrs.Factory(deque)


def usable_cores() -> list[int]:
    """The cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class RefereePool(Executor):
    """Runs calls in `jobs` referee processes (0: one for each usable core), each kept to its own core.

    A dead referee's future raises `RefereeDied`, and another referee takes its place. The referees die with
    this process, however it ends: their pipe ends, and on Linux the kernel kills them when the thread that
    started them does, which is why one thread of the pool starts them all and lives as long as the pool.
    They are sessions of their own, so that Ctrl-C in the terminal reaches only the scheduler.
    """

    def __init__(self, jobs: int = 0, affinity: Literal["core", "none"] = "core") -> None:
        cores = usable_cores()
        self.jobs = jobs or len(cores)
        self._cores = [cores[i % len(cores)] if affinity == "core" else -1 for i in range(self.jobs)]
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Any], _Call]] = deque()
        self._spread: deque[tuple[Future[list[Future[Any]]], _Call]] = deque()
        self._closed = self._killed = self._ended = False
        self._wake_out, self._wake_in = os.pipe()
        os.set_blocking(self._wake_in, False)
        self._referees: list[_Referee] = []
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._stillborn = 0
        # A daemon thread: were the interpreter to wait for it, a forgotten shutdown would hang the exit.
        self._thread = threading.Thread(target=self._serve, name="referee-pool", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise HarnessFault(f"no referee process can be started: {self._failure}") from self._failure

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn`, a function that pickle finds by name, called in a referee process."""
        future: Future[T] = Future()
        self._take(self._waiting, (future, (fn, args, kwargs)))
        return future

    def everywhere(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each referee process, after what that does now, and wait until all have done so.

        One that dies meanwhile has not called it, nor has its successor.
        """
        spread: Future[list[Future[Any]]] = Future()
        self._take(self._spread, (spread, (fn, (), {})))
        for future in spread.result():
            with contextlib.suppress(RefereeDied):
                future.result()

    def _take(self, queue: deque[tuple[Future[T], _Call]], call: tuple[Future[T], _Call]) -> None:
        with self._lock:
            if self._failure is not None:
                raise HarnessFault(f"the referee pool has failed: {self._failure}") from self._failure
            if self._closed:
                raise RuntimeError("the referee pool has been shut down")
            queue.append(call)
            self._wake()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; let the submitted ones end (`cancel_futures`: only the running ones)."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                for future, _ in self._waiting:
                    future.cancel()
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
        return [referee.process.pid for referee in list(self._referees)]

    def _wake(self) -> None:
        # Only under the lock, as is the closing: the number of a closed pipe may be that of another file by now.
        if not self._ended:
            with contextlib.suppress(BlockingIOError):  # a full pipe wakes as well as a fuller one
                os.write(self._wake_in, b"!")

    # Below: the pool's thread

    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_out, selectors.EVENT_READ, None)
            try:
                for core in self._cores:
                    self._start(core, selector)
                self._started.set()
                while True:
                    # First: what is left may be calls that were cancelled, which end without an answer to wait for.
                    self._hand_out(selector)
                    if not self._work_left():
                        break
                    for key, _ in selector.select():
                        if key.data is None:
                            os.read(self._wake_out, 4096)
                        else:
                            self._hear(key.data, selector)
            except BaseException as error:  # noqa: BLE001 - the futures must learn of it, or their waiters hang
                self._failure = error
            finally:
                self._started.set()
                self._end(selector)

    def _work_left(self) -> bool:
        with self._lock:
            busy = any(referee.future is not None or referee.own for referee in self._referees)
            return not self._killed and (not self._closed or bool(self._waiting or self._spread) or busy)

    def _start(self, core: int, selector: selectors.BaseSelector) -> None:
        their_calls, our_calls = os.pipe()
        our_answers, their_answers = os.pipe()
        fds = (their_calls, their_answers)
        argv = [sys.executable, "-P", "-m", "warpleague.league.worker", *map(str, (*fds, os.getpid(), core))]
        try:
            # Whatever a game prints goes to our stderr: our stdout may be JSON.
            process = subprocess.Popen(
                argv, pass_fds=fds, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True
            )
        except BaseException:
            os.close(our_calls)
            os.close(our_answers)
            raise
        finally:
            os.close(their_calls)
            os.close(their_answers)
        calls, answers = os.fdopen(our_calls, "wb"), os.fdopen(our_answers, "rb")
        referee = _Referee(process, calls, answers, core)
        self._referees.append(referee)
        selector.register(answers, selectors.EVENT_READ, referee)

    def _hand_out(self, selector: selectors.BaseSelector) -> None:
        self._spread_out()
        # Search again each time: a dead referee is replaced by another one, which may also wait for work.
        while (ready := self._ready()) is not None:
            referee, (future, work) = ready
            try:
                write_frame(referee.calls, work)
            except (BrokenPipeError, ConnectionError):
                referee.future = future
                self._bury(referee, selector)
            except Exception as error:  # noqa: BLE001 - a call that cannot be pickled is its caller's affair
                # What pickle raises differs from one Python to the next, and may not say that it comes from pickle.
                failure = RuntimeError(f"the call cannot be pickled: {error}")
                failure.__cause__ = error
                future.set_exception(failure)
            else:
                referee.future = future

    def _spread_out(self) -> None:
        with self._lock:
            while self._spread:
                spread, work = self._spread.popleft()
                calls: list[Future[Any]] = []
                for referee in self._referees:
                    calls.append(Future())
                    calls[-1].set_running_or_notify_cancel()
                    referee.own.append((calls[-1], work))
                spread.set_result(calls)

    def _ready(self) -> tuple[_Referee, tuple[Future[Any], _Call]] | None:
        """A referee without work, and the next call for it; None if there are not both."""
        idle = [referee for referee in self._referees if referee.future is None]
        for referee in idle:
            if referee.own:
                return referee, referee.own.popleft()
        call = self._next() if idle else None
        return None if call is None else (idle[0], call)

    def _next(self) -> tuple[Future[Any], _Call] | None:
        with self._lock:
            while self._waiting:
                future, work = self._waiting.popleft()
                if future.set_running_or_notify_cancel():
                    return future, work
            return None

    def _hear(self, referee: _Referee, selector: selectors.BaseSelector) -> None:
        try:
            done, value, text = pickle.loads(read_frame(referee.answers))
        except (EOFError, OSError):
            self._bury(referee, selector)
            return
        self._stillborn = 0
        future, referee.future = referee.future, None
        if future is None:
            return
        if done:
            future.set_result(value)
        else:
            value.__cause__ = RemoteTraceback(text)
            future.set_exception(value)

    def _bury(self, referee: _Referee, selector: selectors.BaseSelector) -> None:
        """Fail the call of a dead referee and put another in its place."""
        selector.unregister(referee.answers)
        self._referees.remove(referee)
        status = self._stop(referee)
        if referee.future is not None:
            referee.future.set_exception(RefereeDied(f"the referee process {_told(status)} during a match"))
        for future, _ in referee.own:
            future.set_exception(RefereeDied(f"the referee process {_told(status)}"))
        self._stillborn += 1
        if self._stillborn > _MOST_STILLBORN:
            raise HarnessFault(f"{self._stillborn} referee processes in a row died; the last {_told(status)}")
        self._start(referee.core, selector)

    def _stop(self, referee: _Referee) -> int:
        # Killed first: a referee that closed its pipes but lives must not be waited for.
        referee.process.kill()
        status = referee.process.wait()
        with contextlib.suppress(OSError):
            referee.calls.close()
        referee.answers.close()
        return status

    def _end(self, selector: selectors.BaseSelector) -> None:
        selector.unregister(self._wake_out)
        with self._lock:
            self._closed = True
        self._spread_out()  # so that these calls fail with their referees
        for referee in self._referees:
            if referee.future is None:
                # Its pipe ends, so it leaves by itself; nothing is lost if it does not.
                with contextlib.suppress(OSError):
                    referee.calls.close()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    referee.process.wait(timeout=2.0)
            self._stop(referee)
            if referee.future is not None:
                referee.future.set_exception(RefereeDied("the referee process was stopped during a match"))
            for future, _ in referee.own:
                future.set_exception(RefereeDied("the referee process was stopped"))
        self._referees.clear()
        while (call := self._next()) is not None:
            call[0].set_exception(RefereeDied("the referee pool has ended"))
        with self._lock:
            self._ended = True
            os.close(self._wake_out)
            os.close(self._wake_in)


def _told(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"left with exit status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
