"""Takes 60 MB in each of four children, less than its limit in every one of them, and never answers."""

import os
import time


def misbehave(wire):
    for question in wire.questions():
        if question["id"] == 1:
            for _ in range(4):
                if os.fork() == 0:
                    hoard = bytearray(60 << 20)
                    for offset in range(0, len(hoard), 4096):
                        hoard[offset] = 1
                    time.sleep(60)
                    os._exit(0)
            time.sleep(60)
