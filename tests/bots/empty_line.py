"""Sends an empty line before each answer."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b"\n")
        wire.answer(question)
