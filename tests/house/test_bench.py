"""`scripts/bench` measures: with tiny settings each row that takes no minutes has its figures and verdicts."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = ["wire", "engines", "playout", "verify", "start", "undercharge"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="measures a C program")
def test_bench_measures(root: Path) -> None:
    """How large figures are is the machine's business, and of what else it does meanwhile; they are above zero."""
    script = [sys.executable, str(root / "scripts/bench"), *ROWS]
    tiny = ["--rounds", "1", "--scale", "0.02", "--game", "sheets", "--json"]
    done = subprocess.run([*script, *tiny], capture_output=True, check=True)
    figures = json.loads(done.stdout)["figures"]
    assert {row["row"] for row in figures} == set(ROWS)
    assert all(row["value"] > 0 for row in figures if row["row"] != "undercharge")
    assert all((row["met"] is None) == (row["goal"] is None) for row in figures)
