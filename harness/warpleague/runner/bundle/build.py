"""Builds a bot by the build command of its manifest, which is a stranger's program like the bot itself.

So it runs at the level of the match, as `command` runs it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BuildError, HarnessFault
from warpleague.runner.bot.stderr import StderrLog
from warpleague.runner.bundle.command import Command, CommandLimits, run_command
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from warpleague.match.spec import Level
    from warpleague.runner.bundle.build_clock import BuildTime


LIMITS = CommandLimits()
"""The limits of every build."""

_OUTPUT_CHARS: Final = 4000
_CONFINED: Final = " in the sandbox, where it has no network and sees no files but its own"


@attrs.frozen
class Build:
    """The order for a build: the bot's name, the folder to name in errors, the command, the copy of the folder.

    `argv` has its program resolved, `folder` is the copy, and `scratch` an empty folder beside it.
    `paths` of this machine are shown to it in the sandbox. `most_s` is how many seconds it may take, as `BuildClock`
    counts them, if not `LIMITS.seconds`.
    """

    name: str
    where: Path
    argv: tuple[str, ...]
    folder: Path
    scratch: Path
    paths: tuple[str, ...] = ()
    most_s: float | None = None

    def error(self, what: str, output: str = "") -> BuildError:
        """The error, with the end of the build's output, which is printable already."""
        text = safe(f"{self.where}: building {self.name} {what}: {' '.join(self.argv)}")
        return BuildError(f"{text}\n{output.strip()}".rstrip())


def build(job: Build, level: Level) -> BuildTime:
    """Run the build, so that `job.folder` holds the bot built; what it leaves running is killed. How long it took.

    Raises `BuildError` with the end of its output if it fails or takes too much of anything, `BadInput` if the level
    does not hold here, and `HarnessFault` if the sandbox fails.
    """
    argv = job.argv
    # A program of the bot's own is not to be asked anything out here.
    if not Path(argv[0]).is_relative_to(job.folder):
        argv = (_past_rustup(argv[0]), *argv[1:])
    limits = LIMITS if job.most_s is None else attrs.evolve(LIMITS, seconds=job.most_s)
    log = StderrLog()
    command = Command(job.name, argv, job.folder, job.scratch, limits, job.paths)
    end = run_command(command, level, log.feed)
    if end.fault:
        raise HarnessFault(f"the sandbox to build {job.name} in failed: {log.text().strip() or end.fault}")
    if end.problem:
        failed = "" if end.reason or level != "sandbox" else _CONFINED
        raise job.error(end.problem + failed, log.text(_OUTPUT_CHARS))
    return end.time


@cache
def _past_rustup(program: str) -> str:
    """The tool itself behind a rustup proxy, which asks for a home of rustup's that a build does not have."""
    real = os.path.realpath(program)
    name = os.path.basename(program)  # noqa: PTH119
    if os.path.basename(real) != "rustup" or name == "rustup":  # noqa: PTH119
        return program
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [real, "which", name],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        path = done.stdout.strip()
        if os.access(path, os.X_OK):
            return path
    return program
