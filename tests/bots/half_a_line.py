"""Writes half an answer and falls silent."""

import time


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"type":"act","id":%d,' % question["id"])
        time.sleep(60)
