"""Ties a process to the one that started it: it ends when that one does, however that happens."""

from __future__ import annotations

import os
import signal
import sys
import threading


def tie_to_input() -> None:
    """Send this process SIGTERM when its standard input ends, which is a pipe from the process that started it."""
    source = sys.stdin.fileno()

    def wait() -> None:
        while os.read(source, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="tied", daemon=True).start()
