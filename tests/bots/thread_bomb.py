"""Starts up to 200 threads, as many as it gets, and plays on."""

import contextlib
import threading


def misbehave(wire):
    done = threading.Event()
    with contextlib.suppress(RuntimeError):  # refused: the host keeps its promise
        for _ in range(200):
            threading.Thread(target=done.wait, daemon=True).start()
    wire.play_on()
