"""Answers without an action."""


def misbehave(wire):
    for question in wire.questions():
        wire.send({"type": "act", "id": question["id"]})
