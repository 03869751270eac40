"""Exits with code 3 when asked for the second time."""

import sys


def misbehave(wire):
    for question in wire.questions():
        if question["id"] == 2:
            sys.exit(3)
        wire.answer(question)
