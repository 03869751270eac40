"""Shares with the house's tests what the repository holds.

Which rules those files must keep is told by the tests.
"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """Every file of the repository that is, or is about to be, in version control and is there."""
    # Continuous integration may run as another user than the one who cloned.
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]
