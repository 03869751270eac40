"""Answers with a line one byte longer than allowed."""


def misbehave(wire):
    for question in wire.questions():
        answer = b'{"type":"act","id":%d,"action":0}' % question["id"]
        wire.raw(answer.ljust(64 * 1024 + 1) + b"\n")
