"""Answers with an array instead of an object."""


def misbehave(wire):
    for question in wire.questions():
        wire.send(["act", question["id"], 0])
