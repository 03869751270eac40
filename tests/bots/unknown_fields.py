"""Adds fields that nobody knows to all its messages."""


def misbehave(wire):
    for question in wire.questions(mood="fine", colours=["red", None]):
        wire.answer(question, score=-1.5e-3, line=[{"do": "stay"}, {}], x=None)
