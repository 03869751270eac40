"""Every example of the specification, executed."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpline import limits
from warpline.codec import WireError, decode_bot, decode_referee, encode
from warpline.faults import FaultKind
from warpline.messages import BOT_MESSAGES, REFEREE_MESSAGES

SPEC = (Path(__file__).parents[2] / "protocol" / "SPEC.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\S*) ?(\S*)\n(.*?)^```$", SPEC, re.MULTILINE | re.DOTALL)
REFEREE, BOT, WRONG, PROGRAMS = [], [], [], []
for language, mark, text in FENCES:
    if language == "python":
        PROGRAMS.append(text)
    elif language == "json":
        for line in text.splitlines():
            match mark, line[:2]:
                case ("referee", _) | ("session", "> "):
                    REFEREE.append(line.removeprefix("> "))
                case ("bot", _) | ("session", "< "):
                    BOT.append(line.removeprefix("< "))
                case ("malformed" | "protocol", _):
                    WRONG.append((mark, line))
                case _:
                    raise AssertionError(f"an example without a direction: {line}")


@pytest.mark.parametrize("line", REFEREE)
def test_examples_of_the_referee(line: str, complain: Callable[[str, object], list[str]]) -> None:
    """Each fits the schema, decodes, and is encoded again to the very same line."""
    assert complain("referee", json.loads(line)) == []
    assert encode(decode_referee(line.encode())).decode() == line + "\n"


@pytest.mark.parametrize("line", BOT)
def test_examples_of_the_bot(line: str, complain: Callable[[str, object], list[str]]) -> None:
    """Each fits the schema and decodes strictly to what it says."""
    said = json.loads(line)
    assert complain("bot", said) == []
    meant = json.loads(encode(decode_bot(line.encode())))
    assert {key: meant[key] for key in said} == said


@pytest.mark.parametrize(("kind", "line"), WRONG)
def test_examples_of_what_is_refused(kind: str, line: str) -> None:
    """Each is refused as the kind of fault under which it stands."""
    with pytest.raises(WireError) as caught:
        decode_bot(line.encode())
    assert caught.value.kind == kind


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_example_programs(number: int, protocol: Path, tmp_path: Path) -> None:
    """Each program, run as it stands, plays every session that is for it."""
    program = tmp_path / "bot.py"
    program.write_text(PROGRAMS[number], encoding="utf-8")
    check = [sys.executable, str(protocol / "conformance" / "check.py"), "--", sys.executable, str(program)]
    done = subprocess.run(check, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout
    assert "one-match: ok" in done.stdout


def test_the_tables_name_what_there_is() -> None:
    """Every field of every message, every kind of fault and every limit stands in the specification."""
    for cls in (*REFEREE_MESSAGES.values(), *BOT_MESSAGES.values()):
        for name in cls.__attrs_attrs__:
            assert f"| `{name.name}`" in SPEC
    for kind in FaultKind.__args__:  # type: ignore[attr-defined]
        assert f"| `{kind}` |" in SPEC
    for limit in (limits.MAX_LINE, limits.MAX_DEPTH, limits.NOTE_BYTES, limits.NAME_BYTES):
        assert re.search(rf"\| {limit:,} (bytes|levels)", SPEC)


def test_there_are_examples_of_every_message() -> None:
    """No message is without an example."""
    assert {json.loads(line)["type"] for line in REFEREE} == REFEREE_MESSAGES.keys()
    assert {json.loads(line)["type"] for line in BOT} == BOT_MESSAGES.keys()
    assert len(PROGRAMS) == 2
