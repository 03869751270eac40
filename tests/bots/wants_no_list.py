"""Wants a text instead of a list."""


def misbehave(wire):
    wire.play_on(wants="state")
