"""Forks 50 children that hold its pipes for ten seconds each, and plays on.

A bounded stand-in for the real thing: only one generation, and only 50.
"""

import os
import time


def misbehave(wire):
    for _ in range(50):
        try:
            if os.fork() == 0:
                time.sleep(10)
                os._exit(0)
        except OSError:
            break  # refused: the host keeps its promise
    wire.play_on()
