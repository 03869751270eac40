"""Answers with the index false."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, False)
