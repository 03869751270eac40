"""The recorded sessions: the Python client keeps to them, and they keep to the specification."""

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.programs import program

from warpline.codec import LineBuffer, LineTooLong, WireError, decode_bot, decode_referee, encode
from warpline.messages import Act, Answer, BotHello, Hello, Ready, Start

CONFORMANCE = Path(__file__).parents[2] / "protocol" / "conformance"


def rows(name: str) -> list[dict[str, Any]]:
    """The JSON lines of a file."""
    return [json.loads(line) for line in (CONFORMANCE / name).read_text(encoding="utf-8").split("\n") if line]


SESSIONS = sorted((CONFORMANCE / "bot").glob("*.jsonl"))
LINES = rows("referee/lines.jsonl")[1:]
DIALOGUES: list[list[dict[str, Any]]] = []
for row in rows("referee/sessions.jsonl"):
    if "session" in row:
        DIALOGUES.append([])
    DIALOGUES[-1].append(row)

FIRST = """
import sys
from warpline.client import run
wants = sys.argv[2:]
run(lambda question: 0, name="first", version="1", wants=wants, reusable=sys.argv[1] == "reusable")
"""


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """The program that replays sessions to a bot."""
    return program(CONFORMANCE / "check.py")


def bot(program: str, *arguments: str) -> list[str]:
    """The command of a bot whose Python source is `program`."""
    return [sys.executable, "-c", program, *arguments]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_the_client_keeps_to_every_session(path: Path, check: ModuleType) -> None:
    """The Python client plays each session to its end over real pipes."""
    steps = check.load(path)
    hello = next((step["message"] for step in steps if step.get("from") == "bot"), {})
    wants = hello.get("wants", ["legal"])
    check.replay(steps, bot(FIRST, "reusable" if hello.get("reusable") else "single", *wants), 120)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("", "the bot ended instead of sending hello"),
        ("print('Hello!')", "no JSON"),
        ("print('[]')", "expected hello"),
        ("""print('{"type":"hello","protocol":2}')""", "expected protocol 1"),
        (FIRST.replace("question: 0", "question: 9"), "there is no action 9"),
        (FIRST + "sys.exit(3)", "ended with status 3"),
        (
            FIRST.replace("question: 0", "question: (_ for _ in ()).throw(OSError)"),
            "the bot ended instead of sending act",
        ),
    ],
)
def test_the_check_finds_deviations(program: str, told: str, check: ModuleType) -> None:
    """Of a bot that leaves a session it is told where."""
    steps = check.load(CONFORMANCE / "bot" / "one-match.jsonl")
    with pytest.raises(check.Deviation, match=told):
        check.replay(steps, bot(program, "single", "legal"), 120)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('{"type":"bye"}', "expected hello, got"),
        ('{"type":"hello","protocol":1}', "ended with status 0 in the middle of the session"),
    ],
)
def test_a_bot_that_has_gone_is_judged_by_what_it_said(said: str, told: str, check: ModuleType) -> None:
    """What a bot said before it stopped reading is compared before it is told that it ended."""
    steps = [
        {"session": "gone"},
        {"from": "bot", "message": {"type": "ready"}},
        {"to": "bot", "message": {"type": "hello", "protocol": 1, "referee": "conformance 1"}},
        {"from": "bot", "message": {"type": "hello", "protocol": 1}},
        {"to": "bot", "end": True},
    ]
    gone = f"""import os; os.close(0); print('{{"type":"ready"}}'); print({said!r})"""
    with pytest.raises(check.Deviation, match=told):
        check.replay(steps, bot(gone), 120)


def test_a_bot_that_hangs_is_ended(check: ModuleType) -> None:
    """A bot that neither answers nor ends fails the session when its time is up."""
    steps = check.load(CONFORMANCE / "bot" / "one-match.jsonl")
    with pytest.raises(check.Deviation, match="ended instead of sending hello"):
        check.replay(steps, bot("import time; time.sleep(600)"), 0.3)


