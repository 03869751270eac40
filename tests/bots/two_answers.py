"""Answers every question twice, in one write."""


def misbehave(wire):
    for question in wire.questions():
        answer = b'{"type":"act","id":%d,"action":0}\n' % question["id"]
        wire.raw(answer + answer)
