"""Writes valid answers for two matches at once: for this one, and for one that it was not asked to play."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question)
        wire.answer({"id": 1})
