"""Writes the lines of a match's record into a file while it is played; the file is removed when the match ends.

This does not slow down the bots' answers: a task beside the match copies new lines now and then. A match that is over
soon gets no file: a spectator who waits for it sees its record.
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from warpleague.runner.play import play_beside

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.match.referee import Referee
    from warpleague.match.spec import MatchResult, MatchSpec

FOLDER: Final = "live"
"""The folder beside a league's store with a file for each match that is being played."""
ENDING: Final = ".part"

_PATIENCE_S: Final = 0.5
"""How long a match is played before it gets a file."""
_POLL_S: Final = 0.25
"""How often new lines are copied."""


async def play_shown(spec: MatchSpec, folder: str, log: bool = False, private: bool = False) -> MatchResult:
    """Play a match as `play_beside` does, and write it into a file of `folder` meanwhile."""
    path = os.path.join(folder, spec.id + ENDING)  # noqa: PTH118 - paths come late
    try:
        return await play_beside(spec, log, private=private, attendant=partial(write_on, path))
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - as above


async def write_on(path: str, referee: Referee) -> None:
    """Write what happens in a match into the file at `path` until this is cancelled.

    A full disk ends the writing and nothing else.
    """
    await trio.sleep(_PATIENCE_S)
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - left by a referee that died; its readers must not see it change
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        written = 0
        try:
            while True:
                written = _write(file, referee, written)
                await trio.sleep(_POLL_S)
        except trio.Cancelled:
            _write(file, referee, written)  # the last moves
            raise
        finally:
            os.close(file)


def _write(file: int, referee: Referee, written: int) -> int:
    """Write the lines since number `written`; the number of the next one."""
    lines = referee.lines_since(written)
    rest = memoryview(b"@%.2f\n%b" % (time.time(), b"".join(lines)) if lines else b"")
    while rest:
        rest = rest[os.write(file, rest) :]
    return written + len(lines)


def clear(folder: Path) -> None:
    """Remove the files of referees that died, and make the folder if it is missing; only for who runs the league."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.glob(f"*{ENDING}"):
        path.unlink(missing_ok=True)
