"""Writes into its own source file."""

import contextlib
from pathlib import Path


def misbehave(wire):
    with contextlib.suppress(OSError), Path(__file__).open("a") as source:
        source.write("# it was here\n")
    wire.play_on()
