"""Closes its output and lives on."""

import os
import time


def misbehave(wire):
    for _ in wire.questions():
        os.close(1)
        time.sleep(60)
