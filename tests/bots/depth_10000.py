"""Answers with 10,000 arrays inside each other."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(
            b'{"type":"act","id":%d,"action":0,"x":' % question["id"] + b"[" * 10_000 + b"]" * 10_000 + b"}\n"
        )
