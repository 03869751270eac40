"""Writes its first answers byte by byte with pauses, and is done in time."""

import time


def misbehave(wire):
    for question in wire.questions():
        answer = b'{"type":"act","id":%d,"action":0}\n' % question["id"]
        if question["id"] > 5:
            wire.raw(answer)
            continue
        for byte in answer:
            wire.raw(bytes([byte]))
            time.sleep(0.001)