@pytest.mark.parametrize(
    ("argv", "missing"),
    [(["--", "./no-such-bot"], "./no-such-bot"), (["no-such.jsonl", "--", sys.executable], "no-such.jsonl")],
)
def test_what_is_not_there_is_named(
    argv: list[str], missing: str, check: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command or a session that does not exist is told in one line, with exit code 2."""
    with pytest.raises(SystemExit) as caught:
        check.main(argv)
    assert caught.value.code == 2
    assert f"No such file or directory: '{missing}'" in capsys.readouterr().err


def test_sessions_for_other_bots_are_skipped(check: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """What a bot does not offer is skipped, not failed, and the exit code says so."""
    paths = [str(CONFORMANCE / "bot" / f"{name}.jsonl") for name in ("two-matches", "trimmed", "no-match")]
    assert check.main([*paths, "--", *bot(FIRST, "single", "legal")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "two-matches: skipped: the bot is not reusable",
        "trimmed: skipped: the bot does not say that it wants []",
        "no-match: ok",
    ]
    assert check.main([paths[2], "--", sys.executable, "-c", ""]) == 1


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_sessions_are_made_of_messages(
    path: Path, check: ModuleType, complain: Callable[[str, object], list[str]]
) -> None:
    """What a session sends are messages, or of unknown types; what it expects fits the schema."""
    for step in check.load(path)[1:]:
        if step.get("to") == "bot" and "end" not in step:
            message = json.loads(check.sent(step))
            if message["type"] not in ("weather", "applause"):
                assert complain("referee", message) == []
                decode_referee(check.sent(step)[:-1])
        elif step.get("from") == "bot":
            assert complain("bot", step["message"]) == []


@pytest.mark.parametrize("row", LINES, ids=lambda row: row.get("why", row.get("line", ""))[:60])
def test_lines_mean_what_they_are_said_to(row: dict[str, Any]) -> None:
    """Each recorded line is the recorded message, or the recorded fault."""
    line = base64.b64decode(row["base64"]) if "base64" in row else row["line"].encode()
    if "fault" in row:
        with pytest.raises(WireError) as caught:
            decode_bot(line)
        assert caught.value.kind == row["fault"]
    else:
        defaults = {"name": None, "version": None, "then": [], "note": None, "value": None}
        found = json.loads(encode(decode_bot(line)))
        assert {**{key: defaults[key] for key in row["message"] if key in defaults}, **found} == row[
            "message"
        ]


def judged(step: dict[str, Any], data: bytes, expected: Any, late: set[int]) -> str | None:
    """The fault that `data` is while `expected`, a message of the referee's, waits for its answer."""
    buffer = LineBuffer()
    buffer.feed(data)
    startup = isinstance(expected, (Hello, Start))
    try:
        line = buffer.next_line()
        if line is None:
            if step.get("end"):
                return None if expected is None else "startup" if startup else "crash"
            return "timeout" if step.get("silent") else None
        message = decode_bot(line)
    except LineTooLong:
        return "flood"
    except WireError as error:
        return "startup" if startup else error.kind
    match expected, message:
        case Hello(), BotHello(protocol=1):
            return None
        case Start(), Ready():
            return None
        case Hello() | Start(), _:
            return "startup"
        case _, Answer(id=number) if number in late:
            late.discard(number)
            return None
        case Act(id=asked), Answer(id=number, action=action) if asked == number:
            legal = expected.legal or ()
            good = action < len(legal) if isinstance(action, int) else action in legal
            return None if good else "illegal"
    return "protocol"


@pytest.mark.parametrize("steps", DIALOGUES, ids=lambda steps: steps[0]["session"])
def test_dialogues_have_the_faults_they_are_said_to(steps: list[dict[str, Any]]) -> None:
    """By the rules of the specification every step is the fault that it is marked with, and no other is one."""
    expected: Any = None
    unfinished = b""
    late: set[int] = set()
    faults = 0
    for step in steps[1:]:
        if step.get("to") == "bot":
            expected = decode_referee(json.dumps(step["message"]).encode())
            continue
        if "part" in step:
            unfinished += step["part"].encode() * step.get("times", 1)
            if "fault" not in step:
                continue
        text = step.get("line") or (json.dumps(step["message"]) if "message" in step else None)
        data = unfinished + (b"" if text is None else text.encode() + b"\n")
        late_before = len(late)
        assert judged(step, data, expected, late) == step.get("fault")
        if text is not None:
            unfinished = b""
        faults += "fault" in step
        if step.get("silent"):
            late.add(expected.id)
        if len(late) >= late_before:  # it was no late answer: the question is settled
            expected = None
    assert faults or steps[0]["session"] == "in-parts"
