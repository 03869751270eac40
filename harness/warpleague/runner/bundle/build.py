"""Builds a bot by the build command of its manifest, which is a stranger's program like the bot itself.

So it runs at the level of the match. `run_command` runs any command of a stranger's that changes a folder.
"""

from __future__ import annotations

import contextlib
import os
import re
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
from warpleague.match.spec import Level, SeatSpec
from warpleague.runner.bot.logs import StderrLog
from warpleague.runner.bundle.archive import unpack
from warpleague.runner.bundle.content import disk_bytes
from warpleague.runner.confine.launch import MemoryWatch, data_bytes, environment, limited, rlimits
from warpleague.runner.confine.mounts import SOURCE
from warpleague.runner.confine.sandbox import Sandbox, exit_status
from warpleague.runner.doctor import check_level
from warpleague.runner.host import descendants, ended, ending_leftovers, expect_status, read_file
from warpleague.runner.tree import BadTree, open_to_owner, remove_tree
from warpleague.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@attrs.frozen
class CommandLimits:
    """The limits of a command: seconds, MiB of folder, of scratch space and of memory, processes, open files.

    Seconds are as `BuildClock` counts them. `memory_mb` is the resident set of all its processes; the scratch space,
    and at level sandbox the folder, are in memory too, and count beside it.
    """

    seconds: float = 300.0
    folder_mb: int = 1024
    tmp_mb: int = 512
    memory_mb: int = 2048
    processes: int = 256
    open_files: int = 1024


# The limits of every build.
LIMITS = CommandLimits()

_OUTPUT_CHARS: Final = 4000
_NOT_FOUND: Final = re.compile("not found|no such file", re.IGNORECASE)
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


def build_bot(job: Build, level: Level) -> BuildTime:
    """Run the build, so that `job.folder` holds the bot built; what it leaves running is killed. How long it took.

    Raises `BuildError` with the end of its output if it fails or takes too much of anything, `BadInput` if the level
    does not hold here, and `HarnessFault` if the sandbox fails.
    """
    argv = job.argv
    # A program of the bot's own is not to be asked anything out here.
    if not Path(argv[0]).is_relative_to(job.folder):
        argv = (without_proxy(argv[0]), *argv[1:])
    limits = LIMITS if job.most_s is None else attrs.evolve(LIMITS, seconds=job.most_s)
    log = StderrLog()
    command = Command(job.name, argv, job.folder, job.scratch, limits, job.paths)
    end = run_command(command, level, log.feed)
    if end.fault:
        raise HarnessFault(f"the sandbox to build {job.name} in failed: {log.text().strip() or end.fault}")
    if end.problem:
        failed = "" if end.reason or level != "sandbox" else _CONFINED
        output = log.text(_OUTPUT_CHARS)
        if level != "none" and not end.reason and (end.status == 127 or _NOT_FOUND.search(output)):
            path = _environment(command, level, "")["PATH"]
            output = f"{output.rstrip()}\nnote: it looked for programs in these folders: {safe(path)}"
        raise job.error(end.problem + failed, output)
    return end.time


@cache
def without_proxy(program: str) -> str:
    """The tool itself behind a rustup proxy, which asks for a home of rustup's that a build does not have."""
    real = os.path.realpath(program)
    name = os.path.basename(program)
    if os.path.basename(real) != "rustup" or name == "rustup":
        return program
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        done = subprocess.run(
            [real, "which", name], stdin=null, stdout=pipe, stderr=null, text=True, timeout=30, check=True
        )
        path = done.stdout.strip()
        if os.access(path, os.X_OK):
            return path
    return program


# -- a stranger's command that changes a folder: a build, or the edit of an author -----------------------

# At `sandbox` the command never writes to a file of this machine: it works on a copy in memory, and an archive of this
# copy comes out through a pipe (`archive` unpacks it). At `limits` it runs in the folder, under limits of its own; at
# `none` there is only a time limit.


