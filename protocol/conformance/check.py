# ruff: noqa: INP001 - a script
"""Checks whether a bot keeps to the protocol, by playing the recorded sessions in `bot/` with it.

It needs only the standard library. (`warpleague bot check` plays whole games.)

    python protocol/conformance/check.py [--timeout SECONDS] [SESSION.jsonl ...] -- COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

SESSIONS = Path(__file__).parent / "bot"


class Deviation(Exception):
    """The bot did something else than the session has."""


class NotForThisBot(Exception):
    """The session is about something that the bot does not offer."""


def load(path: Path) -> list[dict[str, Any]]:
    """The steps of a session, the first being its title."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def sent(step: dict[str, Any]) -> bytes:
    """The line, newline included, that a step sends."""
    text = (
        step["line"]
        if "line" in step
        else json.dumps(step["message"], ensure_ascii=False, separators=(",", ":"))
    )
    return text.encode() + b"\n"


def compare(expected: dict[str, Any], line: bytes, question: dict[str, Any]) -> None:
    """Raise `Deviation` unless `line` is what is `expected`: any action that could answer `question` will do."""
    if not line:
        raise Deviation(f"the bot ended instead of sending {expected['type']}")
    try:
        answer = json.loads(line)
    except ValueError:
        raise Deviation(f"no JSON: {line[:80]!r}") from None
    if not isinstance(answer, dict) or answer.get("type") != expected["type"]:
        raise Deviation(f"expected {expected['type']}, got {line[:80]!r}")
    if expected["type"] == "hello":
        if expected.get("reusable") and answer.get("reusable") is not True:
            raise NotForThisBot("the bot is not reusable")
        if "wants" in expected and answer.get("wants") != expected["wants"]:
            raise NotForThisBot(f"the bot does not say that it wants {expected['wants']}")
        if type(answer.get("protocol")) is not int or answer["protocol"] != expected["protocol"]:
            raise Deviation(f"expected protocol {expected['protocol']}, got {line[:80]!r}")
    elif expected["type"] == "act":
        if type(answer.get("id")) is not int or answer["id"] != expected["id"]:
            raise Deviation(f"expected id {expected['id']}, got {line[:80]!r}")
        action, legal = answer.get("action"), question.get("legal")
        if type(action) is int:
            if action < 0 or (legal is not None and action >= len(legal)):
                raise Deviation(f"there is no action {action}")
        elif not isinstance(action, dict):
            raise Deviation(f"no action: {line[:80]!r}")


def replay(steps: list[dict[str, Any]], command: list[str], timeout_s: float) -> None:
    """Play a session against a new process; raise `Deviation` when the bot leaves it, or `NotForThisBot`."""
    bot = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert bot.stdin is not None
    assert bot.stdout is not None
    watchdog = threading.Timer(timeout_s, bot.kill)
    watchdog.start()
    question: dict[str, Any] = {}
    reads = True
    try:
        for step in steps[1:]:
            if step.get("from") == "bot":
                compare(step["message"], bot.stdout.readline(), question)
                continue
            try:
                if step.get("end"):
                    bot.stdin.close()
                else:
                    line = sent(step)
                    question = json.loads(line)
                    bot.stdin.write(line)
                    bot.stdin.flush()
            except BrokenPipeError:
                reads = False  # what it said before may still tell more
        surplus = bot.stdout.read()
        if surplus:
            raise Deviation(f"more than was asked for: {surplus[:80]!r}")
        if not reads:
            raise Deviation(f"ended with status {bot.wait()} in the middle of the session")
        if bot.wait() != 0:
            raise Deviation(f"ended with status {bot.returncode} after {timeout_s} s at most")
    finally:
        watchdog.cancel()
        bot.kill()
        bot.wait()
        for pipe in (bot.stdin, bot.stdout):
            with contextlib.suppress(BrokenPipeError):  # what could not be written any more
                pipe.close()


def main(argv: list[str]) -> int:
    """Replay the sessions and tell of each; the exit code is 1 if the bot left any, 2 if there is no bot."""
    at = argv.index("--") if "--" in argv else len(argv)
    own, command = argv[:at], argv[at + 1 :]
    parser = argparse.ArgumentParser(
        usage="check.py [--timeout SECONDS] [SESSION.jsonl ...] -- COMMAND [ARGUMENT ...]"
    )
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds a session may take")
    parser.add_argument("sessions", nargs="*", type=Path)
    chosen = parser.parse_args(own)
    if not command:
        parser.error("say the bot's command after --")
    failed = 0
    for path in chosen.sessions or sorted(SESSIONS.glob("*.jsonl")):
        verdict = "ok"
        try:
            steps = load(path)
            replay(steps, command, chosen.timeout)
        except NotForThisBot as reason:
            verdict = f"skipped: {reason}"
        except Deviation as reason:
            verdict = f"FAILED: {reason}"
            failed += 1
        except OSError as error:  # no such session, no such command
            parser.error(str(error))
        print(f"{steps[0]['session']}: {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
