"""Ends its answers with a carriage return alone."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0}\r' % question["id"])
