"""Sends one action where a list of further actions belongs."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, then={"do": "stay", "ship": "suns"})
