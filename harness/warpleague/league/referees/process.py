"""A referee process: takes calls from its pipe, and sends back what they return.

`pool` hands out the calls; a process that has imported everything forks the referees. A plain function is called while
nothing else runs. An async function is a task: several of them run side by side.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import trio

from warpleague.process import reset_signals
from warpleague.runner.bot.clocks import Loop
from warpleague.runner.confine.cgroups import free_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# -- frames ----------------------------------------------------------------------------------------------
# Calls and answers on a pipe. A frame is a length (8 bytes, big-endian) and a pickle.


ROOM: Final = -1
"""The number of an answer that belongs to no call: it says how many tasks there is room for now."""


_MAX_READ: Final = 1 << 20


def write_frame(pipe: int, value: object) -> None:
    """Send `value`; pickling comes first, so that what cannot be pickled leaves the pipe as it was."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    rest = memoryview(len(data).to_bytes(8, "big") + data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def read_frame(pipe: int) -> bytes:
    """The next pickle; `EOFError` if the other side has closed the pipe, also in the middle of a frame."""
    return _read(pipe, int.from_bytes(_read(pipe, 8), "big"))


def _read(pipe: int, size: int) -> bytes:
    data = os.read(pipe, min(size, _MAX_READ))
    if len(data) == size:
        return data
    parts = [data]
    while size > (got := len(parts[-1])):
        if not got:
            raise EOFError
        size -= got
        parts.append(os.read(pipe, min(size, _MAX_READ)))
    return b"".join(parts)


Call = tuple[int, bool, bytes]
"""Its number, whether it is a task, and the pickle of function and arguments."""


def next_call(calls: int) -> Call | None:
    """The next call; None if the pipe has ended."""
    try:
        call: Call = pickle.loads(read_frame(calls))
    except EOFError:
        return None
    return call


def called(packed: bytes) -> tuple[bool, Any, str]:
    """Call the pickled function: whether it returned, what it returned or raised, and the traceback."""
    try:
        function, args, kwargs = pickle.loads(packed)
        return True, function(*args, **kwargs), ""
    except BaseException as error:  # noqa: BLE001 - what a match raises is the scheduler's to judge
        return False, error, "".join(traceback.format_exception(error))


def send(answers: int, number: int, done: bool, value: Any, text: str) -> None:
    """Answer a call: whether it is done, what it returned or raised, and the traceback."""
    try:
        data = (number, done, value, text)
        if not done:
            # Some exceptions can be pickled but not unpickled, such as those whose `__init__` takes other arguments
            # than `args` has. The pool's thread would fail at them, and all matches with it.
            pickle.loads(pickle.dumps(value))
        write_frame(answers, data)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - sent instead of the value that cannot be pickled
        text = text or "".join(traceback.format_exception(error))
        unsent = RuntimeError(f"{type(value).__name__} cannot be pickled: {value}")
        write_frame(answers, (number, False, unsent, text))


# -- worker ----------------------------------------------------------------------------------------------


_PR_SET_PDEATHSIG: Final = 1


def serve(calls: int, answers: int, core: int) -> None:
    """Serve the calls that come from one pipe end until it ends, and answer to the other; stay on `core` (-1: any)."""
    if core >= 0 and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(PermissionError):  # in a sandbox it may be forbidden
            os.sched_setaffinity(0, {core})
    call = next_call(calls)
    while call is not None:
        number, is_task, packed = call
        if is_task:
            call = run_tasks(calls, answers, call)
        else:
            send(answers, number, *called(packed))
            call = next_call(calls)


def die_with(parent: int) -> None:
    """Have the kernel kill us when the thread that started us ends (Linux); elsewhere the pipe's end must do."""
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(_PR_SET_PDEATHSIG)")
    # It may have died before we asked: then we have another parent, and no signal will come.
    if os.getppid() != parent:
        sys.exit(1)


