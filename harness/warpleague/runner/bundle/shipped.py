"""Finds the bots, leagues and pages that come with Warp League, in a checkout or in the installed package."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import attr
import attrs

import warpleague
import warpline
from warpleague.errors import BadInput, BotError
from warpleague.runner.tree import remove_tree

# The beginnings of paths that name files shipped with Warp League.
FOLDERS: Final = ("bots", "leagues", "rounds")


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
    exists = os.path.exists  # false where pathlib raises an error
    if named and not exists(wanted) and exists(shipped := shipped_root() / name):
        return shipped
    return wanted


def short_name(path: Path) -> Path:
    """The shortest way to write an absolute `path` on a command line given from the current folder."""
    if path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd())
    root = shipped_root()
    if path.is_relative_to(root) and located(path.relative_to(root)) == path:
        return path.relative_to(root)
    return path


def shipped_bots() -> list[Path]:
    """The folders of all bots that come with Warp League; those of opponents, one level deeper, are last."""
    root = shipped_root() / "bots"
    return [path.parent for form in ("*", "opponents/*") for path in sorted(root.glob(f"{form}/bot.toml"))]


def starter_folder(name: str) -> Path:
    """The folder of the bot `name` that comes with Warp League; `BotError` if this installation has none."""
    folder = shipped_root() / "bots" / name
    if not folder.is_dir():
        raise BotError(f"the bot {name!r} is not part of this installation")
    return folder


ENGINE: Final = "engine"  # the name of the folder
_MATCH: Final = ("match/__init__.py", "match/chance.py", "match/spec.py")
_WARPLEAGUE: Final = ("__init__.py", "errors.py", "text.py", "games", "sim", *_MATCH)
_WARPLINE: Final = ("__init__.py", "bounds.py", "budget.py", "client.py", "limits.py")
_LEFT_OUT: Final = ("__pycache__", "contract.py", "*.pyi", "*.pyc", "py.typed")
_MARK: Final = "README.txt"
_README: Final = """\
The rules of the games and the simulator of Warp League {version}: `import warpleague.sim` after
sys.path.insert(0, "engine"), or `PYTHONPATH=engine python3 -m warpleague.sim` for other languages. Both need Python
3.11 or newer.

Made by `warpleague bot engine`, which also renews it. Do not change it.
attr and attrs are the package attrs {attrs}, see LICENSE-attrs.
"""


def write_engine(folder: Path) -> int:
    """Write or renew `engine`, the rules of the games and the simulator, in a bot's `folder`; how many bytes it has.

    `BadInput` if there is something else of that name, or if it cannot be written.
    """
    # So the bot can search on any machine: the copy needs only Python. `attrs` comes along, and without msgspec views
    # are written by the standard library. It stands in a folder of its own, which the bot puts at the head of
    # sys.path.
    target = folder / ENGINE
    if (target.exists() or target.is_symlink()) and not (target / _MARK).is_file():
        raise BadInput(f"{target}: is there already and was not made by Warp League; give it another name")
    draft = folder / f".{ENGINE}.draft"
    try:
        remove_tree(draft)
        for module, names in (warpleague, _WARPLEAGUE), (warpline, _WARPLINE), (attr, ("",)), (attrs, ("",)):
            source = Path(str(module.__file__)).parent
            for name in names:
                _copy(source / name, draft / source.name / name)
        version = distribution("attrs").version
        (draft / "LICENSE-attrs").write_text(_license("attrs"), encoding="utf-8")
        text = _README.format(version=warpleague.__version__, attrs=version)
        (draft / _MARK).write_text(text, encoding="utf-8")
        remove_tree(target)
        draft.rename(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot write it: {error.strerror or error}") from None
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*_LEFT_OUT), dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


def _license(package: str) -> str:
    """The text of the licence, which must go with every copy."""
    for file in distribution(package).files or ():
        if file.name.upper().startswith("LICENSE"):
            return file.read_text()
    raise BotError(
        f"this installation of {package} came without its licence, so it cannot be copied into a bot"
    )
