"""Keeps its processor busy while it waits for its next question."""

import select


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question)
        while not select.select([0], [], [], 0)[0]:
            pass
