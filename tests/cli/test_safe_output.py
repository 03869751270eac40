"""What strangers wrote in bots, records and stores cannot steer the terminal of whoever looks at it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from warpleague.match.scribe import digest_form, digest_of, seal
from warpline.codec import canonical

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import MakeBot, Run

ESC = "\x1b]0;title\x07"
STEERING = (
    ESC,
    "\x9b2J",  # control of the second set
    "\u202eabc",  # right to left
    "\u2066x",  # isolate
    "ok\b\b\rno",
    "a\u200bb\u2060",  # invisible
    "\U000e0041",  # a tag beyond 16 bits
)


def steers(text: str) -> bool:
    """Whether anything in `text` could move the cursor, reorder or hide characters."""
    return any(not char.isprintable() and char not in "\n\t" for char in text)


def forged(record: Path, target: Path, text: str, header: dict[str, Any]) -> Path:
    """The record with other header fields and with `text` as the note of each action, sealed anew."""
    first, *rest = record.read_bytes().splitlines(keepends=True)
    lines = [canonical({**json.loads(first), **header}) + b"\n"]
    for line in rest[:-1]:
        data = json.loads(line)
        lines.append(canonical({**data, "note": text} if data["type"] == "act" else data) + b"\n")
    target.write_bytes(b"".join([*lines, seal(lines)]))
    return target


@pytest.mark.parametrize("place", ["id", "harness", "started", "options", "key", "game", "detail", "seats"])
def test_a_strangers_record_cannot_steer(run: Run, record: Path, tmp_path: Path, place: str) -> None:
    """Whatever field of a record holds such characters, no command prints them, on either output."""
    text = "".join(STEERING)
    values: dict[str, Any] = {
        "options": {text: 1},
        "detail": {"host": text, "level": text},
        "seats": [{"bot": text, "version": text, "digest": text}] * 2,
    }
    bad = forged(record, tmp_path / "bad.jsonl", text, {place: values.get(place, text)})
    for command in (
        ("replay", "verify", bad),
        ("replay", "verify", bad, "--json"),
        ("replay", "show", bad),
        ("replay", "show", bad, "--json"),
        ("reproduce", bad),
    ):
        done = run(*command)
        assert not steers(done.out), command
        assert not steers(done.err), command


def test_json_keeps_the_value_of_what_it_escapes(run: Run, record: Path, tmp_path: Path) -> None:
    """In JSON such characters are JSON's own escapes: a program reads the text as it was."""
    text = "".join(STEERING)
    noted = forged(record, tmp_path / "noted.jsonl", text, {})
    rows = [json.loads(line) for line in noted.read_bytes().splitlines()[:-1]]
    rows[-1]["digest"] = digest_of(
        digest_form({key: value for key, value in row.items() if key != "digest"}) for row in rows
    )
    sealed = [canonical(row) + b"\n" for row in rows]
    noted.write_bytes(b"".join([*sealed, seal(sealed)]))
    done = run("replay", "show", noted, "--json")
    assert done.code == 0
    assert not steers(done.out)
    assert text in [step["line"].get("note") for step in done.json]


def test_a_bots_words_cannot_steer_a_match(run: Run, make_bot: MakeBot) -> None:
    """Neither the key of an illegal action nor standard error of a bot that crashes reaches the terminal raw."""
    text = "".join(STEERING)
    illegal = f"from warpline.client import run\nrun(lambda question: {{'do': 'x', {text!r}: 1}}, wants=())\n"
    crash = f"import sys\nsys.stderr.write({text!r})\nsys.exit(3)\n"
    for source in (illegal, crash):
        bot = make_bot(f"bot{len(source)}", source)
        done = run("match", "aliens", bot, bot, "--option", "max_turns=4", "--level", "none")
        assert not steers(done.out)
        assert not steers(done.err)


def test_a_traceback_cannot_steer() -> None:
    """The traceback of a bug keeps its form, and what its message quotes is escaped."""
    program = (
        f"import warpleague.cli\nwarpleague.cli.main(['docs', 'first-hour'])\nraise RuntimeError({ESC!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "RuntimeError: \\x1b]0;title" in done.stderr
    assert not steers(done.stderr)
