"""The script that plays duels in one process: what it prints of two bots of different strength."""

import subprocess
import sys
from pathlib import Path


def test_duels_tell_share_elo_and_times(root: Path) -> None:
    """A level of the ladder beats random play, and the time of both is told."""
    command = [
        sys.executable,
        str(root / "scripts/duels.py"),
        "coasters",
        "coasters-4",
        "random",
        "--deals",
        "3",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, *times = done.stdout.splitlines()
    assert first.startswith("3 deals: coasters-4 scored 100.0 % ± 0.0 against random, Elo +1200")
    assert [line.partition(":")[0] for line in times] == ["coasters-4", "random"]


def test_a_game_that_does_not_exist_is_refused(root: Path) -> None:
    """With the list of games, as everywhere."""
    command = [sys.executable, str(root / "scripts/duels.py"), "chess", "random", "random"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "chess" in done.stderr
    assert "Traceback" not in done.stderr
