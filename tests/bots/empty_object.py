"""Answers with an action that has no fields."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, {})
