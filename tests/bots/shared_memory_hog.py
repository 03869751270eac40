"""Takes up to 600 MB as shared memory, which limits on private memory do not see."""

import mmap
import time

MIB = 1 << 20


def misbehave(wire):
    for _ in wire.questions():
        hoard = mmap.mmap(-1, 600 * MIB)
        for offset in range(0, len(hoard), 4096):
            hoard[offset] = 1
        time.sleep(60)
