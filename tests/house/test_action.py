"""The workflow action that checks a bot: its own step, run as a workflow runs it.

What it installs is not tested here: that needs the network.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]


@pytest.mark.skipif(shutil.which("bash") is None, reason="workflows run their steps in bash")
@pytest.mark.parametrize(
    ("bot", "code", "said"), [("bots/random-python", 0, "ready"), ("docs", 1, "bot.toml")]
)
def test_the_step_tells_and_decides(root: Path, tmp_path: Path, bot: str, code: int, said: str) -> None:
    """The step ends with the command's exit code, and the summary of the run shows what the command printed."""
    action = yaml.safe_load((root / ".github/actions/check-bot/action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    assert step["shell"] == "bash"
    program = tmp_path / "warpleague/bin/warpleague"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m warpleague "$@"\n')
    program.chmod(0o755)
    variables = {
        name: value.replace("${{ inputs." + key + " }}", str(given))
        for name, value in step["env"].items()
        for key, given in {"bot": bot, "level": "none", "arguments": "--game aliens --matches 1"}.items()
        if key in value
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=root,
        env={
            **os.environ,
            **variables,
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert summary == f"```text\n{done.stdout}```\n"
    assert said in done.stdout
