"""Finds out what this machine offers to bots: its languages, with their versions, and the libraries of Python."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from typing import Any, Final

import attrs

from warpleague.languages import LANGUAGES
from warpleague.safe_text import safe

TOOLS: Final = {
    **{tool: (language.name, version) for language in LANGUAGES for tool, version in language.tools.items()},
    "bwrap": ("", "--version"),
    "setpriv": ("", "--version"),
}
"""Programs that starters or levels need: the language that each is for, and what prints its version."""

_PATH: Final = "/usr/bin:/bin"
"""Where bots find programs at the levels that confine them."""
_LIMIT_S: Final = 20.0
_VERSION: Final = re.compile(r"\d+(\.\d+)+[\w.+-]*")
_LIBRARIES: Final = (
    "import importlib.metadata as m, json; "
    "print(json.dumps(sorted({(d.metadata['Name'], d.version) for d in m.distributions() if d.metadata['Name']})))"
)


@attrs.frozen(kw_only=True)
class Program:
    """A program that builds or runs bots."""

    program: str
    language: str
    version: str
    """Empty if the program does not tell it."""


@attrs.frozen(kw_only=True)
class Library:
    """A library of Python that every bot can import."""

    name: str
    version: str


@attrs.frozen(kw_only=True)
class Machine:
    """The offer of a machine to bots: its size and its languages."""

    system: str
    cores: int
    python: str
    """The version of the `python3` that bots get."""
    programs: list[Program]
    libraries: list[Library]


def host() -> dict[str, Any]:
    """The system, its Python, the user, the cores, and where each of `TOOLS` is."""
    user = os.geteuid() if hasattr(os, "geteuid") else None
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_version()} ({sys.executable})",
        "user": None if user is None else ("root" if user == 0 else f"uid {user}"),
        "cores": _cores(),
        "tools": {tool: shutil.which(tool) for tool in TOOLS},
    }


@cache
def offered() -> Machine:
    """The offer of this machine to confined bots; it takes some seconds the first time."""
    programs = [
        Program(program=name, language=language, version=_version(name, word))
        for name, (language, word) in TOOLS.items()
        if language and shutil.which(name, path=_PATH)
    ]
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        cores=_cores(),
        python=_version("python3", "--version"),
        programs=programs,
        libraries=_libraries(),
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(program: str, word: str) -> str:
    match = _VERSION.search(_printed(program, word))
    return safe(match[0][:40]) if match else ""


def _libraries() -> list[Library]:
    try:
        versions = json.loads(_printed("python3", "-I", "-c", _LIBRARIES))
    except ValueError:
        return []
    return [Library(name=safe(str(name)), version=safe(str(version))) for name, version in versions]


def _printed(program: str, *words: str) -> str:
    """The output of a program; empty if it cannot be run."""
    path = shutil.which(program, path=_PATH)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": _PATH, "LC_ALL": "C"},
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")
