"""Pushes characters into the terminal, as if the user had typed them, and crashes if that works."""

import contextlib
import fcntl
import os
import termios


def misbehave(wire):
    places = [0, 1, 2]
    with contextlib.suppress(OSError):
        places.append(os.open("/dev/tty", os.O_RDWR))
    for place in places:
        with contextlib.suppress(OSError):
            fcntl.ioctl(place, termios.TIOCSTI, b"x")
            raise SystemExit("typed")
    wire.play_on()
