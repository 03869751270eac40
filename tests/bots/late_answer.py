"""Answers its first question when its time is over, and all later ones at once.

Played with substitution, so that the late answer meets the next question: it is to be dropped, not punished.
"""

import time


def misbehave(wire):
    for question in wire.questions():
        if question["id"] == 1:
            time.sleep(1.5 * wire.start["clock"]["move_s"])
        wire.answer(question)
