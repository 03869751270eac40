"""Answers its first question and exits at once, which counts."""

import sys


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question)
        sys.exit(0)
