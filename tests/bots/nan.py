"""Answers with the index NaN."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, float("nan"))
