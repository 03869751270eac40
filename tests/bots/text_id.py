"""Answers with its id as text."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, id=str(question["id"]))
