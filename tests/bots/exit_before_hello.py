"""Exits with code 0 before it says anything."""

import sys


def misbehave(wire):
    sys.exit(0)
