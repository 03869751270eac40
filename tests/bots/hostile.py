"""What the misbehaving bots share: the wire without a safety net, and the way to run one of them.

    python3 hostile.py NAME

runs `misbehave(wire)` of NAME.py. Each of these files is one bot that breaks one promise; `manifest.toml` lists
them with the verdict that the harness owes them. Standard library only, so that a bot depends on nothing that
it could break.
"""

import importlib
import json
import os
import sys
from pathlib import Path


class Wire:
    """A bot's end of the pipes: sends what it is told, right or wrong."""

    def __init__(self):
        self.start = None
        """The start message, once it has come."""

    def read(self):
        """The referee's next message, or None at the end of input."""
        line = sys.stdin.buffer.readline()
        return json.loads(line) if line else None

    def raw(self, data):
        """Write these bytes now, all of them."""
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]

    def send(self, message):
        """Write a message as JSON, Python's extensions included, and a newline."""
        self.raw(json.dumps(message).encode() + b"\n")

    def answer(self, question, action=0, **more):
        """Answer `question`; `more` are further fields, or other values for the usual ones."""
        self.send({"type": "act", "id": question["id"], "action": action, **more})

    def greet(self, **more):
        """Say hello, asking for nothing; `more` are further fields, or other values for the usual ones."""
        self.send({"type": "hello", "protocol": 1, "wants": [], **more})

    def questions(self, **hello):
        """Every question until the referee says goodbye; shakes hands, with these fields, when asked to."""
        while (message := self.read()) is not None and message["type"] != "quit":
            if message["type"] == "hello":
                self.greet(**hello)
            elif message["type"] == "start":
                self.start = message
                self.send({"type": "ready"})
            elif message["type"] == "act":
                yield message

    def play_on(self, **hello):
        """Answer the first legal action to every question that is left, like an honest bot."""
        for question in self.questions(**hello):
            self.answer(question)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    importlib.import_module(sys.argv[1]).misbehave(Wire())
