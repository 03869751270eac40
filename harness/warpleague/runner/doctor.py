"""The promises of each level, and whether this machine keeps them: a probe runs in a bot's place and tries.

Nothing is inferred from versions or settings: only what the probe could do counts.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.errors import BadInput, HarnessFault, WarpLeagueError
from warpleague.match.spec import Confinement, Level, SeatSpec, Violation
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.confine import seccomp
from warpleague.runner.confine.cgroups import freezer_support, memory_support
from warpleague.runner.confine.launch import FILE_MB, MORE_LIMITS, OPEN_FILES, data_bytes, environment
from warpleague.runner.confine.sandbox import Killed, bubblewrap_version, end_unmade
from warpleague.runner.host import become_subreaper, check_own_limits, children, started, state, sweep
from warpleague.runner.tree import remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.runner.bot.pipe import Answer


# Every promise in words.
PROMISES: Final = {
    "descriptors": "a bot has three pipes and no other open file",
    "terminal": "a bot has a session of its own, and no terminal",
    "environment": "a bot sees nothing of the harness's environment",
    "limits": "the limits on open files, file size, data and core dumps are set",
    "memory": "private memory beyond the limit is refused",
    "hoard": "shared memory beyond the limit is noticed",
    "daemon": "what a bot started dies with it",
    "orphan": "a bot dies when the harness is killed",
    "identity": "a bot is not root and has no capabilities",
    "files": "a bot sees no files but the system's and its own",
    "writing": "a bot can write nowhere, its own folder included",
    "processes": "a bot sees no processes but its own",
    "network": "a bot reaches no network and no socket of the host",
    "addresses": "a bot whose league names an address of the host reaches that one alone",
    "calls": "system calls that no bot needs are refused",
    "overseer": "a bot cannot touch process 1 of its sandbox, which ends it",
    "devices": "a bot has no device but null, zero, full, random and urandom",
    "marks": "no call sets or tells a mark on the files and devices that a bot shares with others",
    "forks": "a bot has as many processes as granted, and no more",
}

_ALWAYS: Final = ("descriptors", "terminal", "daemon")
_LIMITS: Final = (*_ALWAYS, "environment", "limits", "memory", "hoard", "orphan")
_SANDBOX: Final = (*_LIMITS, *(name for name in PROMISES if name not in _LIMITS))
# Which promises each level makes.
KEPT_BY: Final[dict[Level, tuple[str, ...]]] = {"none": _ALWAYS, "limits": _LIMITS, "sandbox": _SANDBOX}

# Those that take long to try, and for which the harness does more than ask; its own doing more than the host's.
_THOROUGH: Final = frozenset({"addresses", "hoard", "orphan"})

# Signals that the probe does not send itself, and that nothing it does brings about.
_FROM_OUTSIDE: Final = frozenset({"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM"})

_ELSEWHERE: Final = "what is promised can be tried on Linux only"
_ANSWER_S: Final = 20.0
_END_S: Final = 5.0
_MEMORY_MB: Final = 64
_PROBE_FOLDER: Final = "warpleague-probe-"
_NEW_S: Final = 600.0  # such a folder may not be locked yet


@attrs.frozen
class TestedPromise:
    """One promise, whether it was kept, and what happened if not."""

    promise: str
    kept: bool
    reason: str = ""


@attrs.frozen
class Report:
    """The result of trying `level`: `means` names what makes it; `failure` is why it cannot even be started."""

    level: Level
    means: str
    findings: tuple[TestedPromise, ...] = ()
    failure: str = ""

    @property
    def made_by(self) -> str:
        """The means, with the means that limit memory and freeze bots out of their turn at this time."""
        if not self.means or sys.platform != "linux":
            return self.means
        return f"{self.means}; {memory_support()}; {freezer_support()}"

    @property
    def promised(self) -> tuple[str, ...]:
        """The promises of the level."""
        return KEPT_BY[self.level]

    @property
    def holds(self) -> bool:
        """Whether every promise that was tried was kept."""
        return not self.failure and all(finding.kept for finding in self.findings)

    def complaint(self) -> str:
        """Why the level does not hold, in one line."""
        broken = [f"{PROMISES[f.promise]}: {f.reason}" for f in self.findings if not f.kept]
        return self.failure or "; ".join(broken)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON, each promise with the reason it was not kept, or null."""
        return {
            "level": self.level,
            "holds": self.holds,
            "made_by": self.made_by,
            "failure": self.failure or None,
            "promises": [
                {
                    "promise": f.promise,
                    "text": PROMISES[f.promise],
                    "kept": f.kept,
                    "reason": f.reason or None,
                }
                for f in self.findings
            ],
        }

    def confinement(
        self,
        pondering: str | None = None,
        paths: tuple[str, ...] | None = None,
        network: tuple[str, ...] | None = None,
    ) -> Confinement:
        """The part for a record: the means, the kind of host, the promises that passed, and those not tried.

        `pondering`, `paths` and `network` are those of the match.
        """
        tried = {f.promise for f in self.findings}
        return Confinement(
            level=self.level,
            made_by=self.made_by,
            host=f"{platform.system()} {platform.release()} {platform.machine()}",
            kept=tuple(f.promise for f in self.findings if f.kept),
            untried=tuple(name for name in self.promised if name not in tried),
            pondering=pondering,
            paths=paths,
            network=network,
        )


