"""Compiles the part of the program that is in C, which starts bots: into the checkout, or out of it with --remove.

    python scripts/compile.py [--remove]

It needs a C compiler. Without it all works the same; a bot then starts by two further programs, which takes longer.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "harness/warpleague/runner/confine/enter.c"
TARGET = SOURCE.with_suffix(".bin")


def compile_to(target: Path) -> None:
    """Compile the program to `target`."""
    command = [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-Wall", "-Wextra", "-Werror"]
    command += ["-o", str(target), str(SOURCE)]
    # A program without libraries to load starts in half the time; some systems have none to link with.
    if subprocess.run([*command, "-static"], capture_output=True, check=False).returncode:
        subprocess.run(command, check=True)


def main() -> None:
    """Compile the program beside its source, or remove it."""
    if sys.argv[1:] == ["--remove"]:
        TARGET.unlink(missing_ok=True)
    else:
        compile_to(TARGET)
        print(TARGET.relative_to(ROOT))


if __name__ == "__main__":
    main()
