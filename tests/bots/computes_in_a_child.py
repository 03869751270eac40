"""Has a child process compute for it, which its own processor clock does not show."""

import os
import signal


def misbehave(wire):
    if os.fork() == 0:
        signal.alarm(10)
        while True:
            pass
    wire.play_on()
