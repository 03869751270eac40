"""The processes that a server starts, and starts again when they end: schedulers and the checker."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import trio

from warpleague.arena.process.log import log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import JsonObject

_POLL_S: Final = 0.2
_FIRST_PAUSE_S: Final = 0.5
_MAX_PAUSE_S: Final = 60.0
_STEADY_S: Final = 120.0
"""A process that ran for longer than this was able to start: the next pause is the first one again."""


class Subprocess:
    """A process `warpleague WORDS...`, which ends with this one: its standard input is a pipe from here.

    It is started once `wanted` says so, and again whenever it has ended, after a pause that grows.
    """

    def __init__(self, name: str, words: Sequence[str], wanted: Callable[[], bool] = lambda: True) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self._words = (sys.executable, "-m", "warpleague", *words)
        self._wanted = wanted

    async def keep_running(self) -> None:
        """Keep the process running until this is cancelled; only `stop` ends the process."""
        pause_s = _FIRST_PAUSE_S
        while True:
            if not self._wanted():
                await trio.sleep(_POLL_S)
                continue
            began_s = time.monotonic()
            self.starts += 1
            # Standard error is shared: the log of this process goes to the log of the server. It gets a session of its
            # own for two reasons: Ctrl-C at a terminal then reaches only the server, which ends this process as `stop`
            # says; and the kernel shares the processors between the two sessions.
            self.process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
            )
            log("started", process=self.name, pid=self.process.pid)
            while self.process.poll() is None:
                await trio.sleep(_POLL_S)
            log("ended", process=self.name, pid=self.process.pid, code=self.process.returncode)
            if time.monotonic() - began_s > _STEADY_S:
                pause_s = _FIRST_PAUSE_S
            await trio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    @property
    def runs(self) -> bool:
        """Whether the process runs now."""
        return self.process is not None and self.process.poll() is None

    def to_json(self) -> JsonObject:
        """The state of the process for the health page."""
        pid = self.process.pid if self.process is not None and self.runs else None
        return {"wanted": self._wanted(), "runs": self.runs, "pid": pid, "starts": self.starts}

    async def stop(self, patience_s: float) -> None:
        """Ask the process to end; ask again after `patience_s`, on which it ends at once; kill it 5 s later."""
        process = self.process
        if process is None:
            return
        for wait_s in (patience_s, 5.0):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            with trio.move_on_after(wait_s):
                while process.poll() is None:
                    await trio.sleep(0.05)
            if process.poll() is not None:
                return
        process.kill()
        process.wait()