@cache
def check_level(level: Level) -> Report:
    """The promises of `level` that hold, tried once a process; `BadInput` says why the level does not hold."""
    if level == "none" or sys.platform != "linux":
        if level == "sandbox":
            raise BadInput(f"level sandbox needs Linux; use limits for bots that you trust: {_ELSEWHERE}")
        return Report(level, _means(level))
    report = examine(level)
    if not report.holds:
        raise BadInput(f"level {level} does not hold on this machine: {report.complaint()}")
    return report


def examine(level: Level, *, thorough: bool = False) -> Report:
    """Try the promises of `level`; `thorough` tries also what takes long.

    `BadInput` where this process may open too few files or start too few processes to try any, which says nothing
    about the level.
    """
    means = _means(level)
    if sys.platform != "linux":
        return Report(level, means, failure=_ELSEWHERE)
    check_own_limits(level)
    become_subreaper()
    if level == "sandbox":
        end_unmade()
    wanted = [name for name in KEPT_BY[level] if thorough or name not in _THOROUGH]
    attempt = _attempt(level, wanted)
    if isinstance(attempt, Killed):
        attempt = _attempt(level, wanted)  # once may be chance, or somebody's hand; twice has a cause
    if isinstance(attempt, WarpLeagueError):
        return Report(level, means, failure=str(attempt))
    findings = tuple(TestedPromise(name, not attempt[name], attempt[name]) for name in wanted)
    return Report(level, means, findings)


def _attempt(level: Level, wanted: list[str]) -> dict[str, str] | WarpLeagueError:
    """The breach of each wanted promise, or why none can be tried."""
    before = children()
    try:
        return dict(_try_all(level, wanted))
    except (BadInput, HarnessFault) as error:
        return error
    except BaseExceptionGroup as group:
        known = group.subgroup((BadInput, HarnessFault))
        if known is None:
            raise
        first = first_cause(known)
        assert isinstance(first, WarpLeagueError)
        return first
    finally:
        sweep(before | started())  # others of this process may play already


def _means(level: Level) -> str:
    if level == "sandbox":
        return bubblewrap_version()
    return "resource limits" if level == "limits" else ""


