"""Answers before it was asked anything, right after being ready."""


def misbehave(wire):
    wire.read()
    wire.greet()
    wire.read()
    wire.raw(b'{"type":"ready"}\n{"type":"act","id":1,"action":0}\n')
    wire.play_on()
