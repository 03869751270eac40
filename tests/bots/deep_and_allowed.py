"""Nests an unknown field as deep as allowed."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0,"x":' % question["id"] + b"[" * 31 + b"]" * 31 + b"}\n")
