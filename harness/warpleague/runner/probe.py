"""The program that `doctor` runs in a bot's place: it tries what its level forbids, and reports what worked.

It is started alone, so it imports only the standard library, and at first only what every level needs. It reads one
line of JSON with what to expect and what to try, and answers one line: for each promise an empty text if it was
kept, else what happened. It leaves behind what it starts. `doctor` decides what its findings mean.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


Expected = dict[str, Any]

_AF_VSOCK = 40
_TIOCSTI = 0x5412
_EPERM = 1
_F_NOTIFY = 1026
_F_SET_RW_HINT = 1036
_F_SET_FILE_RW_HINT = 1038
_MADV_PAGEOUT = 21
# What file systems, ext4 above all, keep with a file, and tell to all who can read it: flags, extents, state.
_KEPT_WITH_FILES = {
    "FS_IOC_GETFLAGS": 0x80086601,
    "FS_IOC_FIEMAP": 0xC020660B,
    "EXT4_IOC_GETVERSION": 0x80086603,
    "EXT4_IOC_PRECACHE_EXTENTS": 0x6612,
    "EXT4_IOC_CLEAR_ES_CACHE": 0x6628,
    "EXT4_IOC_GETSTATE": 0x40046629,
    "EXT4_IOC_GET_ES_CACHE": 0xC020662A,
}
_WHOLE = bytes(8) + b"\xff" * 8 + bytes(48)  # a struct fiemap: from 0, as far as can be, no room for extents
_PR_SET_TIMERSLACK = 29
_PR_SET_PDEATHSIG = 1
_PTRACE_ATTACH = 16


def environment(expected: Expected) -> str:
    """Nothing in the environment but what the level puts there."""
    extra = sorted(set(os.environ) - {*expected["environment"], "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"})
    return f"it sees {', '.join(extra)}" if extra else ""


def descriptors(_: Expected) -> str:
    """Three pipes and no other open file."""
    problems = []
    for fd in range(3, 1024):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            problems.append(fd)
    return f"descriptors {problems} are open" if problems else ""


def terminal(expected: Expected) -> str:
    """A session of its own, without a terminal."""
    if os.getsid(0) not in (os.getpid(), os.getppid()) or os.getsid(0) == expected["session"]:
        return "it is in the session of another process"
    if any(map(os.isatty, (0, 1, 2))):
        return "a standard stream is a terminal"
    with contextlib.suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        return "/dev/tty can be opened"
    return ""


def limits(expected: Expected) -> str:
    """The resource limits, hard as soft."""
    wrong = []
    for name, most in expected["limits"].items():
        limit = resource.getrlimit(getattr(resource, name))
        if any(value == resource.RLIM_INFINITY or value > most for value in limit):
            wrong.append(f"{name} is {limit}, not {most}")
    return "; ".join(wrong)


def memory(expected: Expected) -> str:
    """No private memory beyond the limit."""
    size = expected["limits"]["RLIMIT_DATA"] + (64 << 20)
    with contextlib.suppress(OSError, MemoryError, ValueError):
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
        return f"{size >> 20} MiB were granted"
    return ""


def identity(_: Expected) -> str:
    """No root, no capabilities, no way to get any."""
    if 0 in (*os.getresuid(), *os.getresgid()):
        return f"its user and group ids are {os.getresuid()}, {os.getresgid()}"
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    capabilities = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]
    if capabilities:
        return f"it holds capabilities: {', '.join(capabilities)}"
    return "" if status.get("NoNewPrivs") == "1" else "new privileges are not ruled out"


def files(expected: Expected) -> str:
    """No files but the system's and its own."""
    for path in expected["secrets"]:
        with contextlib.suppress(OSError):
            Path(path).read_bytes()
            return f"it can read {path}"
    return ""


def writing(_: Expected) -> str:
    """No place to write a file to, and no writing into its own."""
    places = {"/", "/tmp", "/var/tmp", "/run", "/dev/shm", ".", str(Path.home())}
    with contextlib.suppress(OSError):
        places |= {line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()}
    for place in sorted(places):
        path = Path(place, f"probe-{os.getpid()}")
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            path.unlink()
            return f"it can write to {place}"
    with contextlib.suppress(OSError):
        os.close(os.open(sys.argv[0], os.O_WRONLY))
        return "it can write into its own source"
    return ""


