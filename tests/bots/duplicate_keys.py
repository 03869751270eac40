"""Answers with two actions under the same key."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":1000000,"action":0}\n' % question["id"])
