"""What this machine offers to bots: its languages and the libraries of Python, asked where bots run.

Each program is found as a bot's is, and answers under the level of the bots: the system may have another one, and the
sandbox may not show it.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import HarnessFault, WarpLeagueError
from warpleague.languages import LANGUAGES
from warpleague.runner.bundle.build import Command, CommandLimits, run_command, without_proxy
from warpleague.runner.bundle.bundle import resolve
from warpleague.runner.host import usable_cores
from warpleague.runner.tree import scratch_folder
from warpleague.text import safe

if TYPE_CHECKING:
    from warpleague.match.spec import Level

_VERSION: Final = re.compile(r"\d+(\.\d+)+[\w.+-]*")
_LIMITS: Final = CommandLimits(seconds=20.0)
_WITHIN_S: Final = 300.0
# Of the installed libraries those of which this Python finds the code: a folder may be out of the bot's sight.
_LIBRARIES: Final = """import importlib.metadata as m, importlib.util as u, json, platform
found = {d for name, ds in m.packages_distributions().items() if name.isidentifier() and u.find_spec(name) for d in ds}
print(json.dumps({"python": platform.python_version(), "libraries": sorted((d, m.version(d)) for d in found)}))
"""


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

    def in_words(self, *, versions: bool = True) -> str:
        """The languages and libraries in one sentence; the libraries may go without their `versions`."""
        libraries = ", ".join(f"{one.name} {one.version}" if versions else one.name for one in self.libraries)
        others = ", ".join(f"{one.language} ({one.program} {one.version})" for one in self.programs)
        with_libraries = f"with {libraries}" if libraries else "without further libraries"
        return f"bots find Python {self.python} {with_libraries}; other languages: {others or 'none'}"

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Machine:
        """The machine of which `attrs.asdict` made this; `TypeError` or `KeyError` for anything else."""
        programs = [Program(**one) for one in found["programs"]]
        return cls(
            **{**found, "programs": programs, "libraries": [Library(**one) for one in found["libraries"]]}
        )


@cache
def offered_machine(level: Level, paths: tuple[str, ...] = ()) -> Machine | None:
    """The offer of this machine to bots at `level` that see `paths`; None if the level does not hold.

    It takes some seconds the first time.
    """
    # In a process of its own: who tries a level becomes the parent of orphans, and ends what is left over, which is
    # not for a server.
    argv = [sys.executable, "-P", "-m", __name__, level, *paths]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_WITHIN_S, check=True
        )
        return Machine.from_json(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


@cache
def ask_machine(level: Level, paths: tuple[str, ...] = ()) -> Machine:
    """The same, asked by this process itself; `BadInput` or `HarnessFault` if the level does not hold."""
    ran, said = _said(("python3", "-c", _LIBRARIES), level, paths)
    if not ran:
        raise HarnessFault(f"the python3 of bots does not run at level {level}: {safe(said).strip()}")
    python: dict[str, Any] = json.loads(
        next(line for line in said.splitlines() if line.startswith('{"python"'))
    )
    programs = []
    for language in LANGUAGES:
        for name, word in language.tools.items():
            ran, said = _said((name, word), level, paths)
            if ran:
                found = _VERSION.search(said)
                version = safe(found[0][:40]) if found else ""
                programs.append(Program(program=name, language=language.name, version=version))
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        cores=len(usable_cores()),
        python=safe(str(python["python"])),
        programs=programs,
        libraries=[Library(name=safe(one[0]), version=safe(one[1])) for one in python["libraries"]],
    )


def _said(argv: tuple[str, ...], level: Level, paths: tuple[str, ...]) -> tuple[bool, str]:
    """Whether a bot's command runs and ends well, and what it prints."""
    found = resolve(argv)
    if found is None:
        return False, ""
    said = bytearray()
    with scratch_folder() as place:
        place.chmod(0o755)
        folder, scratch = place / "bot", place / "scratch"
        for each in (folder, scratch):
            each.mkdir()
            each.chmod(0o755)
        found = (without_proxy(found[0]), *found[1:])
        end = run_command(Command(argv[0], found, folder, scratch, _LIMITS, paths), level, said.extend)
    return not end.fault and not end.problem, said.decode("utf-8", "replace")


def main(level: Level, *paths: str) -> None:
    """Print the offer as JSON; exit with 1 if the level does not hold."""
    try:
        print(json.dumps(attrs.asdict(ask_machine(level, paths))))
    except WarpLeagueError as error:
        sys.exit(f"warpleague: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]