def processes(_: Expected) -> str:
    """No process but its own to be seen."""
    seen = {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    seen -= {os.getpid(), os.getppid()}
    return f"it sees {len(seen)} processes of others" if seen else ""


def network(expected: Expected) -> str:
    """No connection to the host or beyond."""
    import socket

    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", expected["port"]), timeout=1).close()
        return "it reached a port of the host"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as link:
        link.connect("\0" + expected["abstract"])
        return "it reached a unix socket of the host"
    for family in (_AF_VSOCK, socket.AF_NETLINK, socket.AF_PACKET):
        with contextlib.suppress(OSError):
            socket.socket(family, socket.SOCK_RAW if family != _AF_VSOCK else socket.SOCK_STREAM).close()
            return f"it may use sockets of family {family}"
    links = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    return "" if links == ["lo"] else f"it has the interfaces {', '.join(links)}"


def addresses(expected: Expected) -> str:
    """The address that was named answers, another one of the host does not."""
    import socket

    try:
        with socket.create_connection(("127.0.0.1", expected["named"]), timeout=5) as link:
            if link.recv(16) != b"here":
                return "the address that was named does not answer"
    except OSError as error:
        return f"the address that was named cannot be reached: {error}"
    return network(expected)


def calls(expected: Expected) -> str:
    """The system calls on the list fail, each with its own error; so do those that are newer than the list."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    passed = []
    for name, (number, error) in expected["calls"].items():
        ctypes.set_errno(0)
        nothing = [ctypes.c_long(-1)] * 6
        if libc.syscall(ctypes.c_long(number), *nothing) != -1 or ctypes.get_errno() != error:
            passed.append(name)
    passed += (
        [] if libc.prctl(_PR_SET_TIMERSLACK, 50_000, 0, 0, 0) else ["prctl with options that no bot needs"]
    )
    if passed:
        return f"it may call {', '.join(passed)}"
    try:
        fcntl.ioctl(0, _TIOCSTI, b"x")
    except OSError as error:
        if error.errno == _EPERM:
            return ""
    return "it may push characters into terminals"


def overseer(_: Expected) -> str:
    """No hold on process 1 of the sandbox: not through /proc, nor by a system call."""
    import ctypes

    own = os.getpid()
    names = ("mem", "syscall", "auxv", "environ", "fd", "fd/0", "root", "maps", "timerslack_ns", "ns/pid")
    places = ["/proc/1", "/proc/self/../1", "/proc/1/task/1", "/proc/thread-self/../../../1"]
    places += [f"/proc/{own}/task/{own}/../../../1", "/proc/self/root/proc/1", "/dev/fd/../../1"]
    for place in places:
        for name in names:
            for mode in (os.O_RDWR, os.O_WRONLY, os.O_RDONLY):
                with contextlib.suppress(OSError):
                    os.close(os.open(f"{place}/{name}", mode | os.O_NOCTTY | os.O_NONBLOCK))
                    return f"it can open {place}/{name}"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(_PTRACE_ATTACH, 1, 0, 0) == 0:
        return "it can trace process 1"
    memory = ctypes.create_string_buffer(8)
    piece = (ctypes.c_size_t * 2)(ctypes.addressof(memory), 8)
    for call in (libc.process_vm_readv, libc.process_vm_writev):
        for pid in (1, own):
            if call(pid, piece, ctypes.c_ulong(1), piece, ctypes.c_ulong(1), ctypes.c_ulong(0)) >= 0:
                return "it can reach the memory of other processes by a system call"
    with contextlib.suppress(OSError):
        if libc.syscall(438, os.pidfd_open(1), 0, 0) >= 0:
            return "it can take descriptors from process 1"
    with contextlib.suppress(OSError):
        resource.prlimit(1, resource.RLIMIT_CORE, (0, 0))
        return "it can set the limits of process 1"
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.kill(1, number)
    return ""


def outlive(_: Expected) -> str:
    """Do what may help to outlive the harness; whether it did is the harness's finding."""
    import ctypes

    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)
    return overseer({}) + daemon({})


