"""Walks and removes trees of folders that a stranger has filled: of any depth, and changed while they are walked.

Only one folder is open at a time, and each is opened from the one above it, never by its path. So no tree is too deep,
and a link put in the place of a folder does not lead out of the tree.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Content = list[tuple[str, os.stat_result]]

# What a bot may have, so that every tool that takes paths or counts levels can read it: git, tar, compilers.
MAX_NAMES: Final = 50_000
MAX_DEPTH: Final = 100
MAX_PATH_BYTES: Final = 2_000  # half of what the kernel takes: the rest is for the folder that the tree is in
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class BadTree(ValueError):
    """A folder has what a bot's may not have; the text says what, to follow `made` or `holds`."""


@attrs.frozen
class Entry:
    """A file, link or folder in a tree: its name in its folder, and its own status, not that of a link's target.

    `folder` is a descriptor of the folder that holds it; like `name`, it is valid until the walk goes on. `after`: the
    folder has come before, and so has all that is in it.
    """

    base: str
    status: os.stat_result
    folder: int
    _above: list[str]
    after: bool = False

    @property
    def name(self) -> str:
        """The path below the top of the tree, with slashes."""
        return "/".join((*self._above, self.base))

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, not a link to one."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file."""
        return stat.S_ISREG(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.status.st_mode)


def check_name(name: str) -> None:
    """Raise `BadTree` for a path in a bot's folder that is too deep or too long, or is not UTF-8."""
    if name.count("/") >= MAX_DEPTH:
        raise BadTree(f"folders nested more than {MAX_DEPTH} deep")
    if len(os.fsencode(name)) > MAX_PATH_BYTES:
        raise BadTree("a path that is too long: give folders and files shorter names")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BadTree(f"the name {os.fsencode(name)!r}, which is not UTF-8") from None


def walk(
    top: str | Path,
    enter: Callable[[Entry], bool] = lambda _: True,
    *,
    most: int = sys.maxsize - 1,
    strict: bool = False,
    after: bool = False,
) -> Iterator[Entry]:
    """All that is below the folder `top`; of each folder first the files, then the links, then the folders.

    Folders that `enter` is false of are not entered; it is asked when they have come. What cannot be read or vanishes
    is passed over, unless `strict`. With `after` each folder comes once more behind its content. Raises `BadTree` for
    more than `most` names, and `OSError` with the path if `top` cannot be read, or a folder moves while it is read.
    """
    above, base = list[str](), ""
    waiting: list[
        tuple[os.stat_result, _Content]
    ] = []  # of each folder above: what it is, and what is still to come
    left = most

    def content() -> _Content:
        nonlocal left
        found = _content(folder, left, strict=strict)
        left -= len(found)
        if left < 0:
            raise BadTree(f"more than {most:,} files and folders")
        return found

    folder = os.open(top, _FOLDER)
    try:
        rest = content()
        while True:
            while rest:
                base, status = rest.pop()
                entry = Entry(base, status, folder, above)
                yield entry
                if entry.is_folder and enter(entry) and (inner := _entered(entry, strict=strict)) is not None:
                    waiting.append((os.fstat(folder), rest))
                    above.append(base)
                    os.close(folder)
                    folder, base = inner, ""
                    rest = content()
            if not above:
                return
            outer = os.open("..", _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = outer
            status, rest = waiting.pop()
            base = above.pop()
            if not os.path.samestat(os.fstat(folder), status):
                raise OSError(errno.ESTALE, "moved while it was read")
            if after:
                yield Entry(base, status, folder, above, after=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.path.join(top, *above, base)) from None
    finally:
        os.close(folder)


def _content(folder: int, most: int, *, strict: bool) -> _Content:
    """What is in a folder, the last first; of more than `most` names one too many."""
    found: _Content = []
    with os.scandir(folder) as entries:
        for entry in islice(entries, most + 1):
            try:
                found.append((entry.name, entry.stat(follow_symlinks=False)))
            except OSError:
                if strict:
                    raise
    kinds = ((stat.S_ISDIR(status.st_mode), stat.S_ISLNK(status.st_mode), name) for name, status in found)
    return [one for _, one in sorted(zip(kinds, found, strict=True), reverse=True)]


def _entered(entry: Entry, *, strict: bool) -> int | None:
    """A descriptor of the folder; None if it is closed to us."""
    inner = None
    try:
        inner = os.open(entry.base, _FOLDER, dir_fd=entry.folder)
        os.stat("..", dir_fd=inner)  # who may not search it would not get out again
    except OSError:
        if inner is not None:
            os.close(inner)
        if strict:
            raise
        return None
    return inner


def open_to_owner(top: Path) -> None:
    """Let its owner read and write all that a command left in `top`; `BadTree` if a bot may not have it."""
    top.chmod(stat.S_IMODE(top.stat().st_mode) | 0o700)
    for entry in walk(top, most=MAX_NAMES, strict=True):
        check_name(entry.name)
        mode = stat.S_IMODE(entry.status.st_mode)
        wanted = mode | (0o700 if entry.is_folder or mode & 0o111 else 0o600)
        if wanted != mode and not entry.is_link:
            os.chmod(entry.base, wanted, dir_fd=entry.folder)


def remove_tree(path: Path) -> bool:
    """Remove a file or a folder, whatever a stranger has made of it; whether it is gone. What resists stays."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return True
        path.chmod(0o700)
        for entry in walk(path, after=True):
            with contextlib.suppress(OSError):
                if entry.after:
                    os.rmdir(entry.base, dir_fd=entry.folder)
                elif not entry.is_folder:
                    os.unlink(entry.base, dir_fd=entry.folder)
                elif entry.status.st_mode & 0o700 != 0o700:
                    os.chmod(entry.base, 0o700, dir_fd=entry.folder)
        path.rmdir()
    return not os.path.lexists(path)


def new_folder(path: Path) -> None:
    """Make an empty folder, whatever is there; `BadInput` if something resists."""
    if not remove_tree(path):
        raise BadInput(f"{path}: something in it cannot be removed; remove it by hand")
    path.mkdir(parents=True)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder, removed at the end, whatever a stranger's files have been put into it."""
    folder = Path(tempfile.mkdtemp(prefix="warpleague-"))
    try:
        yield folder
    finally:
        remove_tree(folder)
