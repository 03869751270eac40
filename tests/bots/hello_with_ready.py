"""Says hello and ready in one go, before it was told of a match."""


def misbehave(wire):
    wire.raw(b'{"type":"hello","protocol":1}\n{"type":"ready"}\n')
    wire.play_on()
