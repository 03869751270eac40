"""Sends a note of more than 1 KiB, though of fewer than 1024 characters."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, note="\N{INFINITY}" * 400)
