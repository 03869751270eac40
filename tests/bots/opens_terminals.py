"""Opens as many terminals as it can, and crashes if it can open one."""

import contextlib
import os


def misbehave(wire):
    for path in ("/dev/ptmx", "/dev/pts/ptmx", "/dev/tty", "/dev/console"):
        with contextlib.suppress(OSError):
            os.open(path, os.O_RDWR | os.O_NOCTTY)
            raise SystemExit(f"opened {path}")
    wire.play_on()
