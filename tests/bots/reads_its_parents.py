"""Looks for secrets in the environments of all processes it can see, and crashes if it finds one."""

import contextlib
from pathlib import Path


def misbehave(wire):
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if b"WARPLEAGUE_TEST_SECRET=" in environment.read_bytes():
                raise SystemExit(f"found a secret in {environment}")
    wire.play_on()
