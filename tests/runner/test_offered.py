"""What is told of a machine is what bots find on it: their own Python and programs, seen from their level."""

import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import attrs
import pytest

from warpleague.match.spec import Level
from warpleague.runner.bundle.offered import Machine, Program, ask_machine, offered_machine


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is all of the search path; what was asked before is forgotten."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in (tmp_path, folder):
        place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/sbin")
    ask_machine.cache_clear()
    yield folder
    ask_machine.cache_clear()


def put(folder: Path, name: str, script: str) -> None:
    """A program of this name."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_programs_are_those_that_bots_get(programs: Path) -> None:
    """Those of the organiser's search path, not of the system's; one that does not run is none."""
    put(programs, "node", "echo v99.8.7")
    put(programs, "perl", "exit 1")
    machine = ask_machine("limits")
    assert machine.programs == [Program(program="node", language="JavaScript", version="99.8.7")]
    assert machine.python == platform.python_version()


@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_python_is_that_of_the_harness_with_its_libraries(level: Level, sandboxed: None) -> None:
    """A server asks another process, and hears the same; a level that there is not has no answer."""
    machine = offered_machine(level)
    assert machine is not None
    assert machine.python == platform.python_version()
    assert {one.name: one.version for one in machine.libraries}["attrs"] == version("attrs")
    assert f"Python {machine.python} with " in machine.in_words()
    assert Machine.from_json(attrs.asdict(machine)) == machine


def test_a_machine_without_the_level_offers_nothing(programs: Path) -> None:
    """Nobody guesses what bots would find."""
    offered_machine.cache_clear()
    assert offered_machine("sandbox", ("/nowhere/else",)) is None
