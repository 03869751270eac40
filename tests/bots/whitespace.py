"""Puts all the blanks that JSON allows around every token."""


def misbehave(wire):
    for question in wire.questions():
        wire.raw(b'\t {  "action" :\t 0 ,\r "id"  : %d , "type" :"act"\t} \n' % question["id"])
