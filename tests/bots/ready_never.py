"""Never gets ready."""

import time


def misbehave(wire):
    wire.read()
    wire.greet()
    time.sleep(60)
