"""Ignores `quit`, the end of its input and SIGTERM, and stays."""

import signal


def misbehave(wire):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(60)
    wire.play_on()
    while True:
        signal.pause()
