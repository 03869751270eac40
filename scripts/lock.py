"""Decides what the lock files hold: exact versions with hashes for every dependency pyproject.toml names.

Which packages those are is pyproject.toml's business, and installing them is scripts/bootstrap.sh's.

    python scripts/lock.py --check      do the locks still fit pyproject.toml? (no network, milliseconds)
    python scripts/lock.py              bring them up to date with it, keeping versions that still fit
    python scripts/lock.py --upgrade    take the newest versions of everything

Writing needs pip-tools (`make lock` provides it) and the oldest Python the project supports, so that every
conditional dependency of an older Python is in. Extra indexes and folders of wheels that this machine's pip
may be set up with are left out, so that the hashes are the public registry's and cover every platform.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
# What `pip install --editable` asks of the build backend beyond its own declaration.
EDITABLE = "editables>=0.5"
PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?P<rest>.*(?:\n[ \t].*)*)", re.MULTILINE
)
FOREIGN = re.compile(r"://|^\s*(-i|-f|--(extra-)?index-url|--find-links|--trusted-host)\b", re.MULTILINE)


@dataclass(frozen=True)
class Lock:
    """One lock file: the requirements it must satisfy and the lock whose versions it must share, if any."""

    name: str
    wants: tuple[str, ...]
    within: str | None = None
    folder: Path = FOLDER

    @property
    def path(self) -> Path:
        """Where the lock lies."""
        return self.folder / self.name


def locks() -> tuple[Lock, ...]:
    """The project's locks, in the order they must be made."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = tuple(project["project"]["dependencies"])
    groups = project["dependency-groups"]
    build = tuple(project["build-system"]["requires"])
    return (
        Lock("runtime.lock", runtime),
        Lock("checkout.lock", (*runtime, *build, EDITABLE), within="runtime.lock"),
        Lock("dev.lock", (*runtime, *groups["dev"], *build, EDITABLE), within="checkout.lock"),
        Lock("docs.lock", tuple(groups["docs"])),
        Lock("lock.lock", tuple(groups["lock"])),
        Lock("tables.lock", tuple(groups["tables"])),
        Lock("bridges.lock", (*runtime, *groups["bridges"], *build, EDITABLE), within="runtime.lock"),
        Lock("browsers.lock", tuple(groups["browsers"])),
        Lock("schemathesis.lock", tuple(groups["schemathesis"])),
    )


def pins(text: str) -> dict[str, tuple[str, int]]:
    """The pinned packages of a lock's text: name -> (version, number of hashes)."""
    return {
        canonicalize_name(match["name"]): (match["version"], match["rest"].count("--hash=sha256:"))
        for match in PIN.finditer(text)
    }


def faults(lock: Lock) -> list[str]:
    """What is wrong with one lock, a line each; empty when it fits."""
    if not lock.path.exists():
        return [f"{lock.name}: missing"]
    text = lock.path.read_text(encoding="utf-8")
    pinned = pins(text)
    found = [f"{lock.name}: {name}=={version} has no hash" for name, (version, n) in pinned.items() if not n]
    found += [f"{lock.name}: names where to download from: {m.group()!r}" for m in FOREIGN.finditer(text)]
    for want in map(Requirement, lock.wants):
        have = pinned.get(canonicalize_name(want.name))
        if have is None:
            found.append(f"{lock.name}: {want} is not locked")
        elif not want.specifier.contains(have[0], prereleases=True):
            found.append(f"{lock.name}: {want} is wanted, {have[0]} is locked")
    if lock.within is not None:
        outer = pins((FOLDER / lock.within).read_text(encoding="utf-8"))
        found += [
            f"{lock.name}: {name} differs from {lock.within} ({version})"
            for name, (version, _) in outer.items()
            if pinned.get(name, ("",))[0] != version
        ]
    return found


def write(lock: Lock, *, upgrade: bool) -> None:
    """Resolve one lock against the public registry and write it."""
    foreign = ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    environment["PIP_CONFIG_FILE"] = os.devnull
    command = [sys.executable, "-m", "piptools", "compile", "-", "--quiet", "--output-file", str(lock.path)]
    command += ["--generate-hashes", "--strip-extras", "--allow-unsafe", "--no-header"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-emit-options"]
    if lock.within is not None:
        command += ["--constraint", str((FOLDER / lock.within).relative_to(ROOT))]
    if upgrade:
        command.append("--upgrade")
    subprocess.run(command, input="\n".join(lock.wants), text=True, env=environment, cwd=ROOT, check=True)
    text = lock.path.read_text(encoding="utf-8").replace("-r -", "pyproject.toml")
    head = (
        "# Written by scripts/lock.py from pyproject.toml: `make lock` updates it, `make check` checks it.\n"
    )
    lock.path.write_text(head + re.sub(r"\A(#.*\n)*", "", text), encoding="utf-8")


def main() -> int:
    """Check or write all locks; the exit code is 1 when a check found something."""
    parser = argparse.ArgumentParser(description="Check or write the lock files in requirements/.")
    parser.add_argument("--check", action="store_true", help="only say whether they fit pyproject.toml")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    arguments = parser.parse_args()
    if not arguments.check:
        if sys.version_info[:2] != (3, 11):
            parser.error("write the locks with Python 3.11: make lock PYTHON=python3.11")
        for lock in locks():
            write(lock, upgrade=arguments.upgrade)
    found = [fault for lock in locks() for fault in faults(lock)]
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        print("the locks do not fit pyproject.toml: run `make lock` and commit the result", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
