"""Kills every process it can see; unless armed, it only plays.

It fires only if its folder holds the file `armed-for-the-sandbox`, its user is not root, and its process id is
one of the first ten, which only a process id namespace of its own hands out.
"""

import contextlib
import os
import signal
from pathlib import Path


def is_armed():
    """Whether all that tells a sandbox from a host is there: the file, a user's id, a namespace of its own."""
    return Path("armed-for-the-sandbox").exists() and os.geteuid() != 0 and os.getpid() <= 10


def misbehave(wire):
    if is_armed():
        with contextlib.suppress(ProcessLookupError):  # it sees nobody
            os.kill(-1, signal.SIGKILL)
    wire.play_on()