def devices(_: Expected) -> str:
    """No devices but those that hold nothing; no terminals."""
    known = {"null", "zero", "full", "random", "urandom"}
    devices = (
        entry for entry in Path("/dev").rglob("*") if entry.is_char_device() or entry.is_block_device()
    )
    names = [entry.name for entry in devices]
    # Links to the standard streams, which are pipes, are not devices.
    if more := sorted(set(names) - known):
        return f"it has {', '.join(more)}"
    with contextlib.suppress(OSError):
        for fd in os.openpty():
            os.close(fd)
        return "it can make terminals"
    return ""


def marks(_: Expected) -> str:
    """No mark on what it shares with other bots: files, devices, and what is cached of them."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    own = sys.argv[0]
    for path in ("/dev/null", "/dev/zero", "/dev/urandom", own, "/usr", "/proc/version"):
        for set_times in (lambda path: os.utime(path), lambda path: libc.utimes(path.encode(), None)):
            with contextlib.suppress(OSError):
                if set_times(path) in (0, None):
                    return f"it can set the times of {path}"
    with open(own, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
        fd = file.fileno()
        tries: dict[str, Callable[[], object]] = {
            "leave hints in an inode": lambda: fcntl.fcntl(file, _F_SET_RW_HINT, bytes(8)),
            "leave hints in a file": lambda: fcntl.fcntl(file, _F_SET_FILE_RW_HINT, bytes(8)),
            "lease files": lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
            "watch folders": lambda: _watch("/usr"),
            "drop pages from the cache": lambda: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED),
            "page files out": lambda: pages.madvise(_MADV_PAGEOUT),
            "ask what is cached by preadv2": lambda: os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT),
            "look for holes in files": lambda: os.lseek(fd, 0, os.SEEK_HOLE),
            "have extents cached": lambda: os.lseek(fd, 0, os.SEEK_DATA),
            **{
                f"call ioctl {name}": lambda number=number: fcntl.ioctl(fd, number, bytearray(_WHOLE))  # type: ignore[misc]
                for name, number in _KEPT_WITH_FILES.items()
            },
        }
        for what, attempt in tries.items():
            with contextlib.suppress(OSError):
                attempt()
                return f"it can {what}"
    if libc.inotify_init() >= 0 or libc.inotify_init1(0) >= 0:
        return "it can watch files"
    page = ctypes.create_string_buffer(2 * mmap.PAGESIZE)
    start = -(-ctypes.addressof(page) // mmap.PAGESIZE) * mmap.PAGESIZE
    if libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(1), ctypes.create_string_buffer(1)) == 0:
        return "it can ask what is cached by mincore"
    return ""


def _watch(folder: str) -> None:
    """Ask for a signal when something in `folder` is read."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        fcntl.fcntl(fd, _F_NOTIFY, 1)
    finally:
        os.close(fd)


def forks(expected: Expected) -> str:
    """As many processes as granted, exactly."""
    out, hold = os.pipe()
    children: list[int] = []
    try:
        while len(children) <= expected["processes"]:
            child = os.fork()
            if not child:
                os.close(hold)
                os.read(out, 1)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    os.close(hold)
    for child in children:
        os.waitpid(child, 0)
    os.close(out)
    count = len(children) + 1
    return "" if count == expected["processes"] else f"it had {count} processes, not {expected['processes']}"


def hoard(expected: Expected) -> str:
    """Take shared memory beyond the limit; whether that is seen is the harness's finding."""
    size = 2 * expected["memory_mb"] << 20
    with contextlib.suppress(OSError, MemoryError, ValueError):
        hoarded.append(mmap.mmap(-1, size))
        while size:
            size -= hoarded[-1].write(bytes(1 << 20))
    return ""


hoarded: list[mmap.mmap] = []


def daemon(_: Expected) -> str:
    """Leave a process behind that nobody's signal but SIGKILL ends; it gives up by itself after a minute."""
    child = os.fork()
    if not child:
        os.setsid()
        if not os.fork():
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            time.sleep(60)
        os._exit(0)
    os.waitpid(child, 0)
    return ""


def main() -> None:
    """Answer each line of requests; the first may have started before we read it."""
    for line in sys.stdin:
        expected: Expected = json.loads(line)
        findings = {}
        for name in expected["try"]:
            try:
                findings[name] = globals()[name](expected)
            except Exception as error:  # noqa: BLE001 - reported in place of a finding
                findings[name] = f"the probe failed: {type(error).__name__}: {error}"
        print(json.dumps(findings), flush=True)


if __name__ == "__main__":
    main()
