"""Has a name of 60,000 letters."""


def misbehave(wire):
    wire.play_on(name="x" * 60_000)
