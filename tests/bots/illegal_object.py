"""Answers with an action that the game does not know."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, {"do": "teleport", "ship": "suns"})