_TICK_S: Final = 0.05
_ENDING_S: Final = 0.005  # the same once it has closed its output, so that most are about to end
_LOOK_S: Final = 0.25  # interval between checks of memory and folder
_MOST_SEEN: Final = 1_000_000  # names at a look, which must end though the folder grows
_LAST_WORDS: Final = 1 << 20  # what is read at most once a command has ended

# Running processes are killed before the archive is made, so that nothing changes meanwhile. `kill -1` reaches all
# processes of the sandbox but process 1 and the shell itself. The archive has standard output for itself.
_IN_SANDBOX: Final = (
    f'cp -R {SOURCE}/. . || exit; "$@" </dev/null >&2; status=$?; kill -9 -1 2>/dev/null; '
    "{unless} chmod -R u+rwX . >/dev/null 2>&1; "
    '"$0" --format=gnu --owner=0 --group=0 -cf - . && exit "$status"'
)
_UNLESS_FAILED: Final = '[ "$status" = 0 ] || exit "$status";'


@attrs.frozen
class Command:
    """The order for a command: who it is for, the command, the folder that it changes, and its limits.

    `argv` has its program resolved, and `scratch` is an empty folder beside `folder`. In the sandbox it sees `paths`
    of this machine, and reaches the addresses in `network`. `variables` are added to its environment. With `keep` what
    it left in the folder counts even if it failed, unless it had to be ended.
    """

    name: str
    argv: tuple[str, ...]
    folder: Path
    scratch: Path
    limits: CommandLimits
    paths: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    variables: Mapping[str, str] = attrs.Factory(dict)
    keep: bool = False


@attrs.frozen
class CommandEnd:
    """How a command ended: why it had to be ended (empty if it ended by itself), its exit status, its time.

    The status is negative for a signal. A command that had to be ended, or failed, has not changed the folder at level
    sandbox; at other levels the caller has to drop what it left there. `fault` is how the sandbox failed before it ran
    the command, if it did: that is not the command's doing.
    """

    reason: str
    status: int
    time: BuildTime
    fault: str = ""

    @property
    def problem(self) -> str:
        """The problem in words, or empty."""
        if self.reason or not self.status:
            return self.reason
        how = f"exit status {self.status}" if self.status > 0 else f"killed by signal {-self.status}"
        return f"failed ({how})"

    def left_by(self, command: Command) -> bool:
        """Whether the folder is as the command left it: it ended by itself, and without an error unless it `keep`s."""
        return not self.fault and not self.reason and (not self.status or command.keep)


def run_command(command: Command, level: Level, feed: Callable[[bytes], None]) -> CommandEnd:
    """Run the command, so that its folder is as it left it; what it leaves running is killed.

    `feed` gets its output. Raises `BadInput` if the level does not hold here, `HarnessFault` if there is no sandbox.
    """
    with ending_leftovers():
        check_level(level)
        end = _in_sandbox(command, feed) if level == "sandbox" else _in_place(command, level, feed)
    if end.left_by(command) and (command.folder.is_symlink() or not command.folder.is_dir()):
        return attrs.evolve(end, reason="removed its own folder")
    if level != "sandbox" and end.left_by(command):  # there unpacking does the same
        try:
            # What a command leaves closed to its own user, as some caches are, could not be read.
            open_to_owner(command.folder)
        except BadTree as error:
            return attrs.evolve(end, reason=f"made {error}")
        except OSError as error:
            return attrs.evolve(end, reason=f"left what cannot be read: {error}")
    return end


