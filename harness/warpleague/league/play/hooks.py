"""Runs the command that an organiser wants to be run when something has ended: a run, a test, a season or a check.

It is the organiser's own program, so it runs as whoever runs the league, and without confinement. Whatever it does,
the league is not hurt: it has a time limit, what it leaves behind is killed, and what goes wrong is one line of text.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Final

from warpleague.league.season import utc_now
from warpleague.runner.host import ended, ending_leftovers
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from warpleague.league.play.running import RunReport
    from warpleague.league.results.league import League
    from warpleague.league.results.standings import Standing
    from warpleague.league.season.config import LeagueConfig

LIMIT_S: Final = 30.0
"""How long a command may take."""
MAX_LINES: Final = 10
"""The most lines of the standings in an event."""
_LOOK_S: Final = 0.01
_CHUNK: Final = 1 << 16
_TAIL: Final = 4096


def run_hook(
    command: Sequence[str], folder: Path, event: dict[str, Any], *, limit_s: float = LIMIT_S
) -> str | None:
    """Run `command` in `folder` with `event` as one line of JSON on its input; return a one-line problem or None.

    A program whose name has a slash is sought from `folder`. When the command has ended, or after `limit_s` seconds,
    everything that it started is killed. Its output is read; if it failed, the problem quotes its last line.
    """
    name = shlex.join(command)
    try:
        with tempfile.TemporaryFile() as line, ending_leftovers():
            line.write(json.dumps(event).encode() + b"\n")
            line.seek(0)
            process = subprocess.Popen(
                [str(folder.absolute() / command[0]) if "/" in command[0] else command[0], *command[1:]],
                cwd=folder,
                stdin=line,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            with process:
                status, output = _attend(process, limit_s)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        return safe(f"{name}: could not be run: {why}")
    if status == 0:
        return None
    lines = output.decode("utf-8", "replace").split("\n")
    last = next((text.strip() for text in reversed(lines) if text.strip()), "it printed nothing")
    if status is None:
        how = f"was not done after {limit_s:g} s, and was killed"
    else:
        how = f"ended with exit code {status}" if status > 0 else f"was killed by signal {-status}"
    return safe(f"{name}: {how}: {last[-200:]}")


def _attend(process: subprocess.Popen[bytes], limit_s: float) -> tuple[int | None, bytes]:
    """Wait for the end of a command, at most so long, and kill its group; how it ended, and the end of its output."""
    # Its output is read all the time: a command that prints more than a pipe holds would wait for good. Not until its
    # end of file: something that it started may have the pipe, too, and live on.
    assert process.stdout is not None
    fd = process.stdout.fileno()
    os.set_blocking(fd, False)
    deadline_s = time.monotonic() + limit_s
    tail = b""
    try:
        while (status := ended(process)) is None and time.monotonic() < deadline_s:
            tail = _read(fd, tail)
            time.sleep(_LOOK_S)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return status, _read(fd, tail)


def _read(fd: int, tail: bytes) -> bytes:
    """The end of what was read before and of what there is to read now, a chunk at most."""
    with contextlib.suppress(BlockingIOError):
        tail = (tail + os.read(fd, _CHUNK))[-_TAIL:]
    return tail


def run_event(
    league: League, report: RunReport, line_json: Callable[[Standing], dict[str, Any]], *, over: bool
) -> dict[str, Any]:
    """The event of a run that has ended; it has ended the season or the test if `over`.

    `line_json` gives a line of the standings as a JSON object.
    """
    from warpleague.league.results.standings import standings
    from warpleague.league.results.status import strength_test

    lines = standings(league).lines if league.store.count() else ()
    test = league.season.format.kind == "test"
    return {
        **_head(league.config, ("test" if test else "season") if over else "run"),
        "matches": report.total,
        "stored": report.stored,
        "played": report.played,
        "void": len(report.void),
        "complete": report.complete,
        "stopped": report.stopped,
        "failure": report.failure,
        "elapsed_s": round(report.elapsed_s, 3),
        "faults": {line.bot: line.record.faults for line in lines if line.record.faults},
        "standings": [line_json(line) for line in lines[:MAX_LINES]],
        "verdict": strength_test(league).to_json() if test else None,
    }


def check_event(config: LeagueConfig, **details: Any) -> dict[str, Any]:
    """The event of a submission whose check has ended."""
    return {**_head(config, "check"), **details}


def _head(config: LeagueConfig, event: str) -> dict[str, Any]:
    return {"event": event, "league": config.name, "game": config.game.id, "time": utc_now()}
