"""Closes its input after the first answer and lives on."""

import os
import time


def misbehave(wire):
    for question in wire.questions():
        wire.answer(question)
        os.close(0)
        time.sleep(60)
