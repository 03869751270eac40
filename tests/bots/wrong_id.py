"""Answers with the id of the next question."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, id=question["id"] + 1)
