"""Connects to the abstract socket named in its file `socket`, if there is one, and crashes if that works."""

import socket
from pathlib import Path


def misbehave(wire):
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.connect("\0" + Path("socket").read_text())
    except OSError:
        wire.play_on()
    else:
        raise SystemExit("reached the host")
