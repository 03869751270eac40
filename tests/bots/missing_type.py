"""Answers without a message type."""


def misbehave(wire):
    for question in wire.questions():
        wire.send({"id": question["id"], "action": 0})
