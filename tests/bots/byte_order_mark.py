"""Answers with a byte order mark in front."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'\xef\xbb\xbf{"type":"act","id":%d,"action":0}\n' % question["id"])
