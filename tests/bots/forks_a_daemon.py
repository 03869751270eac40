"""Leaves a daemon behind: forked twice, in a session of its own, deaf to SIGTERM.

It gives up by itself after 30 seconds. Its arguments hold the name of this bot, by which it can be found.
"""

import os
import signal
import time


def misbehave(wire):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            time.sleep(30)
        os._exit(0)
    os.wait()
    wire.play_on()
