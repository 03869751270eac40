"""Writes to standard error without end when asked."""

import os


def misbehave(wire):
    for _ in wire.questions():
        while True:
            os.write(2, b"flood " * 10_000)
