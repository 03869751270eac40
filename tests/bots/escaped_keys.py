"""Writes its keys and values in escapes."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'{"\\u0074ype":"\\u0061ct","id":%d,"\\u0061ction":0}\n' % question["id"])
