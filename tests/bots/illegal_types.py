"""Answers with an action whose fields are of all the wrong types."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, {"do": ["move"], "ship": {}, "way": None, "at": "x"})
