"""Speaks protocol 2."""


def misbehave(wire):
    wire.play_on(protocol=2)
