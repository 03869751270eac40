"""Answers with the id 01, which is no JSON."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":0%d,"action":0}\n' % question["id"])