# -- fork server -----------------------------------------------------------------------------------------
# Starts referee processes as forks of one process that has imported everything.
#
# A new Python that imports the runner and a game takes 0.24 s of a processor and 22 MB (measured). A fork takes less
# than 10 ms and 4 MB, since it shares the memory of what was imported. The pool cannot fork itself: it has threads,
# and a fork of a process with threads may inherit a lock that nobody releases any more.
#
# `ForkServer` is the side of the pool. The command is `python -P -m warpleague.league.referees.process SOCKET
# PARENT MODULE...`: an inherited socket, the process to die with, what to import. A request is what to do and a
# number, with the two pipe ends of a new referee (SCM_RIGHTS); its answer is the number of an error, or 0, and a
# value. Only the parent of a process learns its exit status, so the pool asks the server for that, too.


_START, _WAIT = 1, 2
_REQUEST: Final = struct.Struct("!ii")
_ANSWER: Final = struct.Struct("!ii")


class Forked:
    """A referee process: its number, and its end."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self._server = server
        self.pid = pid
        self._status: int | None = None

    def kill(self) -> None:
        """Kill it at once, unless it is already reaped."""
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Its exit status once it has ended, negative for a signal."""
        if self._status is None:
            try:
                self._status = self._server.wait(self.pid)
            except OSError:
                self._status = -signal.SIGKILL  # the server is dead, so all of its children are
        return self._status


