"""The workflow that checks the project in public: it runs what everyone is told to run, on all that is promised."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

WORKFLOW = ".github/workflows/checks.yml"


@pytest.fixture
def checks(root: Path) -> dict[str, Any]:
    """The job that checks a change."""
    job: dict[str, Any] = yaml.safe_load((root / WORKFLOW).read_text(encoding="utf-8"))["jobs"]["checks"]
    return job


def test_the_workflow_runs_on_all_that_is_promised(root: Path, checks: dict[str, Any]) -> None:
    """Every supported Python, on Linux for both kinds of processor, and on macOS; no failure ends the others."""
    classified = re.findall(r"Python :: (3\.\d+)", (root / "pyproject.toml").read_text(encoding="utf-8"))
    matrix = checks["strategy"]["matrix"]
    assert matrix["python"] == classified
    assert [re.sub(r"[\d.]+", "N", system) for system in matrix["system"]] == [
        "ubuntu-N",
        "ubuntu-N-arm",
        "macos-N",
    ]
    assert checks["strategy"]["fail-fast"] is False


def test_the_workflow_runs_the_readmes_commands(root: Path, checks: dict[str, Any]) -> None:
    """The two commands of the README's first block come first, then the contributors' `make check`."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    block = re.search(r"(?ms)^```console\n(.*?)^```$", readme)
    assert block is not None
    given = [step["run"] for step in checks["steps"] if step.get("run", "").startswith("make ")]
    assert given[:3] == [*re.findall(r"(?m)^\$ (.+)$", block[1]), "make check"]


def test_the_workflow_is_one(root: Path) -> None:
    """What only actionlint knows of workflows: keys, expressions, runners, the shell of each step."""
    program = shutil.which("actionlint")
    if program is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([program, WORKFLOW], cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
