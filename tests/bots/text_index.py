"""Answers with the index "0"."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, "0")
