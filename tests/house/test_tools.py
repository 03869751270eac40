"""Checks the tools that set the project up, where no network is needed: what they refuse and what they say.

That they succeed, every run of the Makefile shows.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def bootstrap(root: Path, tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the bootstrap for an environment in tmp_path, without leave to install Debian packages."""
    environment = {**os.environ, "VENV": str(tmp_path / "venv"), "APT": "no", **variables}
    command = [str(root / "scripts/bootstrap.sh")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def lock(root: Path) -> ModuleType:
    """The lock script, loaded by path since scripts are no package."""
    spec = importlib.util.spec_from_file_location("lock_under_test", root / "scripts/lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_bootstrap_refuses_what_is_no_fitting_python(root: Path, tmp_path: Path) -> None:
    """An interpreter that does not run or is too old is named, with exit code 2 and nothing made."""
    done = bootstrap(root, tmp_path, PYTHON="/nowhere/python3")
    assert done.returncode == 2
    assert "PYTHON=/nowhere/python3 is not a working Python 3.11 or newer" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_bootstrap_names_the_package_that_is_missing(root: Path, tmp_path: Path) -> None:
    """A Python that cannot make environments, as Debian's is at first, leads to the package's name and exit code 2."""
    python = tmp_path / "python"
    lacks = 'case "$2" in *ensurepip*|*virtualenv*|*pip*) exit 1 ;; esac'
    python.write_text(f'#!/bin/sh\n{lacks}\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    done = bootstrap(root, tmp_path, PYTHON=str(python))
    assert done.returncode == 2
    assert f"install python{sys.version_info[0]}.{sys.version_info[1]}-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_bootstrap_does_nothing_when_all_is_there(root: Path, tmp_path: Path) -> None:
    """An environment stamped with this very lock in this very place is left alone, without a word."""
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(sys.executable)
    inputs = [root / "requirements/dev.lock", root / "pyproject.toml", root / "scripts/bootstrap.sh"]
    text = "".join(path.read_text(encoding="utf-8") for path in inputs)
    (venv / ".bootstrapped").write_text(f"{root}\n{venv}\n{text}", encoding="utf-8")
    done = bootstrap(root, tmp_path, PYTHON="/nowhere/python3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("attrs==26.1.0\n", "attrs==26.1.0 has no hash"),
        ("attrs==23.1.0 \\\n    --hash=sha256:00\n", "attrs>=24.2 is wanted, 23.1.0 is locked"),
        ("trio==1.0 \\\n    --hash=sha256:00\n", "attrs>=24.2 is not locked"),
        ("--index-url x\nattrs==24.2 --hash=sha256:00\n", "names where to download from"),
        ("attrs @ https://host/attrs.whl\n", "names where to download from"),
    ],
)
def test_a_lock_that_does_not_fit_is_told(
    lock: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fault: str
) -> None:
    """Missing hashes, versions out of range, missing packages and places to download from are all found."""
    monkeypatch.setattr(lock, "FOLDER", tmp_path)
    (tmp_path / "some.lock").write_text(text, encoding="utf-8")
    assert any(fault in found for found in lock.faults(lock.Lock("some.lock", ("attrs>=24.2",))))


def test_every_pin_serves_several_platforms_or_is_pure(lock: ModuleType) -> None:
    """Each locked package has at least two hashes: a wheel and its source, or the wheels of all platforms."""
    for each in lock.locks():
        pinned = lock.pins(each.path.read_text(encoding="utf-8"))
        assert {name: hashes for name, (_, hashes) in pinned.items() if hashes < 2} == {}
