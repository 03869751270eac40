"""Answers with a line of 100 MB that has no end."""


def misbehave(wire):
    for _ in wire.questions():
        for _ in range(1600):
            wire.raw(b"x" * 65536)
