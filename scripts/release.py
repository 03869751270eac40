"""Checks that a release can be made: builds sdist and wheel, installs the wheel in a new environment, plays a match.

    make release-check

The sdist must give the same wheel. Then a wheel with the part in C is built in dist/native and plays the same match.
It writes dist/, .venvs/release and nothing else. Exit code 1 says what is wrong.
"""

from __future__ import annotations

import os
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
NATIVE = DIST / "native"
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


def play(folder: Path) -> str:
    """Play a match with the installed program, verify it, and return the digest of its record."""
    program = VENV / "bin/warpleague"
    run(program, *MATCH, "--force", cwd=folder)
    print(run(program, "replay", "verify", "match.jsonl", cwd=folder), end="")
    digest = (
        "from warpleague.match.record import end_digest; print(end_digest(open('match.jsonl', 'rb').read()))"
    )
    return run(VENV / "bin/python", "-c", digest, cwd=folder)


def check_native(folder: Path, digest: str) -> Path:
    """Build the wheel with the part in C, which must play the match of this digest; return its path."""
    shutil.rmtree(NATIVE, ignore_errors=True)
    os.environ["WARPLEAGUE_COMPILE"] = "1"
    build(ROOT, NATIVE, "-t", "wheel")
    (wheel,) = NATIVE.glob("*.whl")
    python = VENV / "bin/python"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--force-reinstall", wheel)
    used = (
        "from warpleague.runner.confine.launch import compiled_starter; print(compiled_starter() is not None)"
    )
    if run(python, "-c", used, cwd=folder).strip() != "True":
        sys.exit("the wheel with the part in C does not use it")
    if play(folder) != digest:
        sys.exit("with the part in C the same match has another record")
    return wheel


def check_wire(number: str) -> None:
    """Build the wire as a package of its own; installed alone in a new environment, its client can be imported."""
    for old in DIST.glob("warpline-*"):
        old.unlink()
    build(ROOT / "protocol", DIST, "-t", "sdist", "-t", "wheel")
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        run(sys.executable, "-m", "venv", venv)
        wheel = DIST / f"warpline-{number}-py3-none-any.whl"
        run(venv / "bin/python", "-m", "pip", "install", "-q", "--no-index", wheel)
        run(venv / "bin/python", "-c", "from warpline.client import run", cwd=Path(folder))


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

    check_wire(name.removeprefix("warpleague-"))
    shutil.rmtree(VENV, ignore_errors=True)
    run("env", f"VENV={VENV}", "LOCK=requirements/runtime.lock", ROOT / "scripts/bootstrap.sh")
    python = VENV / "bin/python"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    run(python, "-m", "pip", "check")
    with tempfile.TemporaryDirectory() as folder:
        print(run(VENV / "bin/warpleague", "--version", cwd=Path(folder)), end="")
        native = check_native(Path(folder), play(Path(folder)))
    print(f"{name} can be released: dist/{name}.tar.gz, dist/{wheel.name}, dist/native/{native.name}")
    print("and the wire by itself: dist/warpline-*")


if __name__ == "__main__":
    main()
