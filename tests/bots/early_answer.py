"""Answers the next question together with this one."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question)
        wire.answer(question, id=question["id"] + 1)
