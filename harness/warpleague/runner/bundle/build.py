"""Runs a bot's build command, which is a stranger's program like the bot itself, so at the level of the match.

At `sandbox` a build never writes to a file of this machine: it works on a copy in memory, and an archive of this
copy comes out through a pipe (`archive` unpacks it). At `limits` it runs in the folder, under limits of its own; at
`none` there is only a time limit.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput, BuildError, HarnessFault
from warpleague.match.spec import SeatSpec
from warpleague.runner.bot.stderr import StderrLog
from warpleague.runner.bundle.archive import BadArchive, unpack
from warpleague.runner.bundle.build_clock import BuildClock, BuildTime, computed
from warpleague.runner.confine.launch import MemoryWatch, environment, limited, rlimits
from warpleague.runner.confine.mounts import SOURCE
from warpleague.runner.confine.sandbox import Sandbox, exit_status
from warpleague.runner.doctor.promises import check_level
from warpleague.runner.host.processes import ended
from warpleague.runner.host.reaper import descendants, ending_leftovers
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpleague.match.spec import Level


@attrs.frozen
class BuildLimits:
    """The limits of a build: seconds, MiB of folder, of scratch space and of memory, processes, open files.

    Seconds are as `BuildClock` counts them. `memory_mb` is the resident set of all its processes; the scratch space,
    and at level sandbox the folder, are in memory too, and count beside it.
    """

    seconds: float = 300.0
    folder_mb: int = 1024
    tmp_mb: int = 512
    memory_mb: int = 2048
    processes: int = 256
    open_files: int = 1024

    @property
    def data_bytes(self) -> int:
        """The most private writable memory of one process."""
        return 2 * self.memory_mb << 20


LIMITS = BuildLimits()
"""The limits of every build."""

_OUTPUT_CHARS: Final = 4000
_TICK_S: Final = 0.05
_LOOK_S: Final = 0.25  # interval between checks of memory and folder
_LAST_WORDS: Final = 1 << 20  # what is read at most once a build has ended

_CONFINED: Final = " in the sandbox, where it has no network and sees no files but its own"
# Running processes are killed before the archive is made, so that nothing changes meanwhile. `kill -1` reaches all
# processes of the sandbox but process 1 and the shell itself. The archive has standard output for itself.
_IN_SANDBOX: Final = (
    f'cp -R {SOURCE}/. . && "$@" </dev/null >&2; status=$?; kill -9 -1 2>/dev/null; '
    '[ "$status" = 0 ] || exit "$status"; chmod -R u+rwX . >/dev/null 2>&1; '
    'exec "$0" --format=gnu --owner=0 --group=0 -cf - .'
)


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
    with ending_leftovers():
        check_level(level)
        # A program of the bot's own is not to be asked anything out here.
        if not Path(job.argv[0]).is_relative_to(job.folder):
            job = attrs.evolve(job, argv=(_past_rustup(job.argv[0]), *job.argv[1:]))
        took = _in_sandbox(job) if level == "sandbox" else _in_place(job, level)
    if job.folder.is_symlink() or not job.folder.is_dir():
        raise job.error("removed its own folder")
    if level != "sandbox":  # there it is done before the folder is packed
        # What a build leaves closed to its own user, as some caches are, could be neither read nor removed.
        subprocess.run(["/bin/chmod", "-R", "u+rwX", str(job.folder)], stderr=subprocess.DEVNULL, check=False)
    return took


def _environment(job: Build, level: Level, home: str) -> dict[str, str]:
    """The environment of a build: as of a bot, with a home to write to and its own compiler's companions at hand."""
    if level == "none":
        return dict(os.environ)
    env = environment(SeatSpec(bot=job.name, cwd=str(job.folder)), level)
    place = os.path.dirname(job.argv[0])  # noqa: PTH120
    if not Path(place).is_relative_to(job.folder):
        env["PATH"] = f"{place}:{env['PATH']}"
    return {**env, "HOME": home, "TMPDIR": home}


# ---------------------------------------------------------------------- at `limits` and `none`


def _in_place(job: Build, level: Level) -> BuildTime:
    env = _environment(job, level, str(job.scratch))
    argv = list(job.argv)
    if level == "limits":
        argv = limited(argv, LIMITS.open_files, LIMITS.folder_mb, LIMITS.data_bytes)
    try:
        process = subprocess.Popen(
            argv,
            cwd=job.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise BuildError(f"{job.where}: cannot build: {job.argv[0]}: {error.strerror}") from None
    log = StderrLog()
    memory = MemoryWatch(LIMITS.memory_mb)

    def excess() -> str:
        if level == "none":
            return ""
        if memory.check(lambda: [process.pid, *descendants(process.pid)]):
            return _greedy(memory)
        if _folder_mb(job.folder, job.scratch) > LIMITS.folder_mb:
            return f"made more than {LIMITS.folder_mb} MiB of files"
        return ""

    run = _Run(
        process,
        {_fd(process.stdout): log.feed},
        excess,
        lambda: [process.pid, *descendants(process.pid)],
        job.most_s,
    )
    try:
        reason = run.attend()
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        run.close()
    _judge(job, reason, process.returncode, log)
    return run.clock.time


def _folder_mb(*folders: Path) -> float:
    """The size of the folders on disk, in MiB."""
    total = 0
    for folder in folders:
        for place, _, files in os.walk(folder):
            for name in files:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(place, name)).st_blocks * 512  # noqa: PTH118
    return total / (1 << 20)


