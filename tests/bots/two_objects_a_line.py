"""Answers with two messages on one line."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0} {}\n' % question["id"])
