"""Compiles the part in C into a wheel if WARPLEAGUE_COMPILE=1 is set; otherwise the wheel is pure Python."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
from compile import ROOT, TARGET, compile_to


class CustomBuildHook(BuildHookInterface[Any]):
    """The hook that hatchling calls before it packs a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say where the result belongs and on which systems the wheel runs."""
        if version == "editable" or os.environ.get("WARPLEAGUE_COMPILE") != "1":
            return
        folder = Path(self.directory) / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / TARGET.name
        compile_to(made)
        build_data["force_include"][str(made)] = TARGET.relative_to(ROOT / "harness").as_posix()
        build_data["pure_python"] = False
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{system}"
