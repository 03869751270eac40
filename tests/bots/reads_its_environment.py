"""Looks for secrets in its environment, and crashes if it finds one.

What the harness has in its own environment must not be there.
"""

import os


def misbehave(wire):
    found = sorted(
        name for name in os.environ if "SECRET" in name or "SEED" in name.replace("PYTHONHASHSEED", "")
    )
    if found:
        raise SystemExit(f"found {found}")
    wire.play_on()
