"""Computes in a second thread all the time, while it plays."""

import threading


def spin():
    while True:
        pass


def misbehave(wire):
    threading.Thread(target=spin, daemon=True).start()
    wire.play_on()
