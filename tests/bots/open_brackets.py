"""Answers with 60,000 brackets that never close."""


def misbehave(wire):
    for _ in wire.questions():
        wire.raw(b"[" * 60_000 + b"\n")
