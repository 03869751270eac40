"""Opens files until it may not open any more, and crashes if it may open a thousand."""

import contextlib
import os


def misbehave(wire):
    opened = []
    with contextlib.suppress(OSError):
        while len(opened) < 1000:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    if len(opened) >= 1000:
        raise SystemExit("nobody stopped me")
    for descriptor in opened:
        os.close(descriptor)
    wire.play_on()
