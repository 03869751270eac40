"""Has half of a long question wait in its pipe while it thinks, so as to think before its time begins."""

import contextlib
import fcntl
import json
import os
import time

F_SETPIPE_SZ = 1031
PIPE = 4096
THINKS_S = 0.6


def misbehave(wire):
    held = b""
    waited = False
    with contextlib.suppress(OSError):  # the sandbox refuses it
        fcntl.fcntl(0, F_SETPIPE_SZ, PIPE)
    while True:
        while b"\n" not in held:
            if len(held) > 4 * PIPE and not waited:
                waited = True
                time.sleep(THINKS_S)
            data = os.read(0, PIPE)
            if not data:
                return
            held += data
        line, _, held = held.partition(b"\n")
        message = json.loads(line)
        if message["type"] == "hello":
            wire.greet(wants=["state", "legal"])
        elif message["type"] == "start":
            wire.send({"type": "ready"})
        elif message["type"] == "act":
            if waited:
                time.sleep(THINKS_S)
            wire.answer(message)
        else:
            return
        waited = False
