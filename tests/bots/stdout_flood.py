"""Writes empty objects without end once it is asked."""


def misbehave(wire):
    for _ in wire.questions():
        while True:
            wire.raw(b"{}\n" * 20_000)
