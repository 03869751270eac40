"""The examples of the docs that tell of an arena's events: a webhook, run as an arena runs it."""

import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from warpleague.league.play.hooks import run_hook
from warpleague.report.wording.docs import pages

EVENT = {
    "event": "check",
    "league": "open",
    "bot": "my-bot",
    "verdict": "refused",
    "reason": "bundle: it does not build ü",
}


def example(name: str) -> str:
    """The example of this file name on the page."""
    text = pages()["arena"].path.read_text("utf-8")
    found = re.search(rf"(?s)<!-- example: file leagues/{re.escape(name)} -->\n```\w+\n(.*?)```", text)
    assert found is not None
    return found[1]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_webhook_gets_the_event(tmp_path: Path) -> None:
    """As JSON; if the other side refuses it, the command fails, so that the journal says so."""
    told: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            told.append((self.headers["content-type"], json.loads(body)))
            self.send_response(500 if self.path == "/wrong" else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    (tmp_path / "webhook.sh").write_text(example("webhook.sh"))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert run_hook(["sh", "webhook.sh", f"{address}/hook"], tmp_path, EVENT) is None
        assert told == [("application/json", EVENT)]
        problem = run_hook(["sh", "webhook.sh", f"{address}/wrong"], tmp_path, EVENT)
        server.shutdown()
    assert problem is not None
    assert "exit code 22" in problem
