"""Goes on talking when the match is over."""


def misbehave(wire):
    wire.play_on()
    for _ in range(1000):
        wire.raw(b'{"type":"act","id":1,"action":0}\n')
