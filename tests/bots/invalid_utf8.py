"""Answers with a note that is not UTF-8."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0,"note":"\xff\xfe"}\n' % question["id"])
