"""Compiles the part of the program that is also there in C: into the checkout, or out of it again with --remove.

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
SUFFIX = ".abi3.so"


def sources() -> list[Path]:
    """The C sources that become modules of Python: those whose name begins with an underscore."""
    return sorted(ROOT.glob("harness/warpleague/**/_*.c"))


def compile_into(folder: Path, source: Path) -> Path:
    """Compile `source` to a module in `folder`, and return its path."""
    target = folder / source.with_suffix(SUFFIX).name
    compiler = shlex.split(os.environ.get("CC", "cc"))
    include = sysconfig.get_path("include")
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run([*compiler, *flags, "-o", str(target), str(source)], check=True)
    return target


def main() -> None:
    """Compile all sources beside themselves, or remove what was compiled."""
    for source in sources():
        if sys.argv[1:] == ["--remove"]:
            source.with_suffix(SUFFIX).unlink(missing_ok=True)
        else:
            print(compile_into(source.parent, source).relative_to(ROOT))


if __name__ == "__main__":
    main()
