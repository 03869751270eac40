"""Writes a hundred files into its folder and one into each usual place for scratch files."""

import contextlib
from pathlib import Path


def misbehave(wire):
    places = [Path(f"left-behind-{index}") for index in range(100)]
    folders = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.home())
    for place in (*places, *(folder / "warpleague-left-behind" for folder in folders)):
        with contextlib.suppress(OSError):
            place.write_text("it was here\n")
    wire.play_on()
