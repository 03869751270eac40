"""Wants something that is not on offer."""


def misbehave(wire):
    wire.play_on(wants=["seed"])
