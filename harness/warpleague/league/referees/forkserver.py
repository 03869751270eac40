"""Starts referee processes as forks of one process that has imported everything, which saves most of their start.

A fork shares the memory of what was imported. `ForkServer` is the side of the pool. The command is `python -P -m
warpleague.league.referees.forkserver SOCKET PARENT MODULE...`: an inherited socket, the process to die with, what to
import. A request is what to do and a number; its answer is the number of an error, or 0, and a value.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import struct
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from warpleague.league.referees.worker import die_with, serve

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    gc.collect()
    gc.freeze()  # the collector would touch, and so copy, what the forks share
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
    # In the fork, which has closed the socket by now.
    os.setsid()  # so that Ctrl-C in the terminal reaches only the scheduler
    die_with(own_pid)
    serve(fds[0], fds[1], number)


if __name__ == "__main__":
    main(sys.argv[1:])
