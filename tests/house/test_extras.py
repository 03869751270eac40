"""Extras can be removed, each with its folder and the line that names it. The rest of the program works without."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = ("bridges", "cluster", "rounds", "rule_vectors", "study")
TABLES = ("harness/warpleague/cli/commands.py", "harness/warpleague/games/__init__.py")
"""The files that name extras: commands, and the games of other programs."""
IMPORT_ALL = """
import importlib, pkgutil, warpleague
from warpleague.cli.commands import commands
from warpleague.cli.outputs import outputs
assert outputs().keys() <= commands().keys()
for module in pkgutil.walk_packages(warpleague.__path__, "warpleague."):
    if not module.name.endswith("__main__") and not module.name.startswith("warpleague.extras.bridges."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert not error.name.startswith("warpleague"), error
print(warpleague.__file__)
"""
QUICK = ("tests/cli/test_match.py", "tests/cli/test_outputs.py")


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """A copy of the program, beside all else that a checkout has."""
    for entry in root.iterdir():
        if entry.name in ("harness", "protocol"):
            shutil.copytree(entry, tmp_path / entry.name)  # compiled as it is: that is half of the time
        elif not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


def test_the_list_names_every_extra(root: Path) -> None:
    """What is tested below are all the extras that there are."""
    folder = root / "harness/warpleague/extras"
    assert sorted(path.name for path in folder.iterdir() if (path / "__init__.py").is_file()) == sorted(
        EXTRAS
    )


def test_the_rest_works_without_the_extras(root: Path, copy: Path) -> None:
    """The folder and one line of each go: every module can still be imported, and tests pass as before.

    That none needs another one either, the import contract `extras do not import each other` says.
    """
    for name in EXTRAS:
        shutil.rmtree(copy / "harness/warpleague/extras" / name)
        named = 0
        for table in TABLES:
            line = rf'.*"warpleague\.extras\.{name}\b.*\n'
            text, gone = re.subn(line, "", (copy / table).read_text("utf-8"))
            (copy / table).write_text(text, "utf-8")
            named += gone
        assert named == 1
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'harness'}{os.pathsep}{copy / 'protocol'}"}
    python = [sys.executable, "-P"]
    done = subprocess.run([*python, "-c", IMPORT_ALL], env=environment, capture_output=True, text=True)
    assert (done.returncode, Path(done.stdout.strip()).is_relative_to(copy)) == (0, True), done.stderr
    quick = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK]
    done = subprocess.run(quick, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
