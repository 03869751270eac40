"""Ends its lines with carriage return and newline."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0}\r\n' % question["id"])
