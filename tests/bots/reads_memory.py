"""Reads the memory of every process it can see, by ptrace and through /proc, and crashes if that works."""

import contextlib
import ctypes
import os
import signal
from pathlib import Path

PTRACE_ATTACH = 16
PTRACE_DETACH = 17


def misbehave(wire):
    libc = ctypes.CDLL(None, use_errno=True)
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        # Its own sandbox's first process, which knows nothing that the bot does not, may be among them.
        if pid in (1, os.getpid()):
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            start = int((entry / "maps").read_text().split("-")[0], 16)
            with (entry / "mem").open("rb", buffering=0) as memory:
                memory.seek(start)
                if memory.read(16):
                    raise SystemExit(f"read the memory of {pid}")
        if libc.ptrace(PTRACE_ATTACH, pid, 0, 0) == 0:
            libc.ptrace(PTRACE_DETACH, pid, 0, 0)
            os.kill(pid, signal.SIGCONT)
            raise SystemExit(f"traced {pid}")
    wire.play_on()
