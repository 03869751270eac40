"""Exits with code 1 when the match is over."""

import sys


def misbehave(wire):
    wire.play_on()
    sys.exit(1)
