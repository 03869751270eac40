"""Takes 300 MB as a file in memory that it never maps."""

import contextlib
import os


def misbehave(wire):
    try:
        hoard = os.memfd_create("hoard")
    except OSError:  # refused: the host keeps its promise
        wire.play_on()
        return
    for question in wire.questions():
        if question["id"] <= 300:
            with contextlib.suppress(OSError):  # refused: the host keeps its promise
                os.write(hoard, bytes(1 << 20))
        wire.answer(question)
