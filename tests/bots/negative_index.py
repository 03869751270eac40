"""Answers with the index -1."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, -1)
