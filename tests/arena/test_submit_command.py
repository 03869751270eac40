"""The command `warpleague submit`, over a socket: what it sends and shows, and what it refuses to send."""

from __future__ import annotations

import json
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.arena.harness import BOT, ArenaHarness, Client

from warpleague.arena.submissions import entering, versions
from warpleague.cli import main
from warpleague.league.season.bot_check import REPEAT
from warpleague.runner.checkup import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def address(arena: ArenaHarness) -> Iterator[str]:
    """The address of a server whose checker accepts a bot when it is asked about for the first time."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            asked.append("POST")
            if len(asked) == 1:  # the answer to the first one is lost
                self.answer("POST", body)
                self.close_connection = True
                return
            self.send(self.answer("POST", body))

        def do_GET(self) -> None:
            if (found := arena.claim()) is not None:
                command = "warpleague bot check FOLDER --quick --seed 1; rm --all"
                versions.add_finding(arena.ledger, found, Finding(REPEAT, "ok", command))
                versions.add_finding(arena.ledger, found, Finding("bundle", "ok", "built \x1b[2J"))
                versions.accept(arena.ledger, found, "mine", "1", "0" * 64)
            self.send(self.answer("GET", b""))

        def answer(self, method: str, body: bytes) -> tuple[int, bytes]:
            headers: dict[str, Any] = {"authorization": self.headers["authorization"]}
            if method == "POST":
                headers["content_type"] = self.headers["content-type"]
            found = Client(arena.server).ask(method, self.path, body, **headers)
            return found.status, found.body

        def send(self, answer: tuple[int, bytes]) -> None:
            self.send_response(answer[0])
            self.send_header("content-length", str(len(answer[1])))
            self.end_headers()
            self.wfile.write(answer[1])

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a bot."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(BOT)
    (folder / "bot.py").write_text("")
    return folder


def test_a_bot_is_submitted(
    arena: ArenaHarness, address: str, bot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, though an answer is lost; its findings are shown, and nothing in them can steer the terminal."""
    token = tmp_path / "token"
    token.write_text(arena.tokens["ada"] + "\n")
    token.chmod(0o600)
    assert main(["submit", str(bot), "--to", address, "--token-file", str(token)]) == 0
    shown = capsys.readouterr()
    assert "mine 1: accepted; it plays in cup" in shown.out
    assert "built" in shown.out
    # The command that repeats the check, on this folder; what a strange server says is quoted word by word.
    last = shown.out.splitlines()[-1]
    assert last == f"the same check here: warpleague bot check {bot} --quick --seed '1;' rm --all"
    assert "\x1b[2J" not in shown.out
    assert len(versions.submissions(arena.ledger)) == 1
    assert arena.tokens["ada"] not in shown.out + shown.err


def test_what_is_not_sent(
    arena: ArenaHarness,
    address: str,
    bot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No token to a stranger without encryption, none that is no token, and no folder that is no bot."""
    monkeypatch.delenv("WARPLEAGUE_TOKEN", raising=False)
    assert main(["submit", str(bot), "--to", address]) == 2
    assert "a token is needed" in capsys.readouterr().err
    monkeypatch.setenv("WARPLEAGUE_TOKEN", "wl-1-" + "x" * 32)
    assert main(["submit", str(bot), "--to", address]) == 2
    assert "not the token of an author" in capsys.readouterr().err
    assert main(["submit", str(bot), "--to", "http://arena.example.org"]) == 2
    assert "unencrypted" in capsys.readouterr().err
    assert main(["submit", str(bot), "--to", "ftp://arena.example.org"]) == 2
    assert "begins with https://" in capsys.readouterr().err
    assert main(["submit", str(bot.parent / "none"), "--to", address]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert versions.submissions(arena.ledger) == []


SUBMISSION: Final = {
    "id": 5,
    "league": "cup",
    "state": "refused",
    "found": [{"what": "bundle", "verdict": "failed", "text": "no", "more": 1}],
    "settled": "2026-01-01",
    "bot": None,
    "version": None,
    "of a later version": [],
}


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        (SUBMISSION, 1, ""),
        (SUBMISSION | {"id": {"a": 1}}, 1, "id: must be a whole number, not a table"),
        (
            SUBMISSION | {"league": 5, "found": 7},
            1,
            "answers as no arena does: its answer: league: must be a text",
        ),
        (SUBMISSION | {"found": 7}, 1, "found: must be a list, not 7"),
        (SUBMISSION | {"found": ["x"]}, 1, "found[0]: must be a table"),
        (SUBMISSION | {"found": [{"what": "x"}]}, 1, "found[0]: verdict: is required"),
        ({}, 1, "is required, but missing"),
        ({"error": "first\nsecond \x1b[31m"}, 2, "first\\x0asecond \\x1b[31m"),
        ({"error": {"x": ["\ud800"]}}, 2, "ud800"),
        (b"[" * 100_000, 1, "nests too deep"),
        (b'{"id": ' + b"9" * 6000 + b"}", 1, "too many digits"),
        (b"<html>", 2, "answers as no arena does (status 200): check the address"),
        (b"[1]", 2, "check the address"),
        (b"\xff", 2, "check the address"),
    ],
)
def test_what_a_server_answers_that_is_no_arena(
    answer: dict[str, object] | bytes,
    code: int,
    told: str,
    bot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever it answers is told in one line; what a later arena says besides is passed over."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("WARPLEAGUE_TOKEN", "wl-1-" + "x" * 32)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert main(["submit", str(bot), "--to", address]) == code
        server.shutdown()
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == (1 if told else 0)


def test_an_answer_before_all_is_sent(
    arena: ArenaHarness,
    address: str,
    bot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A server that refuses what is too long need not read all of it: what it said is shown."""
    request = HTTPConnection.request

    def request_cut_off(*words: Any) -> None:
        request(*words)
        raise BrokenPipeError

    monkeypatch.setattr(HTTPConnection, "request", request_cut_off)
    monkeypatch.setenv("WARPLEAGUE_TOKEN", arena.tokens["ada"])
    entering.close(arena.ledger, "cup", "test")
    assert main(["submit", str(bot), "--to", address]) == 2
    assert "closed it" in capsys.readouterr().err
