"""Answers with an index of 60,000 digits."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":' % question["id"] + b"9" * 60_000 + b"}\n")
