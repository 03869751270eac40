"""Writes files of 32 MB, up to 512 MB in all, wherever it may, and crashes if it may write any."""

import contextlib
import os
from pathlib import Path

PIECE = 1 << 20
PIECES = 32
FILES = 16


def misbehave(wire):
    for place in (Path(), Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.home()):
        paths = [place / f"warpleague-filler-{os.getpid()}-{index}" for index in range(FILES)]
        written = 0
        with contextlib.suppress(OSError):
            for path in paths:
                with path.open("wb", buffering=0) as file:
                    for _ in range(PIECES):
                        written += file.write(bytes(PIECE))
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()
        if written:
            raise SystemExit(f"wrote {written >> 20} MB into {place}")
    wire.play_on()
