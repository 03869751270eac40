"""Every misbehaving bot against an honest one: the verdict, its evidence, and what is left behind.

The bots, and what they deserve, are in tests/bots/manifest.toml; how they do it is in their own files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.replay import verify_record
from warpleague.match.setup import options_json
from warpleague.match.spec import Clock, MatchSpec, SeatSpec
from warpleague.runner.play import play_match

SOURCES = Path(__file__).parents[1] / "bots"
MANIFEST = tomllib.loads((SOURCES / "manifest.toml").read_text())
BOTS = [{**MANIFEST["defaults"], **bot} for bot in MANIFEST["bot"]]
LIMITED = [bot for bot in BOTS if not bot["needs_sandbox"]]
"""Those that level limits contains; the others reach out for other processes, files or the network."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch copy of the bots: some of them write into their folder."""
    target = tmp_path_factory.mktemp("misbehaving") / "bots"
    shutil.copytree(SOURCES, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def seat(bot: dict[str, Any], folder: Path) -> SeatSpec:
    """How to run `bot` in `folder`; skips the test where its compiler is missing."""
    stem = Path(bot["file"]).stem
    names = {"file": bot["file"], "stem": stem}
    build = MANIFEST["build"].get(bot["language"])
    if build is not None and not (folder / stem).exists():
        if shutil.which(build[0]) is None:
            pytest.skip(f"{build[0]} is not installed")
        subprocess.run([part.format(**names) for part in build], cwd=folder, check=True)
    program, *rest = (part.format(**names) for part in MANIFEST["run"][bot["language"]])
    argv = (sys.executable, "-P") if program == "python3" else (str((folder / program).absolute()),)
    return SeatSpec(bot=stem, run=(*argv, *rest), cwd=str(folder), memory_mb=bot["memory_mb"])


def running(stem: str) -> list[int]:
    """The processes that have `stem` among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if stem.encode() in arguments:
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("bot", LIMITED, ids=[Path(bot["file"]).stem for bot in LIMITED])
def test_verdict_and_evidence(bot: dict[str, Any], folder: Path) -> None:
    """The bot gets the fault it deserves, with evidence; the honest one plays on, and nothing is left."""
    game = load_game("aliens")
    honest = seat({**MANIFEST["defaults"], "file": "honest.py", "language": "python"}, folder)
    spec = MatchSpec(
        id="misbehaving",
        game="aliens",
        options=options_json(game.Options(max_turns=40)),
        seats=(seat(bot, folder), honest),
        key=match_key(bot["file"]),
        seed=bot["file"],
        clock=Clock(**bot["clock"]),
        level="limits",
        faults=bot["faults"],
        strikes=bot["strikes"],
    )
    before = os.listdir("/proc/self/fd")
    result = play_match(spec)

    mine, others = result.faults
    assert not others
    lines = [json.loads(line) for line in result.record.splitlines()]
    if not mine:
        assert "ok" in bot["verdicts"]
    else:
        assert len(mine) == 1, mine
        assert mine[0].kind in bot["verdicts"], mine
        fault = lines[mine[0].n]
        assert fault["seat"] == 0
        assert bot["evidence"] in json.dumps(fault["detail"], ensure_ascii=False)
        if bot["faults"] == "forfeit":
            assert result.ranks == (2, 1)
    answered = [line for line in lines if line["type"] == "act" and line["seat"] == 0 and "ms" in line]
    assert len(answered) >= bot["answered"]
    assert verify_record(result.record).digest == result.digest
    assert b"\x1b" not in result.record
    assert len(os.listdir("/proc/self/fd")) == len(before)
    if bot["leaves_nothing"]:
        assert running(Path(bot["file"]).stem) == []
