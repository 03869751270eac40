"""Answers with an index far beyond the legal actions."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, 1_000_000)
