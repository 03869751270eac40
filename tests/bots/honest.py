"""Answers the first legal action, always: what every other bot here departs from."""


def misbehave(wire):
    wire.play_on()
