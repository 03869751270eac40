"""Marks files and devices that later matches see: by times, hints, leases and cached pages; crashes if it can."""

import contextlib
import fcntl
import mmap
import os
import sys
from pathlib import Path

F_SET_RW_HINT = 1036
MADV_PAGEOUT = 21


def misbehave(wire):
    own = os.open(sys.argv[0], os.O_RDONLY)
    pages = mmap.mmap(own, 0, prot=mmap.PROT_READ)
    attempts = {
        "set times": lambda: [os.utime(path) for path in Path("/dev").iterdir() if not path.is_symlink()],
        "left a hint": lambda: fcntl.fcntl(own, F_SET_RW_HINT, bytes(8)),
        "took a lease": lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        "dropped pages": lambda: os.posix_fadvise(own, 0, 0, os.POSIX_FADV_DONTNEED),
        "paged out": lambda: pages.madvise(MADV_PAGEOUT),
        "asked what is cached": lambda: os.preadv(own, [bytearray(1)], 0, os.RWF_NOWAIT),
    }
    for what, attempt in attempts.items():
        with contextlib.suppress(OSError):
            attempt()
            raise SystemExit(what)
    wire.play_on()
