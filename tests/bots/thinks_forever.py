"""Computes without end when asked."""


def misbehave(wire):
    for _ in wire.questions():
        while True:
            pass
