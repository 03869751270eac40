"""The tables of all commands in a terminal of 80 columns, with the longest names that a person would give."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest
from tests.arena.test_terminal import Terminal
from tests.waiting import PATIENCE_S

from warpleague.cli import main

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [f"a-bot-with-a-name-as-long-as-it-may-be-{number}" for number in ("one", "two", "three")]
BOT = """
from warpline.client import run

run(lambda question: 0 if question.id < 20 or NAME[-1] != "o" else 9999, wants=())
"""
"""Two of them play on; the one whose name ends with `o` has a fault."""

TABLES = [
    *(("league", name, "long.toml") for name in ("standings", "crosstable", "seats", "faults", "times")),
    *(("league", name, "long.toml") for name in ("status", "services", "matches")),
    ("bot", "list", "."),
    ("games",),
    ("games", "captains"),
    ("docs",),
    ("cache",),
    ("replay", "show", "one.jsonl"),
    ("replay", "show", "one.jsonl", "--at", "30"),
]
EACH = """
import json, os, sys
from warpleague.cli import main
for words in json.loads(sys.argv[1]):
    assert main(words) == 0
    os.write(1, b"\\x1e")
"""
"""Runs one command after the other in one process, with a separator after each: to start takes most of their time."""
_STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three bots, a league that was played, and the record of one match."""
    folder: Path = tmp_path_factory.mktemp("long")
    for name in NAMES:
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(f"NAME = {name!r}{BOT}")
        (folder / name / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'
        )
    bots = ", ".join(f'"{name}"' for name in NAMES)
    (folder / "long.toml").write_text(
        f'seed = "long"\nbots = [{bots}]\n[game]\nid = "aliens"\noptions = {{ max_turns = 20 }}\n'
        '[format]\ndeals = 1\n[rules]\nfaults = "substitute"\n[clock]\nmove_s = 60\n'
    )
    config = str(folder / "long.toml")
    assert main(["league", "run", config, "--results", str(folder / "results"), "--quiet"]) == 0
    words = ["--option", "max_turns=20", "--seed", "1", "--move-s", "60", "--start-s", "60", "--force"]
    record = str(folder / "one.jsonl")
    assert (
        main(["match", "aliens", *(str(folder / name) for name in NAMES[:2]), *words, "--record", record])
        == 0
    )
    return folder


@pytest.fixture(scope="module")
def shown(place: Path) -> dict[tuple[str, ...], str]:
    """What each of the commands writes into a terminal."""
    terminal = Terminal(json.dumps(TABLES), folder=place, program=("-c", EACH))
    *written, rest = b"".join(terminal.rest()).decode().split("\x1e")
    os.close(terminal.fd)
    assert (terminal.process.wait(PATIENCE_S), rest) == (0, "")
    return dict(zip(TABLES, written, strict=True))


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_table_has_room_in_eighty_columns(
    shown: dict[tuple[str, ...], str], words: tuple[str, ...]
) -> None:
    """No line is longer, none is cut, and each name is there, perhaps over several lines."""
    lines = _STYLE.sub("", shown[words]).splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80] == []
    assert "…" not in shown[words]
    if words[0] == "league" and words[1] in ("standings", "times"):
        squeezed = "".join(re.sub(r"[^a-z-]", "", line) for line in lines)
        assert all(name[:12] in squeezed for name in NAMES)
