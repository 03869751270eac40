"""Answers with the action null."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, None)
