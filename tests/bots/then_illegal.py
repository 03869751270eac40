"""Sends an impossible action along as what it wants to play next."""


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question, then=[{"do": "teleport", "ship": "suns"}])
