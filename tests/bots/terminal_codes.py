"""Puts terminal control codes into its name, its version and its notes."""


def misbehave(wire):
    for question in wire.questions(name="\x1b[2J\x1b]0;owned\x07\r\n", version="\u202e1.0"):
        wire.answer(question, note="\x1b[31mred\x1b[2J\x07\u202e")