class ForkServer:
    """The process that forks; to be used by one thread, with which it dies (Linux)."""

    def __init__(self, modules: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        with theirs:
            fd = theirs.fileno()
            argv = [sys.executable, "-P", "-m", __name__, str(fd), str(os.getpid()), *modules]
            try:
                # Whatever a game prints goes to our stderr: our stdout may be JSON.
                self._process = subprocess.Popen(
                    argv, pass_fds=(fd,), stdin=subprocess.DEVNULL, stdout=2, start_new_session=True
                )
            except BaseException:
                ours.close()
                raise

    def start(self, calls: int, answers: int, core: int) -> Forked:
        """Start a referee that serves the pipe ends `calls` and `answers` on `core` (-1: any). Raises `OSError`."""
        socket.send_fds(self._socket, [_REQUEST.pack(_START, core)], [calls, answers])
        return Forked(self, self._answer())

    def wait(self, pid: int) -> int:
        """The exit status of a child once it has ended; `OSError` if it cannot be known."""
        self._socket.sendall(_REQUEST.pack(_WAIT, pid))
        return self._answer()

    def _answer(self) -> int:
        data = b""
        while len(data) < _ANSWER.size:
            more = self._socket.recv(_ANSWER.size - len(data))
            if not more:
                raise ConnectionError("the process that starts referees has ended")
            data += more
        error, value = _ANSWER.unpack(data)
        if error:
            raise OSError(error, os.strerror(error))
        return int(value)

    def close(self) -> int:
        """End it; its exit status."""
        self._socket.close()
        return self._process.wait()


def describe_status(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"left with exit status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def main(argv: list[str]) -> None:
    """Import what is named, then fork for each request until the socket ends."""
    fd, parent = int(argv[0]), int(argv[1])
    os.set_inheritable(fd, False)
    die_with(parent)
    for name in argv[2:]:
        # The process that uses a module reports its errors.
        with contextlib.suppress(Exception):
            import_module(name)
    # The collector writes into the head of each object that it visits: the kernel would copy its page in every fork.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=fd) as requests:
        own_pid = os.getpid()
        while True:
            data, fds, _, _ = socket.recv_fds(requests, _REQUEST.size, 2)
            if len(data) < _REQUEST.size:
                return
            for passed in fds:
                os.set_inheritable(passed, False)
            what, number = _REQUEST.unpack(data)
            error = value = 0
            try:
                if what == _START:
                    value = os.fork()
                    if value == 0:
                        break
                else:
                    value = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
            except OSError as failed:
                error = failed.errno or -1
            for passed in fds:
                os.close(passed)
            requests.sendall(_ANSWER.pack(error, value))
    # In the fork, which has closed the socket by now. In a session of its own, Ctrl-C in the terminal does not reach
    # it: only the run gets the signal, which lets the matches end.
    os.setsid()
    die_with(own_pid)
    serve(fds[0], fds[1], number)


# -- tasks -----------------------------------------------------------------------------------------------
# Runs the tasks of a referee process side by side on one trio loop, and finds out how many it has room for.
#
# A task plays a match. As long as its bots sleep, such as those that wait for a language model, the core is idle, and
# there is room for more matches. Where bots compute, a second match would only wait for the first one. So room is
# doubled (by 16 more at most) while the core is idle for more than half of the time, unless less than a quarter of
# memory or of descriptors is left, and shrinks by an eighth when matches wait for each other.


_DECIDE_S: Final = 0.1
"""How often it is decided how many tasks there is room for, in seconds."""

_IDLE_SHARE: Final = 0.5
"""The part of its time that a core must be idle for more tasks."""
_BUSY_SHARE: Final = 0.9
"""The part of the time that bots compute, from which on there are too many tasks."""
_STEP: Final = 16
_FREE_SHARE: Final = 0.25
"""The part of memory and of descriptors that more tasks may not touch."""


def run_tasks(calls: int, answers: int, call: Call) -> Call | None:
    """Run `call` and the tasks that come after it, until they have ended and something else comes.

    Returns what came, or None if the pipe has ended, which breaks off all tasks.
    """
    try:
        return trio.run(_side_by_side, calls, answers, call)
    except BaseExceptionGroup as group:
        # `send` exits when nobody reads the answers any more; trio puts that into a group. No traceback then.
        if group.split(SystemExit)[1] is None:
            raise SystemExit(0) from None
        raise


async def _side_by_side(calls: int, answers: int, call: Call | None) -> Call | None:
    async with trio.open_nursery() as teller:
        teller.start_soon(_report_room, answers)
        async with trio.open_nursery() as nursery:
            while call is not None and call[1]:
                nursery.start_soon(_run, answers, call)
                await trio.lowlevel.wait_readable(calls)
                call = next_call(calls)
            if call is None:
                nursery.cancel_scope.cancel()
        teller.cancel_scope.cancel()
    return call


async def _run(answers: int, call: Call) -> None:
    number, _, packed = call
    try:
        function, args, kwargs = pickle.loads(packed)
        done, value, text = True, await function(*args, **kwargs), ""
    except trio.Cancelled:
        raise
    except BaseException as error:  # noqa: BLE001 - what a match raises is the scheduler's to judge
        done, value, text = False, error, "".join(traceback.format_exception(error))
    send(answers, number, done, value, text)


async def _report_room(answers: int) -> None:
    room = Room(Loop.here())
    while True:
        await trio.sleep(_DECIDE_S)
        before = room.tasks
        if room.decide(time.perf_counter_ns()) != before:
            send(answers, ROOM, True, room.tasks, "")


def resources_left() -> bool:
    """Whether memory and descriptors are left for the bots of more matches."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir("/dev/fd"))  # noqa: PTH208 - looked at all the time
    except OSError:
        used = 0
    return used < (1 - _FREE_SHARE) * most and free_share() > _FREE_SHARE


class Room:
    """How many matches may be played on `loop` at a time; `has_resources` says whether there are any for more."""

    def __init__(self, loop: Loop, has_resources: Callable[[], bool] = resources_left) -> None:
        self._loop = loop
        self._has_resources = has_resources
        self._decided_ns = loop.now()
        self._idle_ns, self._computed_ns = loop.idle_ns, loop.computed_ns
        self.tasks = 1

    def decide(self, now_ns: int) -> int:
        """Decide again, from what has been since the last decision."""
        loop = self._loop
        passed = max(now_ns - self._decided_ns, 1)
        idle, computed = loop.idle_ns - self._idle_ns, loop.computed_ns - self._computed_ns
        self._decided_ns, self._idle_ns, self._computed_ns = now_ns, loop.idle_ns, loop.computed_ns
        if idle > _IDLE_SHARE * passed and loop.matches >= self.tasks and self._has_resources():
            self.tasks += min(self.tasks, _STEP)
        elif loop.queued and computed > _BUSY_SHARE * passed and self.tasks > 1:
            self.tasks = max(1, min(self.tasks, loop.matches) - max(1, self.tasks // 8))
        return self.tasks


if __name__ == "__main__":
    reset_signals()  # the pool may be that of a program of others, such as a worker of Dask
    main(sys.argv[1:])
