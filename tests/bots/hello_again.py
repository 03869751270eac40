"""Says hello once more in the middle of a match."""


def misbehave(wire):
    for _ in wire.questions():
        wire.greet()
