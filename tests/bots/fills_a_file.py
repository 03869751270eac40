"""Writes a file of up to 200 MB into its folder, and takes it away again."""

import contextlib
import signal
from pathlib import Path

SIZE = 200 << 20


def misbehave(wire):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    big = Path("big")
    written = 0
    with contextlib.suppress(OSError), big.open("wb", buffering=0) as file:
        while written < SIZE:
            written += file.write(bytes(1 << 20))
    with contextlib.suppress(OSError):
        big.unlink(missing_ok=True)
    if written >= SIZE:
        raise SystemExit("nobody stopped me")
    wire.play_on()
