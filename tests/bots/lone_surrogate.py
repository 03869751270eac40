"""Sends half a surrogate pair in a note."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, note="\ud800")
