"""Finds the files of a folder that make up a bot, and computes the digest over them.

A stranger made the folder. So reading it always ends, whatever is in it, and anything that a bot may not contain is
a `BotError` that names the path.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BotError
from warpleague.runner.tree import MAX_NAMES, BadTree, Entry, check_name, walk

if TYPE_CHECKING:
    from collections.abc import Collection

BUNDLE_MB: Final = 256
_OF_SYSTEMS: Final = frozenset({".DS_Store", "__MACOSX", "desktop.ini", "Desktop.ini", "Thumbs.db", "Icon\r"})
# Names of folders and files that are not part of a bot: tools create them beside its source.
LEFT_OUT: Final = frozenset({"__pycache__", ".git", "node_modules", "target", ".venv", *_OF_SYSTEMS})
BRING_LIBRARIES: Final = "the libraries in a folder of the bot's: pip install --target vendor LIBRARY"


@attrs.frozen
class File:
    """A file of a bot: its path below the folder with slashes, where its content is, and whether it may be run."""

    name: str
    path: Path
    executable: bool


def of_a_system(name: str) -> bool:
    """Whether a file or folder of this name is what macOS or Windows adds to folders and archives by itself."""
    return name in _OF_SYSTEMS or name.startswith("._")


def _is_left_out(name: str, *, folder: bool) -> bool:
    return name in LEFT_OUT or (not folder and (name.endswith(".pyc") or name.startswith("._")))


def files_of(
    folder: Path, linked: Collection[str] = (), max_mb: int = BUNDLE_MB, max_names: int = MAX_NAMES
) -> list[File]:
    """The files of the bot in `folder` without the `linked`, sorted by name.

    `BotError` for forbidden files, for more than `max_mb` MiB in all, and for more than `max_names` files and folders.
    """
    root = os.path.realpath(folder)
    files: list[File] = []
    size = 0

    def belongs(entry: Entry) -> bool:
        return not _is_left_out(entry.base, folder=entry.is_folder) and entry.name not in linked

    try:
        for entry in walk(root, belongs, most=max_names, strict=True):
            name = entry.name
            path = Path(folder, name)
            if entry.base == "pyvenv.cfg":
                text = f"a virtual environment cannot come along; remove it, and put {BRING_LIBRARIES}"
                raise BotError(f"{path.parent}: {text}")
            if not belongs(entry):
                continue
            check_name(name)
            if entry.is_folder:
                continue
            status = _followed(path, root) if entry.is_link else entry.status
            if not stat.S_ISREG(status.st_mode):
                raise BotError(f"{path}: a bot's folder may hold only files and folders")
            size += status.st_size
            if size > max_mb << 20:
                text = "remove what the bot does not need, or link large files: [files] in bot.toml"
                raise BotError(f"{folder}: more than {max_mb} MiB; {text}")
            files.append(File(name, path, bool(status.st_mode & 0o111)))
    except BadTree as error:
        raise BotError(f"{folder}: holds {error}; a bot may not have this: remove it") from None
    except OSError as error:
        raise _unreadable(Path(error.filename or folder), error) from None
    return sorted(files, key=lambda file: file.name)


def _followed(path: Path, root: str) -> os.stat_result:
    """The status of the file that a link leads to; raises `BotError` for a forbidden link."""
    try:
        target = os.path.realpath(path, strict=True)
    except FileNotFoundError:
        target = os.path.realpath(path)
        if _inside(target, root):
            raise BotError(f"{path}: this link leads nowhere") from None
    except OSError as error:
        # A loop is one of these; pathlib tells of it in another way in each version of Python.
        raise BotError(f"{path}: this link cannot be followed: {error.strerror}") from None
    if os.path.isdir(target):
        # Followed, it could lead out or in circles; left out, the bot would miss what its author sees.
        raise BotError(f"{path}: links to folders cannot be bundled; copy the folder instead")
    if not _inside(target, root):
        raise BotError(f"{path}: this link leads out of the bot's folder; copy the file instead")
    return os.stat(target)


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def _unreadable(path: Path, error: OSError) -> BotError:
    return BotError(f"{path}: cannot read it: {error.strerror or error}")


def read_content(file: File) -> bytes:
    """The bytes of a file; `BotError` if it cannot be read, or has become something else than a file since."""
    try:
        # Not to wait for somebody to write into a named pipe; of a file it changes nothing.
        with open(os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise BotError(f"{file.path}: is no longer a file")
            data = opened.read((BUNDLE_MB << 20) + 1)
    except OSError as error:
        raise _unreadable(file.path, error) from None
    if len(data) > BUNDLE_MB << 20:
        raise BotError(f"{file.path}: more than {BUNDLE_MB} MiB")
    return data


def copy_files(folder: Path, target: Path, linked: Collection[str] = ()) -> None:
    """Copy a bot's files; the copy depends on nothing but what its digest does, permissions included."""
    made = {target}
    target.mkdir(parents=True)
    target.chmod(0o755)
    for file in files_of(folder, linked):
        place = target / file.name
        for parent in reversed(place.relative_to(target).parents):
            if (target / parent) not in made:
                made.add(target / parent)
                (target / parent).mkdir()
                (target / parent).chmod(0o755)
        place.write_bytes(read_content(file))
        place.chmod(0o755 if file.executable else 0o644)


def disk_bytes(folder: Path, most: int = sys.maxsize - 1) -> int:
    """What the files below a folder take on the disk; `BadTree` for more than `most` names."""
    total = 0
    with contextlib.suppress(OSError):
        for entry in walk(folder, most=most):
            total += 0 if entry.is_folder else entry.status.st_blocks * 512
    return total


def folder_digest(folder: Path, linked: Collection[str] = ()) -> str:
    """The digest of a bot's folder: what it holds, whether it may be executed, and under which paths."""
    # `linked` files are not part of it, but their digests are, in the manifest.
    hasher = sha256()
    for file in files_of(folder, linked):
        data = read_content(file)
        head = f"{len(file.name.encode())}:{file.name}:{int(file.executable)}:{len(data)}:"
        hasher.update(head.encode())
        hasher.update(data)
    return hasher.hexdigest()


def left_out(folder: Path) -> list[str]:
    """The paths below `folder` that are not part of the bot, but that it may need; relative paths, sorted."""

    def gone(entry: Entry) -> bool:
        return _is_left_out(entry.base, folder=entry.is_folder)

    found = walk(os.path.realpath(folder), lambda entry: not gone(entry))
    return sorted(entry.name for entry in found if gone(entry) and not _is_made_anew(entry.base))


def _is_made_anew(name: str) -> bool:
    return name in ("__pycache__", ".git") or of_a_system(name)  # nobody expects these to be part of a bot
