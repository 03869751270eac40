"""A service on this machine that answers like a language model, for the tests of bots and authors that ask one."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import PATIENCE_S

NO_SUCH_KEY = 400


class Model(ThreadingHTTPServer):
    """`script` has what it does first: an HTTP status, a text, a whole choice, or silence (0). Then it answers 0.

    An answer has `tokens` tokens, and its question ten times as many.
    """

    daemon_threads = True

    def __init__(self, *script: int | str | dict[str, Any], tokens: int = 10) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.tokens = list(script), tokens
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.over = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        assert self.path == "/v1/chat/completions"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(json.loads(body))
        self.server.keys.add(self.headers["Authorization"])
        todo = self.server.script.pop(0) if self.server.script else "It is best. ANSWER: 0"
        if todo == 0:
            self.server.over.wait(PATIENCE_S)
            return
        if isinstance(todo, int):
            # A service may quote what it was sent; none of it may come into a record.
            quote = "" if todo == NO_SUCH_KEY else f" of {self.headers['Authorization']}"
            reason = json.dumps({"error": {"message": f"Not with this model{quote}."}}).encode()
            self.send_response(todo, "Unwell")
            self.send_header("Content-Length", str(len(reason)))
            self.end_headers()
            self.wfile.write(reason)
            return
        tokens = self.server.tokens
        usage = {"prompt_tokens": 10 * tokens, "completion_tokens": tokens}
        choice = todo if isinstance(todo, dict) else {"message": {"content": todo}}
        data = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(*script: int | str | dict[str, Any], tokens: int = 10) -> Iterator[Model]:
    """A model that answers until the end of the block."""
    with Model(*script, tokens=tokens) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()
