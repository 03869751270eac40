"""A league that is killed again and again is whole in the end, and no dice come twice.

Uses real bots, real referee processes and SIGKILL; what a clean run looks like is told by the league's tests.
"""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from tests.waiting import PATIENCE_S, wait_until

from warpleague.runner.host import descendants, state

KILLS = 2
DEALS = 12
SHARE = 10
"""How many matches a run may store before it is killed, at most: fewer than the league has for each kill."""

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
    words = [sys.executable, "-P", "-m", "warpleague", "league", verb, str(config)]
    return [*words, "--results", str(results), *more]


def timed(command: list[str]) -> float:
    """Run `command` to its good end; how long that took, in seconds."""
    begun = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - begun


def stored(results: Path) -> dict[str, str]:
    """The digest of every stored match."""
    with contextlib.closing(sqlite3.connect(results / "killed" / "league.sqlite")) as store:
        return dict(store.execute("SELECT id, digest FROM match"))


def begun_in_vain(results: Path) -> set[str]:
    """The matches that were begun when a run was killed."""
    with contextlib.closing(sqlite3.connect(results / "killed" / "league.sqlite")) as store:
        return {
            json.loads(said)["match"]
            for (said,) in store.execute("SELECT said FROM fact WHERE kind = 'void'")
        }


def count(results: Path) -> int:
    """How many matches are stored, looked at without touching the store: what a kill leaves is the next run's."""
    path = results / "killed" / "league.sqlite"
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
            found: int = store.execute("SELECT count(*) FROM match").fetchone()[0]
            return found
    except sqlite3.Error:
        return 0  # it is only being made


@pytest.mark.skipif(shutil.which("cc") is None, reason="the bots are written in C")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_kills_change_nothing_but_dice_that_were_seen(tmp_path: Path, bots: Path) -> None:
    """Killed at random moments, half of them in its start, a league is whole; what was begun has other dice.

    All other matches are the same, all hold, and no process is left.
    """
    config = tmp_path / "killed.toml"
    config.write_text(CONFIG.format(bots=bots, deals=DEALS))
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    timed(league("run", config, whole, "--quiet"))
    start_s = timed(league("run", config, whole, "--quiet"))  # nothing is left to play

    rng = Random(10)
    left: dict[int, tuple[str, int] | None] = {}
    kills = 0
    while kills < KILLS:
        # Half of the moments fall into starting up, the others into the matches, wherever these have got to by then:
        # how fast the machine is now says nothing of how fast it will be.
        into_matches = kills % 2 == 1
        deadline = time.monotonic() + (PATIENCE_S if into_matches else start_s * rng.uniform(0.2, 1.2))
        enough = count(torn) + rng.randint(1, SHARE)
        run = subprocess.Popen(
            league("run", config, torn, "--quiet"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while run.poll() is None and time.monotonic() < deadline and count(torn) < enough:
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(0.005)
        left |= {pid: state(pid) for pid in descendants(run.pid)}
        run.send_signal(signal.SIGKILL)
        run.wait()
        if run.returncode == 0:  # it was through before it was killed: again from the beginning
            assert stored(torn) == stored(whole)
            shutil.rmtree(torn)
        else:
            assert run.returncode == -signal.SIGKILL
            kills += 1
    interrupted = len(stored(torn))
    timed(league("run", config, torn, "--quiet"))

    assert interrupted > 0
    undisturbed, resumed, vain = stored(whole), stored(torn), begun_in_vain(torn)
    assert len(undisturbed) == 3 * 2 * DEALS
    assert resumed.keys() == undisturbed.keys()
    assert {one for one in resumed if resumed[one] != undisturbed[one]} == vain
    assert vain
    subprocess.run(league("verify", config, torn), check=True, capture_output=True)
    wait_until(lambda: not any(was and (now := state(pid)) and now[1] == was[1] for pid, was in left.items()))