# ---------------------------------------------------------------------- at `sandbox`


def _in_sandbox(job: Build) -> BuildTime:
    with tempfile.TemporaryFile(dir=job.scratch) as archive:
        took = _archive(job, archive)
        archive.seek(0)
        shutil.rmtree(job.folder)
        try:
            unpack(archive, job.folder, LIMITS.folder_mb << 20)
        except BadArchive as error:
            raise job.error(f"made {error}") from None
    return took


def _archive(job: Build, archive: Any) -> BuildTime:
    """Build in a sandbox, and have the result written to `archive`; how long it took."""
    tar = shutil.which("tar", path="/usr/bin:/bin")
    if tar is None:
        raise BadInput("level sandbox needs tar, to build bots: apt-get install tar")
    seat = SeatSpec(
        bot=job.name,
        run=job.argv,
        cwd=str(job.folder),
        memory_mb=LIMITS.memory_mb,
        processes=LIMITS.processes,
        tmp_mb=LIMITS.tmp_mb,
        paths=job.paths,
    )
    limits = rlimits(LIMITS.open_files, LIMITS.folder_mb, LIMITS.data_bytes)
    sandbox = Sandbox(seat, limits, LIMITS.folder_mb, ("/bin/sh", "-c", _IN_SANDBOX, tar))
    process = sandbox.start(_environment(job, "sandbox", "/tmp"))
    log = StderrLog()
    memory = MemoryWatch(LIMITS.memory_mb)
    # The archive is somewhat larger than what is in it, and whoever writes it need not be tar.
    most = 2 * LIMITS.folder_mb << 20
    written = 0

    def keep(data: bytes) -> None:
        nonlocal written
        written += len(data)
        if written <= most:
            archive.write(data)

    def too_large() -> str:
        return f"made more than {LIMITS.folder_mb} MiB of files" if written > most else ""

    def excess() -> str:
        return too_large() or (_greedy(memory) if memory.check(sandbox.processes) else "")

    sinks = {_fd(process.stdout): keep, _fd(process.stderr): log.feed}
    run = _Run(process, sinks, excess, lambda: [sandbox.init_pid, *sandbox.processes()], job.most_s)
    try:
        sandbox.enter(process)
        if process.stdin is not None:
            process.stdin.close()
        reason = run.attend()
        fault = None if reason else sandbox.fault(process)
    finally:
        sandbox.kill()
        process.kill()
        process.wait()
        sandbox.wait_gone()
        run.close()
        sandbox.close()
    if fault is not None:
        raise HarnessFault(f"the sandbox to build {job.name} in failed: {log.text().strip() or fault}")
    _judge(job, reason or too_large(), exit_status(process.returncode), log, _CONFINED)
    return run.clock.time


# ---------------------------------------------------------------------- at all levels


class _Run:
    """A build that runs: what it writes goes to the sinks, until it has ended or has taken too much."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        sinks: Mapping[int, Callable[[bytes], None]],
        excess: Callable[[], str],
        processes: Callable[[], list[int]],
        most_s: float | None,
    ) -> None:
        self._process, self._sinks, self._excess, self._processes = process, sinks, excess, processes
        self.clock = BuildClock(LIMITS.seconds if most_s is None else most_s, time.monotonic())
        for fd in sinks:
            os.set_blocking(fd, False)

    def attend(self) -> str:
        """Return nothing once it has ended, or why it must be ended."""
        look_at = 0.0
        with selectors.DefaultSelector() as selector:
            for fd in self._sinks:
                selector.register(fd, selectors.EVENT_READ)
            while ended(self._process) is None:
                for key, _ in selector.select(_TICK_S):
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
                if not selector.get_map():
                    time.sleep(_TICK_S)  # it has closed its output, and runs on
                now = time.monotonic()
                if now > look_at:
                    look_at = now + _LOOK_S
                    cpu_s, runs = computed(self._processes())
                    self.clock.update(now, cpu_s, runs=runs)
                    if reason := self.clock.excess() or self._excess():
                        return reason
        self.clock.update(time.monotonic(), computed(self._processes())[0], runs=True)
        return ""

    def close(self) -> None:
        """Read the last words of a build that has been killed, and give back the pipes."""
        for fd in self._sinks:
            for _ in range(_LAST_WORDS >> 16):
                with contextlib.suppress(BlockingIOError):
                    if self._read(fd):
                        continue
                break
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self, fd: int) -> bool:
        """Read once; false at the end."""
        data = os.read(fd, 1 << 16)
        if data:
            self._sinks[fd](data)
        return bool(data)


def _judge(job: Build, reason: str, status: int, log: StderrLog, where: str = "") -> None:
    """Raise `BotError` for a build that had to be ended, or did not end well; `where` is added to the latter."""
    output = log.text(_OUTPUT_CHARS)
    if reason:
        raise job.error(reason, output)
    if status:
        how = f"exit status {status}" if status > 0 else f"killed by signal {-status}"
        raise job.error(f"failed ({how}){where}", output)


def _greedy(memory: MemoryWatch) -> str:
    return f"took {memory.exceeded_mb} MiB of memory, more than {LIMITS.memory_mb} MiB"


def _fd(pipe: Any) -> int:
    fd: int = pipe.fileno()
    return fd


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
