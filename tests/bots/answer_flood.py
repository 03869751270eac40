"""Answers every question ten thousand times."""


def misbehave(wire):
    for question in wire.questions():
        answer = b'{"type":"act","id":%d,"action":0}\n' % question["id"]
        wire.raw(answer * 10_000)
