"""Wants all there is to know and stops reading."""

import time


def misbehave(wire):
    wire.read()
    wire.greet(wants=["state", "legal", "events"])
    wire.read()
    wire.raw(b'{"type":"ready"}\n')
    time.sleep(60)
