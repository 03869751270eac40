"""Rounds that are killed in each phase, and at random moments, end as if nothing had happened."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.rounds.conftest import write_rounds
from tests.waiting import wait_until

from warpleague.runner.doctor import with_token

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

KILLS = int(os.environ.get("ROUNDS_KILLS", "0"))
"""How often a run is killed at random, as `make rounds-crash` asks for."""
EDIT = """
echo "round $WARPLEAGUE_ROUND" >>notes.txt
sed -i "s/^CHOICE = .*/CHOICE = $WARPLEAGUE_ROUND/" bot/bot.py
"""
OF_THE_HOST = ("committed", "elapsed_s", "edit_s", "check_s", "play_s", "overhead_s", "begun")
"""What a kill may change: times, and how often an edit was begun."""


def command(path: Path, results: Path, *words: str) -> list[str]:
    return [
        *(sys.executable, "-m", "warpleague", "rounds", *words, str(path), "--results", str(results)),
        *(() if "verify" in words else ("--quiet",)),
    ]


def start(path: Path, results: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(path, results), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finished(path: Path, results: Path) -> Any:
    """Run to the end; the results without what a kill may change."""
    done = subprocess.run([*command(path, results), "--json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()

    def plain(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: plain(value) for key, value in data.items() if key not in OF_THE_HOST}
        return [plain(value) for value in data] if isinstance(data, list) else data

    return plain(json.loads(done.stdout))


def state(results: Path) -> dict[str, Any]:
    """The state file as it is now; empty before there is one."""
    try:
        return json.loads((results / "small" / "state.json").read_text("utf-8"))
    except FileNotFoundError:
        return {}


def end_when(path: Path, results: Path, holds: Callable[[], object], how: int) -> int:
    """Run until `holds` is true, and send the run a signal then; its exit code."""
    run = start(path, results)
    try:
        wait_until(lambda: holds() or run.poll() is not None)
    finally:
        run.send_signal(how)
    return run.wait()


def kill_when(path: Path, results: Path, holds: Callable[[], object]) -> None:
    """Run until `holds` is true, and kill the run then."""
    assert end_when(path, results, holds, signal.SIGKILL) == -signal.SIGKILL


def verified(path: Path, results: Path) -> None:
    done = subprocess.run([*command(path, results, "verify"), "--json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def stops_once(mark: Path) -> str:
    """Lines of a script that never end in round 1 when they first run, leave a process, and say so by a file."""
    return f"""
    if [ "$WARPLEAGUE_ROUND" = 1 ] && [ ! -e {mark} ]; then
        sh -c 'sleep 1000; :' {mark} & touch {mark}; sleep 1001
    fi
    """


def test_an_end_in_each_phase(tmp_path: Path) -> None:
    """Killed before the edits, within an edit, in a check and between matches, nothing else comes out.

    So it is after Ctrl-C within an edit, which ends the run with exit code 130 and all that the author started.
    """
    first, second = tmp_path / "first", tmp_path / "second"
    path = write_rounds(tmp_path, {"ann": EDIT + stops_once(first) + stops_once(second), "bob": EDIT})
    torn, whole = tmp_path / "torn", tmp_path / "whole"
    leagues = torn / "small" / "leagues"

    def phase(number: int, name: str) -> bool:
        return any(one["number"] == number and one["phase"] == name for one in state(torn).get("rounds", ()))

    kill_when(path, torn, lambda: (leagues / "round-01" / "league.sqlite").exists())
    kill_when(path, torn, first.exists)
    assert end_when(path, torn, second.exists, signal.SIGINT) == 130
    wait_until(lambda: not with_token(str(tmp_path)))
    kill_when(path, torn, lambda: phase(1, "check"))
    kill_when(path, torn, lambda: phase(1, "play"))
    results = finished(path, torn)
    assert results == finished(path, whole)
    assert state(torn)["rounds"][0]["parts"]["ann"]["begun"] >= 3
    assert not with_token(str(tmp_path))
    verified(path, torn)
    notes = torn / "small" / "authors" / "ann" / "workspace" / "notes.txt"
    assert notes.read_text() == "round 1\nround 2\n"


@pytest.mark.skipif(not KILLS, reason="takes long: make rounds-crash")
def test_kills_at_random_moments(tmp_path: Path) -> None:
    """Killed at random moments again and again, a run has the same curves as one that was not."""
    path = write_rounds(tmp_path, {"ann": EDIT, "bob": EDIT}, rounds=2)
    random = Random(KILLS)
    whole = finished(path, tmp_path / "whole")
    kills = number = 0
    while kills < KILLS:
        number += 1
        torn = tmp_path / f"torn-{number}"
        while kills < KILLS:
            before, wanted = state(torn), random.randint(1, 4)
            seen: set[str] = set()
            run = start(path, torn)
            while run.poll() is None and len(seen) < wanted:
                now = state(torn)
                if now != before:
                    seen.add(json.dumps(now))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    run.wait(0.005)
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(random.random() / 2)
            run.kill()
            if run.wait() == 0:
                break  # it was through before it was killed
            assert run.returncode == -signal.SIGKILL
            kills += 1
        assert finished(path, torn) == whole
        verified(path, torn)
    assert not with_token(str(tmp_path))
