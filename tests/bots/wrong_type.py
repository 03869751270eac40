"""Answers with a message type that does not exist."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, type="move")
