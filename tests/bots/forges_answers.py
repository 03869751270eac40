"""Writes into the pipes of other bots that it can see, as if they had answered."""

import contextlib
import os
from pathlib import Path


def misbehave(wire):
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.name != str(os.getpid()) and b"hostile.py" in (process / "cmdline").read_bytes().split(
                b"\0"
            ):
                with (process / "fd" / "1").open("wb") as pipe:
                    pipe.write(b"forged\n")
    wire.play_on()
