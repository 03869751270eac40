"""Loads programs of the repository that belong to no package: bots and scripts."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def program(path: Path) -> ModuleType:
    """A fresh module of the Python file at `path`."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_under_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module
