"""Ends this process when the process that started it ends, for any reason."""

from __future__ import annotations

import os
import signal
import sys
import threading


def end_with_parent() -> None:
    """Send this process SIGTERM when its standard input ends, which is a pipe from the process that started it."""
    source = sys.stdin.fileno()

    def wait() -> None:
        while os.read(source, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()
