"""Writes a file into its folder and into each usual place for scratch files, and crashes if it may write any."""

import contextlib
import os
from pathlib import Path


def misbehave(wire):
    for folder in (Path(), Path("/tmp"), Path("/dev/shm"), Path("/run"), Path("/var/tmp"), Path.home()):
        place = folder / f"warpleague-left-behind-{os.getpid()}"
        with contextlib.suppress(OSError):
            place.write_text("it was here\n")
            place.unlink()
            raise SystemExit(f"wrote into {folder}")
    wire.play_on()
