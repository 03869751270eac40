"""Forgets to flush, as nearly every first bot in C does."""

import sys


def misbehave(wire):
    for _ in sys.stdin:
        sys.stdout.write('{"type":"hello","protocol":1}\n')
