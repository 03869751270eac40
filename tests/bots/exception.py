"""Raises an exception when asked for the second time."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, 0 // (2 - question["id"]))
