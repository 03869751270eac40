"""Answers with lines as long as allowed."""


def misbehave(wire):
    for question in wire.questions():
        answer = b'{"type":"act","id":%d,"action":0}' % question["id"]
        wire.raw((answer.ljust(64 * 1024) if question["id"] <= 20 else answer) + b"\n")
