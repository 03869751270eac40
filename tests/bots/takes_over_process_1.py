"""Opens all that it finds of process 1 of its sandbox, to write into its memory, and crashes if that works."""

import contextlib
import os


def misbehave(wire):
    own = os.getpid()
    for place in ("/proc/1", "/proc/self/../1", f"/proc/{own}/task/{own}/../../../1", "/proc/1/task/1"):
        for name in ("mem", "fd", "maps", "environ", "root"):
            for mode in (os.O_RDWR, os.O_RDONLY):
                with contextlib.suppress(OSError):
                    os.open(f"{place}/{name}", mode)
                    raise SystemExit(f"opened {place}/{name}")
    with contextlib.suppress(OSError):
        os.kill(1, 9)
    wire.play_on()