def first_cause(error: BaseException) -> BaseException:
    """The first error in a group, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _try_all(level: Level, wanted: list[str]) -> Iterator[tuple[str, str]]:
    token = secrets.token_hex(8)
    with contextlib.ExitStack() as stack:
        try:
            place = tempfile.TemporaryDirectory(prefix=_PROBE_FOLDER, ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(place))
            stack.callback(os.close, _locked(folder))
            _sweep_folders(folder.parent)
            seat = probe_seat(folder / "bot", token)
            secret = folder / "secret"
            secret.write_text("nobody but the harness may read this\n")
            secret.chmod(0o644)
            folder.chmod(0o755)  # what hides the secret must be the sandbox
        except OSError as error:
            raise HarnessFault(f"there is no room for a probe: {error}") from error
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as hidden:
            hidden.bind("\0" + token)
            hidden.listen()
            expected = {
                # The daemon last: it would count among the probe's processes.
                "try": sorted(set(wanted) - _THOROUGH, key=lambda name: (name == "daemon", name)),
                "environment": list(environment(seat, level)),
                "session": os.getsid(0),
                "memory_mb": seat.memory_mb,
                "limits": {
                    "RLIMIT_CORE": 0,
                    "RLIMIT_NOFILE": OPEN_FILES,
                    "RLIMIT_FSIZE": FILE_MB << 20,
                    "RLIMIT_DATA": data_bytes(seat.memory_mb),
                    **(MORE_LIMITS if level == "sandbox" else {}),
                },
                "processes": seat.processes,
                "secrets": [str(secret), f"/proc/{os.getpid()}/environ"],
                "port": server.getsockname()[1],
                "abstract": token,
                "calls": _refused_calls(),
            }
            findings = trio.run(_ask, seat, level, expected)
            if "hoard" in wanted:
                findings["hoard"] = trio.run(_hoard, seat, level, expected)
            if "addresses" in wanted:
                findings["addresses"] = trio.run(_reach, seat, level, expected)
        sweep_before = children()
        findings["daemon"] = findings["daemon"] or _left(token, "a daemon", sweep_before)
        yield from findings.items()
        if "orphan" in wanted:
            yield "orphan", _orphan(seat, level, token)


def _locked(folder: Path) -> int:
    """A descriptor that locks a folder while it is open and its process lives; `OSError` if another has the lock."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _sweep_folders(place: Path) -> None:
    """Remove folders of killed probe processes: they are not new, and nobody locks them."""
    for folder in place.glob(f"{_PROBE_FOLDER}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _NEW_S:
                handle = _locked(folder)
                try:
                    remove_tree(folder)
                finally:
                    os.close(handle)


def _refused_calls() -> dict[str, tuple[int, int]]:
    """The system calls that this machine's filter refuses, each with its number and error; some newer ones, too."""
    findings = {f"number {n}": (n, errno.ENOSYS) for n in range(seccomp.NEWER, seccomp.NEWER + 20)}
    machine = seccomp.machine()
    column = list(seccomp.AUDIT_ARCH).index(machine) if machine is not None else 0
    lists = ((seccomp.REFUSED, errno.EPERM), (seccomp.UNKNOWN, errno.ENOSYS), (seccomp.TIMES, errno.EPERM))
    for calls, error in lists:
        for name, numbers in calls.items():
            if (number := numbers[column]) is not None:
                findings[name] = (number, error)
    return findings


def probe_seat(folder: Path, token: str) -> SeatSpec:
    """The probe as a bot in a folder of its own; its arguments contain `token`, which identifies it."""
    folder.mkdir(parents=True)
    program = folder / "probe.py"
    shutil.copyfile(Path(__file__).with_name("probe.py"), program)
    program.chmod(0o644)
    folder.chmod(0o755)
    run = (sys.executable, "-I", "-S", "probe.py", token)
    return SeatSpec(bot="probe", run=run, cwd=str(folder), memory_mb=_MEMORY_MB, processes=16)


async def _ask(seat: SeatSpec, level: Level, expected: dict[str, Any]) -> dict[str, str]:
    bot = BotProcess(seat, level)
    try:
        answer = await _put(bot, expected)
        if isinstance(answer, Violation):
            raise _silent(bot, answer)
        findings: dict[str, str] = json.loads(answer.line)
        return findings
    finally:
        bot.end()


async def _hoard(seat: SeatSpec, level: Level, expected: dict[str, Any]) -> str:
    """Have a probe hoard: the watch must see it, unless the kernel has killed it for that."""
    bot = BotProcess(seat, level)
    try:
        answer = await _put(bot, {**expected, "try": ["hoard"]})
        if isinstance(answer, Violation):
            if answer.kind != "memory":
                raise _silent(bot, answer)
        elif not bot.memory_exceeded():
            return f"{2 * seat.memory_mb} MiB with a limit of {seat.memory_mb} went unnoticed"
        return ""
    finally:
        bot.end()


async def _reach(seat: SeatSpec, level: Level, expected: dict[str, Any]) -> str:
    """Have a probe reach for an address that is named, and for others."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        async def answer() -> None:
            await trio.lowlevel.wait_readable(server)
            with server.accept()[0] as link:
                link.sendall(b"here")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer)
            named = attrs.evolve(seat, network=(f"127.0.0.1:{port}",))
            findings = await _ask(named, level, {**expected, "try": ["addresses"], "named": port})
            nursery.cancel_scope.cancel()
    return findings["addresses"]


async def _put(bot: BotProcess, expected: dict[str, Any]) -> Answer | Violation:
    try:
        return await bot.ask(json.dumps(expected).encode() + b"\n", round(_ANSWER_S * 1e9))
    except HarnessFault as error:
        if bot.killed_by() in _FROM_OUTSIDE:
            raise Killed(str(error)) from None
        raise


def _silent(bot: BotProcess, trouble: Violation) -> HarnessFault:
    kind = Killed if trouble.kind == "crash" and bot.killed_by() in _FROM_OUTSIDE else HarnessFault
    text = bot.evidence()["stderr"].strip()
    return kind(f"the probe gave no answer: {trouble.message} {text}".strip())


def _left(token: str, what: str, before: set[int]) -> str:
    """Nothing, or that a process with `token` among its arguments is still there."""
    deadline = time.monotonic() + _END_S
    while pids := with_token(token):
        sweep((before | started()) - set(pids))  # as after every match
        if time.monotonic() > deadline:
            return f"{what} lives on"
        time.sleep(0.01)
    return ""


def with_token(token: str) -> list[int]:
    """The processes with `token` among their arguments, without this one."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if token.encode() in (entry / "cmdline").read_bytes():
                    pids.append(int(entry.name))
            except OSError:
                continue
    return pids


def _orphan(seat: SeatSpec, level: Level, token: str) -> str:
    """Start the probe from a process of its own, kill that, and see whether the probe goes with it."""
    # In the sandbox the probe tries hard to outlive its end; at limits only accidents must be stopped.
    request = json.dumps({"try": ["outlive"] if level == "sandbox" else []}).encode() + b"\n"
    script = (
        "import sys, time, trio; from warpleague.runner.bot.process import BotProcess; "
        "from warpleague.match.spec import SeatSpec; "
        f"bot = BotProcess({seat!r}, {level!r}); "
        f"trio.run(bot.ask, {request!r}, {round(_ANSWER_S * 1e9)}); print('asked', flush=True); time.sleep(60)"
    )
    before = children()
    with subprocess.Popen(
        [sys.executable, "-P", "-c", script.replace(repr(token), "sys.argv[1]"), token],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as harness:
        assert harness.stdout is not None
        if not harness.stdout.readline():
            return "the probe could not be started from another process"
        deadline = time.monotonic() + _END_S
        # A process in the middle of an exec shows no arguments for a moment.
        while not (bots := [pid for pid in with_token(token) if pid != harness.pid]):
            if time.monotonic() > deadline:
                break
        harness.send_signal(signal.SIGKILL)
        harness.wait()
    deadline = time.monotonic() + _END_S
    while any(map(state, bots)):
        if time.monotonic() > deadline:
            sweep(before)
            return "it lives on"
        time.sleep(0.01)
    sweep(before)
    return "" if bots else "it was not to be seen"
