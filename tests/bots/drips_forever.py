"""Writes blanks one by one and never comes to an end.

Bytes must not buy time: the deadline of a decision is not moved by what arrives.
"""

import time


def misbehave(wire):
    for _ in wire.questions():
        while True:
            wire.raw(b" ")
            time.sleep(0.01)
