"""The long commands in short: a few kills and a full disk, a few hundred matches, some input for every reader."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="the bots are written in C"),
]


@pytest.mark.parametrize(
    "words",
    [
        ("crash.py", "--kills", "1", "--leagues", "aliens", "--scale", "0.03"),
        ("soak.py", "--matches", "48", "--rounds", "3"),
        ("fuzz.py", "--turns", "1", "--seed", "1"),
        (
            "adversary.py",
            *["--only", "honest", "exception", "--games", "sheets", "--levels", "limits", "--load", "1"],
        ),
        (
            "clocks.py",
            *["--games", "--busy", "2", "--nice", "1", "--levels", "limits", "--turns", "1"],
            *["--computes-s", "0.002", "--move-s", "0.5", "--tolerance-s", "0.4"],
        ),
        (
            *(
                "many_workers.py",
                "--scenario",
                "come-and-go",
                "overdue",
                "shared",
                "registrations",
                "pre-empted",
            ),
            *("no-referees", "clock-is-set"),
        ),
    ],
    ids=["crash", "soak", "fuzz", "adversary", "clock", "many workers"],
)
def test_in_short(words: tuple[str, ...]) -> None:
    """The command finds nothing: what it looks for is in its own first lines."""
    command = [sys.executable, str(Path(__file__).with_name(words[0])), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
