"""A league that is killed again and again ends as if nothing had happened.

Uses real bots, real referee processes and SIGKILL; what a clean run looks like is told by the league's tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 20
DEALS = 60

CONFIG = """
name = "killed"
seed = "killed"
bots = ["{bots}/first-c", "{bots}/random-c", {{ path = "{bots}/random-c", name = "twin" }}]
[game]
id = "aliens"
options = {{ max_turns = 12 }}
[format]
kind = "round-robin"
deals = {deals}
seats = "rotations"
[clock]
move_s = 20.0
"""


def league(verb: str, config: Path, results: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-P",
        "-m",
        "warpleague",
        "league",
        verb,
        str(config),
        "--results",
        str(results),
        *more,
    ]


def timed(command: list[str]) -> float:
    """Run `command` to its good end; how long that took, in seconds."""
    begun = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - begun


def standings(config: Path, results: Path) -> Any:
    done = subprocess.run(league("standings", config, results, "--json"), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def stored(results: Path) -> dict[str, str]:
    """The digest of every stored match."""
    with contextlib.closing(sqlite3.connect(results / "killed" / "league.sqlite")) as store:
        return dict(store.execute("SELECT id, digest FROM match"))


def descendants(pid: int) -> set[int]:
    """The processes below `pid`, from /proc."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in map(int, file.read().split()):
                    found |= {child} | descendants(child)
    return found


@pytest.mark.skipif(shutil.which("cc") is None, reason="the bots are written in C")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_twenty_kills_change_nothing(tmp_path: Path, bots: Path) -> None:
    """SIGKILL at twenty random moments, then a last run: the same table, every match once, no process left."""
    config = tmp_path / "killed.toml"
    config.write_text(CONFIG.format(bots=bots, deals=DEALS))
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    played_s = timed(league("run", config, whole, "--quiet"))
    start_s = timed(league("run", config, whole, "--quiet"))  # nothing is left to play

    rng = Random(20)
    left: set[int] = set()
    torn_runs = 0
    for _ in range(KILLS):
        run = subprocess.Popen(
            league("run", config, torn, "--quiet"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # From the middle of starting up to a fourteenth of the league: the last kill falls before its end.
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(start_s * rng.uniform(0.5, 1.7) + (played_s - start_s) * rng.uniform(0, 1 / 14))
        assert run.returncode in (None, 0)
        torn_runs += run.returncode is None
        left |= descendants(run.pid)
        run.send_signal(signal.SIGKILL)
        run.wait()
    interrupted = len(stored(torn))
    timed(league("run", config, torn, "--quiet"))

    assert torn_runs > KILLS / 2
    assert interrupted > 0
    assert len(stored(whole)) == 3 * 2 * DEALS
    assert stored(torn) == stored(whole)
    assert standings(config, torn) == standings(config, whole)
    assert not [pid for pid in left if _is_ours(pid)]


def _is_ours(pid: int) -> bool:
    """Whether the process is there, is no zombie, and is one of a league's."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
        with open(f"/proc/{pid}/cmdline") as file:
            command = file.read()
    except OSError:
        return False
    return state != "Z" and ("warpleague" in command or "bot" in command)
