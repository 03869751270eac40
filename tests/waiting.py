"""Waits for what other processes and threads do, without taking the processor from them."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 600.0
"""How long a test waits, in seconds, before it fails: the machine may be busy."""
_PAUSE_S: Final = 0.01


def wait_until(holds: Callable[[], object]) -> None:
    """Return once `holds` is true; AssertionError if it is not for `PATIENCE_S`."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s, "waited too long"
        time.sleep(_PAUSE_S)
