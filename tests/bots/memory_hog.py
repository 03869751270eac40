"""Takes memory until there is no more, or 2 GB."""

import os
import time

MIB = 1 << 20


def misbehave(wire):
    for _ in wire.questions():
        hoard = [bytearray(os.urandom(1) * MIB) for _ in range(2048)]
        time.sleep(60 + len(hoard))
