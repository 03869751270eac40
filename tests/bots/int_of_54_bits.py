"""Answers with an index one beyond what every language can count to."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, 2**53)
