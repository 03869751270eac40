"""Answers with NUL bytes."""


def misbehave(wire):
    for _ in wire.questions():
        wire.raw(bytes(1000) + b"\n")
