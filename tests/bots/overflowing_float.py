"""Sends a number that overflows to infinity in an unknown field."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0,"score":1e999}\n' % question["id"])
