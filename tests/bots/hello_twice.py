"""Says hello twice."""


def misbehave(wire):
    wire.read()
    wire.greet()
    wire.greet()
    wire.play_on()
