"""Kills itself with SIGKILL when asked."""

import os
import signal


def misbehave(wire):
    for _ in wire.questions():
        os.kill(os.getpid(), signal.SIGKILL)
