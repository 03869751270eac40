"""Prints what it thinks between its messages, as nearly every first bot does."""


def misbehave(wire):
    for question in wire.questions():
        print("thinking about question", question["id"], flush=True)
        wire.answer(question)
