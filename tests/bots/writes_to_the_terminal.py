"""Opens the terminal that the harness runs in, and crashes if that works."""

import os


def misbehave(wire):
    try:
        os.open("/dev/tty", os.O_RDWR)
    except OSError:
        wire.play_on()
    else:
        raise SystemExit("found a terminal")
