"""Checks that a release can be made: builds sdist and wheel, installs the wheel in a new environment, plays a match.

    make release-check

The sdist must give the same wheel. It writes dist/, .venvs/release and nothing else. Exit code 1 says what is wrong.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VENV = ROOT / ".venvs" / "release"
MATCH = (
    "match",
    "aliens",
    "bots/random-python",
    "bots/aliens-greedy",
    "--seed",
    "release",
    "--record",
    "match.jsonl",
)


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What the command prints; ends with its errors if it fails."""
    print("$", *(str(word).removeprefix(f"{ROOT}/") for word in command), flush=True)
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def version() -> str:
    """The version, which declaration, package and changelog must agree on."""
    declared: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    package = re.search(r'__version__ = "(.*)"', (ROOT / "harness/warpleague/__init__.py").read_text("utf-8"))
    latest = re.search(r"(?m)^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    found = {package and package[1], latest and latest[1]}
    if found != {declared}:
        sys.exit(f"pyproject.toml has version {declared}, the package and CHANGELOG.md have {found}")
    if latest and latest[2] == "unreleased":
        print(f"note: CHANGELOG.md has no date for {declared} yet")
    if run("git", "tag", "--list", f"v{declared}"):
        sys.exit(f"the tag v{declared} is there already: count the version up")
    if run("git", "status", "--porcelain"):
        sys.exit("the tree has changes that are not committed")
    return declared


def build(source: Path, target: Path, *kinds: str) -> None:
    """Build the packages of these kinds from `source` with the locked build backend."""
    run(sys.executable, "-m", "hatchling", "build", "-d", target, *kinds, cwd=source)


def content(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums."""
    return {entry.filename: entry.CRC for entry in zipfile.ZipFile(wheel).infolist()}


def main() -> None:
    """Make all checks, each after the one before it."""
    name = f"warpleague-{version()}"
    for old in DIST.glob("warpleague-*"):
        old.unlink()
    build(ROOT, DIST, "-t", "sdist", "-t", "wheel")
    wheel = DIST / f"{name}-py3-none-any.whl"
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(DIST / f"{name}.tar.gz") as sdist:
            sdist.extractall(folder, filter="data")
        build(Path(folder) / name, Path(folder), "-t", "wheel")
        if content(wheel) != content(Path(folder) / wheel.name):
            sys.exit("the sdist gives another wheel than the checkout")

    shutil.rmtree(VENV, ignore_errors=True)
    run("env", f"VENV={VENV}", "LOCK=requirements/runtime.lock", ROOT / "scripts/bootstrap.sh")
    python, program = VENV / "bin/python", VENV / "bin/warpleague"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    run(python, "-m", "pip", "check")
    with tempfile.TemporaryDirectory() as folder:
        print(run(program, "--version", cwd=Path(folder)), end="")
        run(program, *MATCH, cwd=Path(folder))
        print(run(program, "replay", "verify", "match.jsonl", cwd=Path(folder)), end="")
    print(f"{name} can be released: dist/{name}.tar.gz, dist/{wheel.name}")


if __name__ == "__main__":
    main()
