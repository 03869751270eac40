"""Reads the referee's hello and never answers."""

import time


def misbehave(wire):
    wire.read()
    time.sleep(60)
