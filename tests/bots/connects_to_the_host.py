"""Connects to the port named in its file `port`, if there is one, and crashes if that works."""

import socket
from pathlib import Path


def misbehave(wire):
    try:
        socket.create_connection(("127.0.0.1", int(Path("port").read_text())), timeout=1)
    except OSError:
        wire.play_on()
    else:
        raise SystemExit("reached the host")
