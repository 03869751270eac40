"""What the processes of an arena have in common: a log, folders within bounds, and how one starts and ends others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Final

import trio

from warpleague.text import SafeStream, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from warpleague.games.api import JsonObject


# -- log -------------------------------------------------------------------------------------------------


def log(event: str, **details: Any) -> None:
    """Write a line with the time (ISO 8601, UTC), the event and its details; errors of writing are ignored."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"at": at, "event": event, **details}, default=str)
    stream = sys.stderr.inner if isinstance(sys.stderr, SafeStream) else sys.stderr
    with contextlib.suppress(OSError, ValueError):
        stream.write(line + "\n")
        stream.flush()


def log_error(event: str, error: BaseException, **details: Any) -> None:
    """Write a line about an error, with its traceback."""
    trace = "".join(format_exception(error))
    log(event, error=safe(f"{type(error).__name__}: {error}"), trace=trace, **details)


# -- folders within bounds --------------------------------------------------------------------------------


def prune(folder: Path, max_bytes: int) -> int:
    """Remove the files of `folder`, and of the folders in it, that changed longest ago, until `max_bytes` are left.

    Returns how many files were removed. A file that cannot be removed stays.
    """
    files = sorted(_files(folder))
    left = sum(size for _, size, _ in files)
    removed = 0
    for _, size, path in files:
        if left <= max_bytes:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - many
            removed += 1
            left -= size
    return removed


def _files(folder: Path | str) -> Iterator[tuple[float, int, str]]:
    """When each file was changed, its size on the disk in bytes, and its path."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
                continue
            with contextlib.suppress(OSError):
                stat = entry.stat(follow_symlinks=False)
                yield stat.st_mtime, max(stat.st_size, stat.st_blocks * 512), entry.path


# -- processes that a server starts, and starts again when they end ---------------------------------------


def end_with_parent() -> None:
    """Send this process SIGTERM when its standard input ends, which is a pipe from the process that started it."""
    source = sys.stdin.fileno()

    def wait() -> None:
        while os.read(source, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()


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
        """The state of the process for the health page, without its number: everybody reads it, bots' authors too."""
        return {"wanted": self._wanted(), "runs": self.runs, "starts": self.starts}

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