def _environment(command: Command, level: Level, home: str) -> dict[str, str]:
    """The environment of a command: as of a bot, with a home to write to and its program's companions at hand."""
    if level == "none":
        return {**os.environ, **command.variables}
    env = environment(SeatSpec(bot=command.name, cwd=str(command.folder), paths=command.paths), level)
    rustc = shutil.which("rustc") if level == "limits" else None
    for program in (command.argv[0], *([] if rustc is None else [without_proxy(rustc)])):
        place = os.path.dirname(program)
        # A folder of the system's would hide what the user has put before it.
        if place not in env["PATH"].split(os.pathsep) and not Path(place).is_relative_to(command.folder):
            env["PATH"] = f"{place}:{env['PATH']}"
    return {**env, "HOME": home, "TMPDIR": home, **command.variables}


def _in_place(command: Command, level: Level, feed: Callable[[bytes], None]) -> CommandEnd:
    expect_status()
    limits = command.limits
    argv = list(command.argv)
    if level == "limits":
        argv = limited(argv, limits.open_files, limits.folder_mb, data_bytes(limits.memory_mb))
    try:
        process = subprocess.Popen(
            argv,
            cwd=command.folder,
            env=_environment(command, level, str(command.scratch)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        return CommandEnd(f"cannot be started: {error.strerror}", 0, BuildTime(0.0, 0.0))
    memory = MemoryWatch(limits.memory_mb)

    def processes() -> list[int]:
        return [process.pid, *descendants(process.pid)]

    def excess() -> str:
        if level == "none":
            return ""
        if len(processes()) > limits.processes:
            return f"ran more than {limits.processes} processes"
        if memory.check(processes):
            return _greedy(memory, limits)
        try:
            size = sum(disk_bytes(folder, _MOST_SEEN) for folder in (command.folder, command.scratch))
        except BadTree as error:
            return f"made {error}"
        if size > limits.folder_mb << 20:
            return f"made more than {limits.folder_mb} MiB of files"
        return ""

    run = _Run(process, {_fd(process.stdout): feed}, excess, processes, limits.seconds)
    try:
        reason = run.attend()
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        run.close()
    return CommandEnd(reason, process.returncode, run.clock.time)


def _in_sandbox(command: Command, feed: Callable[[bytes], None]) -> CommandEnd:
    with tempfile.TemporaryFile(dir=command.scratch) as archive:
        end = _archive(command, archive, feed)
        if not end.left_by(command):
            return end
        archive.seek(0)
        remove_tree(command.folder)
        try:
            unpack(archive, command.folder, command.limits.folder_mb << 20)
        except BadTree as error:
            return attrs.evolve(end, reason=f"made {error}")
    return end


def _archive(command: Command, archive: Any, feed: Callable[[bytes], None]) -> CommandEnd:
    """Run it in a sandbox, and have the folder as it left it written to `archive`."""
    tar = shutil.which("tar", path="/usr/bin:/bin")
    if tar is None:
        raise BadInput("level sandbox needs tar, to build bots: apt-get install tar")
    limits = command.limits
    seat = SeatSpec(
        bot=command.name,
        run=command.argv,
        cwd=str(command.folder),
        memory_mb=limits.memory_mb,
        processes=limits.processes,
        tmp_mb=limits.tmp_mb,
        paths=command.paths,
        network=command.network,
    )
    at_most = rlimits(limits.open_files, limits.folder_mb, data_bytes(limits.memory_mb))
    script = _IN_SANDBOX.replace("{unless}", "" if command.keep else _UNLESS_FAILED)
    sandbox = Sandbox(seat, at_most, limits.folder_mb, ("/bin/sh", "-c", script, tar))
    process = sandbox.start(_environment(command, "sandbox", "/tmp"))
    memory = MemoryWatch(limits.memory_mb)
    # The archive is somewhat larger than what is in it, and whoever writes it need not be tar.
    most = 2 * limits.folder_mb << 20
    written = 0

    def keep(data: bytes) -> None:
        nonlocal written
        written += len(data)
        if written <= most:
            archive.write(data)

    def too_large() -> str:
        return f"made more than {limits.folder_mb} MiB of files" if written > most else ""

    def excess() -> str:
        return too_large() or (_greedy(memory, limits) if memory.check(sandbox.processes) else "")

    sinks = {_fd(process.stdout): keep, _fd(process.stderr): feed}
    run = _Run(process, sinks, excess, lambda: [sandbox.init_pid, *sandbox.processes()], limits.seconds)
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
    # With a status of its own a command that keeps cannot be told from a sandbox that archived nothing, but by this.
    missing = "left a folder that could not be archived" if command.keep and not written else ""
    return CommandEnd(
        reason or too_large() or missing, exit_status(process.returncode), run.clock.time, fault or ""
    )


class _Run:
    """A command that runs: what it writes goes to the sinks, until it has ended or has taken too much."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        sinks: Mapping[int, Callable[[bytes], None]],
        excess: Callable[[], str],
        processes: Callable[[], list[int]],
        most_s: float,
    ) -> None:
        self._process, self._sinks, self._excess, self._processes = process, sinks, excess, processes
        self.clock = BuildClock(most_s, time.monotonic())
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
                    time.sleep(_ENDING_S)
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
        """Read the last words of a command that has been killed, and give back the pipes."""
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


def _greedy(memory: MemoryWatch, limits: CommandLimits) -> str:
    return f"took {memory.exceeded_mb} MiB of memory, more than {limits.memory_mb} MiB"


def _fd(pipe: Any) -> int:
    fd: int = pipe.fileno()
    return fd


WALL: Final = 5  # a build may take this many times its limit by the wall clock
_TICKS: Final = os.sysconf("SC_CLK_TCK")
# States of processes that compute, wait for a processor, or wait for the disk (proc_pid_stat(5)).
_RUNS: Final = b"RD"


@attrs.frozen
class BuildTime:
    """How long a build took, in seconds: by the wall clock, and the processor time of all its processes."""

    wall_s: float
    cpu_s: float

    @property
    def words(self) -> str:
        """The time in words."""
        return f"{self.wall_s:.1f} s, {self.cpu_s:.1f} s of processor time"


@attrs.define
class BuildClock:
    """Counts the time of a build of which the limit is `limit_s` seconds."""

    # The clock counts the processor time of all processes of the build, and the time while all of them sleep: a build
    # that only waits must end, too. While one of them waits for a processor or the disk, others take that time from
    # it.

    limit_s: float
    begun_s: float
    cpu_s: float = 0.0
    slept_s: float = 0.0
    _seen_s: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._seen_s = self.begun_s

    def update(self, now_s: float, cpu_s: float, *, runs: bool) -> None:
        """Note that the processes have computed `cpu_s` seconds so far, and whether one of them `runs` now."""
        more_s = max(0.0, cpu_s - self.cpu_s)
        if not runs:
            self.slept_s += max(0.0, now_s - self._seen_s - more_s)
        self.cpu_s += more_s
        self._seen_s = now_s

    def excess(self) -> str:
        """How it took too long, or nothing."""
        if self.cpu_s + self.slept_s > self.limit_s:
            return f"took more than {self.limit_s:g} s"
        if self._seen_s - self.begun_s > WALL * self.limit_s:
            return f"took more than {counted(round(WALL * self.limit_s), 'second')} by the wall clock"
        return ""

    @property
    def time(self) -> BuildTime:
        """How long it has taken so far."""
        return BuildTime(self._seen_s - self.begun_s, self.cpu_s)


def computed(pids: Iterable[int]) -> tuple[float, bool]:
    """The processor time in seconds of these processes and of the children that they waited for; whether one runs.

    Where the system does not tell, none of them runs.
    """
    ticks, runs = 0, False
    for pid in pids:
        with contextlib.suppress(IndexError, ValueError):
            # The second field, the program's name in brackets, may itself hold brackets and blanks.
            fields = read_file(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
            ticks += sum(map(int, fields[11:15]))
            runs = runs or fields[0] in _RUNS
    return ticks / _TICKS, runs
