"""Thinks for a third of its time over its first answer."""

import time


def misbehave(wire):
    for question in wire.questions():
        if question["id"] == 1:
            time.sleep(wire.start["clock"]["move_s"] / 3)
        wire.answer(question)
