"""Finds the bots, leagues and pages that come with Warp League, in a checkout or in the installed package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import warpleague
from warpleague.errors import BotError

FOLDERS: Final = ("bots", "leagues", "rounds")
"""The beginnings of paths that name files shipped with Warp League."""


def shipped_root() -> Path:
    """The folder that holds `bots`, `leagues`, `rounds` and `docs`."""
    package = Path(warpleague.__file__).parent
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parent.parent


def located(path: Path, *, base: Path | None = None) -> Path:
    """The file or folder that the user calls `path`, seen from the folder `base` (default: the current one).

    If nothing is there, and the path begins with `bots/`, `leagues/` or `rounds/`, it is what comes with Warp League
    under this name. So it is for `../bots/` in a file of the folder `base`, as the leagues of a checkout name its
    bots. If there is no such thing either, it is the path as it was given, for the caller to complain about.
    """
    wanted = path if base is None else base / path
    name = path.relative_to("..") if base is not None and path.parts[:1] == ("..",) else path
    named = name.parts[:1] and name.parts[0] in FOLDERS and ".." not in name.parts
    if named and not _exists(wanted) and _exists(shipped := shipped_root() / name):
        return shipped
    return wanted


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - false where pathlib raises an error


def short_name(path: Path) -> Path:
    """The shortest way to write an absolute `path` on a command line given from the current folder."""
    if path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd())
    root = shipped_root()
    if path.is_relative_to(root) and located(path.relative_to(root)) == path:
        return path.relative_to(root)
    return path


def starter_folder(name: str) -> Path:
    """The folder of the bot `name` that comes with Warp League; `BotError` if this installation has none."""
    folder = shipped_root() / "bots" / name
    if not folder.is_dir():
        raise BotError(f"the bot {name!r} is not part of this installation")
    return folder
