"""Exits while a child of its holds the pipes open."""

import os
import time


def misbehave(wire):
    for _ in wire.questions():
        if os.fork() == 0:
            time.sleep(30)
        os._exit(0)
