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


# -- whether a process gets on ----------------------------------------------------------------------------
# The checker, the player of matches on demand and each scheduler tell the server what they do, one JSON object a line,
# on their standard output. Who does not tell within the time that it gave itself is stuck.

_REPEAT_S: Final = 2.0
_START_S: Final = 120.0
"""How long a process may take until it first tells what it does."""
_MAX_REPORTS: Final = 65_536  # bytes read at once
_reports: int | None = None  # the file descriptor for them, in a process that a server has started
_last: tuple[str, str, float] = ("", "", 0.0)


def working(doing: str, within_s: float = 60.0, why: str | None = None) -> None:
    """Tell the server that started this process what it does now, and that it tells more `within_s` seconds.

    `why` says why it does not get on, empty that it does, None that nobody knows yet: it stays as it was. A change of
    it is logged, also where no server listens.
    """
    global _last
    before, now_s = _last, time.monotonic()
    why = before[1] if why is None else why
    if before[:2] == (doing, why) and now_s - before[2] < _REPEAT_S:
        return
    _last = doing, why, now_s
    if why != before[1]:
        log("does not get on" if why else "gets on again", doing=doing, **({"why": why} if why else {}))
    if _reports is not None:
        line = json.dumps({"doing": doing, "within_s": within_s, "why": why})
        with contextlib.suppress(OSError):  # a server that does not read is no reason to wait
            os.write(_reports, line.encode() + b"\n")


# -- processes that a server starts, and starts again when they end ---------------------------------------


def end_with_parent() -> None:
    """Send this process SIGTERM when its standard input ends, which is a pipe from the server that started it.

    From now on `working` tells this server what the process does.
    """
    global _reports
    source = sys.stdin.fileno()
    _reports = sys.stdout.fileno()
    os.set_blocking(_reports, False)

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

    It is started once `wanted` says so, and again whenever it has ended, after a pause that grows. `doing` and `why`
    are what it told last with `working`.
    """

    doing = ""
    why = ""

    def __init__(self, name: str, words: Sequence[str], wanted: Callable[[], bool] = lambda: True) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self._words = (sys.executable, "-m", "warpleague", *words)
        self._wanted = wanted
        self._tells_by_s = 0.0

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
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
            )
            log("started", process=self.name, pid=self.process.pid)
            self.doing, self.why, self._tells_by_s = "starts", "", time.monotonic() + _START_S
            with self.process.stdout or contextlib.nullcontext() as reports:
                while self.process.poll() is None:
                    self._read(reports)
                    await trio.sleep(_POLL_S)
            self._close()
            log("ended", process=self.name, pid=self.process.pid, code=self.process.returncode)
            if time.monotonic() - began_s > _STEADY_S:
                pause_s = _FIRST_PAUSE_S
            await trio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    def _read(self, reports: Any) -> None:
        """Take over what the process told last."""
        os.set_blocking(reports.fileno(), False)
        for line in (reports.read(_MAX_REPORTS) or b"").splitlines()[-2:]:
            with contextlib.suppress(ValueError, TypeError, KeyError):  # the last line may be cut
                told = json.loads(line)
                self.doing, self.why = str(told["doing"]), str(told["why"])
                self._tells_by_s = time.monotonic() + float(told["within_s"])

    @property
    def trouble(self) -> str:
        """Why the process does not get on; empty if it does."""
        if not self.runs:
            return "it has ended, and will be started again" if self.starts else "it has not been started yet"
        late_s = time.monotonic() - self._tells_by_s
        if not self.why and late_s > 0:
            return f"it should have told more {late_s:.0f} s ago"
        return self.why

    @property
    def runs(self) -> bool:
        """Whether the process runs now."""
        return self.process is not None and self.process.poll() is None

    def to_json(self) -> JsonObject:
        """The state of the process for the health page, without its number: everybody reads it, bots' authors too."""
        wanted, trouble = self._wanted(), self.trouble
        return {
            "wanted": wanted,
            "runs": self.runs,
            "starts": self.starts,
            "gets_on": not (wanted and trouble),
            "doing": self.doing if self.runs else None,
            "why_not": trouble if wanted and trouble else None,
        }

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
                break
        else:
            process.kill()
            process.wait()
        self._close()

    def _close(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
