"""Writes 100 KB to standard error for each of its first 20 answers."""

import os


def misbehave(wire):
    for question in wire.questions():
        if question["id"] <= 20:
            os.write(2, b"thinking " * 11_000)
        wire.answer(question)
