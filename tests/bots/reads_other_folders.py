"""Reads the file named in its file `secret`, another bot's or the store's, and crashes if that works."""

from pathlib import Path


def misbehave(wire):
    try:
        Path(Path("secret").read_text()).read_bytes()
    except OSError:
        wire.play_on()
    else:
        raise SystemExit("read what is not its own")
