"""Compiles the parts of the program that are also there in C: into the checkout, or out of it again with --remove.

    python scripts/compile.py [--remove]

It needs a C compiler and the headers of Python. Without it all works the same, a little slower.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources() -> list[Path]:
    """The C sources of the referee: modules of Python, whose names begin with an underscore, and programs."""
    folders = (ROOT / "harness" / "warpleague" / name for name in ("match", "runner"))
    return sorted(path for folder in folders for path in folder.rglob("*.c"))


def target_name(source: Path) -> str:
    """The name of what is compiled from a source."""
    return source.stem + (".abi3.so" if source.name.startswith("_") else ".bin")


def compile_into(folder: Path, source: Path) -> Path:
    """Compile `source` in `folder`, and return the path of the result."""
    target = folder / target_name(source)
    command = [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-Wall", "-Wextra", "-Werror"]
    command += ["-o", str(target), str(source)]
    if source.name.startswith("_"):
        include = sysconfig.get_path("include")
        subprocess.run([*command, "-shared", "-fPIC", f"-I{include}"], check=True)
        return target
    # A program without libraries to load starts in half the time; some systems have none to link with.
    if subprocess.run([*command, "-static"], capture_output=True, check=False).returncode:
        subprocess.run(command, check=True)
    return target


def main() -> None:
    """Compile all sources beside themselves, or remove what was compiled."""
    for source in sources():
        if sys.argv[1:] == ["--remove"]:
            source.with_name(target_name(source)).unlink(missing_ok=True)
        else:
            print(compile_into(source.parent, source).relative_to(ROOT))


if __name__ == "__main__":
    main()
