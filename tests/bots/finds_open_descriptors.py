"""Looks for descriptors of the harness that it inherited, and crashes if it finds one."""

import os


def is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def misbehave(wire):
    inherited = [fd for fd in range(3, 256) if is_open(fd)]
    if inherited:
        raise SystemExit(f"inherited {inherited}")
    wire.play_on()
