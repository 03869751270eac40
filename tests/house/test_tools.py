"""Checks the tools that set the project up, where no network is needed: what they refuse and what they say.

That they succeed, every run of the Makefile shows.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

import pytest
from tests.programs import program


def bootstrap(root: Path, tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the bootstrap for an environment in tmp_path, without leave to install Debian packages."""
    environment = {**os.environ, "VENV": str(tmp_path / "venv"), "APT": "no", **variables}
    command = [str(root / "scripts/bootstrap.sh")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def lock(root: Path) -> ModuleType:
    """The lock script."""
    return program(root / "scripts/lock.py")


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


def stamped(root: Path, venv: Path, lock: str) -> None:
    """Make what the bootstrap takes for an environment of this lock in this very place."""
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(sys.executable)
    inputs = [root / lock, root / "pyproject.toml", root / "scripts/bootstrap.sh"]
    text = "".join(path.read_text(encoding="utf-8") for path in inputs)
    (venv / ".bootstrapped").write_text(f"{root}\n{venv}\n{text}", encoding="utf-8")


PROGRAM, DEVELOPMENT = "requirements/checkout.lock", "requirements/dev.lock"


@pytest.mark.parametrize(
    ("there", "wanted"), [(DEVELOPMENT, DEVELOPMENT), (PROGRAM, PROGRAM), (DEVELOPMENT, PROGRAM)]
)
def test_bootstrap_does_nothing_when_all_is_there(
    there: str, wanted: str, root: Path, tmp_path: Path
) -> None:
    """An environment that has what is wanted is left alone, without a word; so is more than that."""
    stamped(root, tmp_path / "venv", there)
    done = bootstrap(root, tmp_path, PYTHON="/nowhere/python3", LOCK=wanted)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_environment_for_the_program_alone_does_not_do_for_development(root: Path, tmp_path: Path) -> None:
    """After `make demo` the tests need more: the bootstrap begins to work, and here says that it lacks a Python."""
    stamped(root, tmp_path / "venv", PROGRAM)
    done = bootstrap(root, tmp_path, PYTHON="/nowhere/python3")
    assert done.returncode == 2
    assert "PYTHON=/nowhere/python3 is not a working Python" in done.stderr


@pytest.mark.parametrize("name", [PROGRAM, DEVELOPMENT])
def test_bootstrap_says_the_size_of_what_it_installs(name: str, root: Path, lock: ModuleType) -> None:
    """The size told before an installation is that of the packages, pip and compiled files, within two fifths."""
    found = re.search(rf"(?m)^{name}\).*about (\d+) MB", (root / "scripts/bootstrap.sh").read_text("utf-8"))
    assert found is not None
    bytes_ = 0
    for package in ("pip", *lock.pins((root / name).read_text(encoding="utf-8"))):
        try:
            files = distribution(package).files or []
        except PackageNotFoundError:  # is needed on another Python only
            continue
        places = [Path(str(file.locate())) for file in files]
        bytes_ += sum(place.stat().st_size for place in places if place.is_file())
    assert bytes_ / 1e6 == pytest.approx(int(found[1]), rel=0.4)


def tools(folder: Path, *names: str) -> Path:
    """A folder for PATH that has these programs of the system, and nothing else."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    return folder


def write_program(path: Path, text: str) -> None:
    """A shell script in the place of a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_bare_debian_that_cannot_be_made_is_told_in_one_line(root: Path, tmp_path: Path) -> None:
    """Without root or debootstrap nothing is run; one line says so, and the exit code is not that of a failure."""
    path = tools(tmp_path / "bin", "bash", "dirname", "id")
    done = subprocess.run(
        [path / "bash", root / "scripts/bare.sh"],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line in ("bare: not run: it needs root", "bare: not run: debootstrap is not installed")


@pytest.mark.parametrize(
    ("here", "own", "told"),
    [
        ("3.11 3.12 3.13", "3.11", "passed: 3.13; failed: none; {own}; not run: 3.12; not found here: 3.14"),
        ("3.12 3.14", "3.13", "passed: 3.12; failed: 3.14; {own}; not found here: 3.11 3.13"),
        ("3.11", "3.11", "passed: none; failed: none; {own}; not found here: 3.12 3.13 3.14"),
    ],
)
def test_every_python_is_told_whether_its_tests_were_run(
    root: Path, tmp_path: Path, here: str, own: str, told: str
) -> None:
    """Tests run on the oldest and the newest Python found; the last line names each supported version."""
    path = tools(tmp_path / "bin", "sh", "dirname", "sed", "uniq", "grep", "tr")
    for version in here.split():
        write_program(path / f"python{version}", f"echo {version}")
    write_program(tmp_path / ".venv/bin/python", f"echo {own}")
    write_program(tmp_path / "scripts/bootstrap.sh", "exit 0")
    for version in ("3.11", "3.12", "3.13"):
        write_program(tmp_path / ".venvs" / version / "bin/pytest", "exit 0")
    write_program(tmp_path / ".venvs" / "3.14" / "bin/pytest", "exit 1")
    shutil.copy(root / "pyproject.toml", tmp_path)
    shutil.copy(root / "scripts/test-pythons.sh", tmp_path / "scripts")
    done = subprocess.run(
        [path / "sh", tmp_path / "scripts/test-pythons.sh", "--ends"],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    told = told.format(own=f"left to make test: {own}")
    assert done.stdout.splitlines()[-1] == f"tests on Python: {told}"
    assert done.returncode == ("failed: none" not in told)


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
def test_a_lock_that_does_not_fit_is_told(lock: ModuleType, tmp_path: Path, text: str, fault: str) -> None:
    """Missing hashes, versions out of range, missing packages and places to download from are all found."""
    (tmp_path / "some.lock").write_text(text, encoding="utf-8")
    wanted = lock.Lock("some.lock", ("attrs>=24.2",), folder=tmp_path)
    assert any(fault in found for found in lock.faults(wanted))


def test_every_pin_serves_several_platforms_or_is_pure(lock: ModuleType) -> None:
    """Each locked package has at least two hashes: a wheel and its source, or the wheels of all platforms."""
    for each in lock.locks():
        pinned = lock.pins(each.path.read_text(encoding="utf-8"))
        assert {name: hashes for name, (_, hashes) in pinned.items() if hashes < 2} == {}
