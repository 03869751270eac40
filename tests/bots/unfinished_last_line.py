"""Answers without a newline and exits."""

import sys


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,"action":0}' % question["id"])
        sys.exit(0)
