"""Finds out whether the built copy of a bot in the cache is as it was made: below level sandbox a bot may write to it.

Beside each copy is a file with what was in it when it was made. It begins with the digest of the files' stamps: size,
number on the disk, and times, of which nobody can set that of the last change. Only if these differ is anything read.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEAL: Final = ".seal"
"""How the name of the file beside a copy ends."""
_CHUNK: Final = 1 << 20


def seal(copy: Path, place: Path) -> None:
    """Store the present state of `copy`, which moves to `place`."""
    stamp = _stamp(copy)  # before the files are read: what is written meanwhile, shows
    _write(place, stamp, _contents(copy))


def changes(place: Path) -> list[str] | None:
    """The names of the files at `place` that are new, gone or others than when it was sealed; None without a seal."""
    try:
        with place.with_name(place.name + SEAL).open(encoding="utf-8") as file:
            known = file.readline().strip()
            stamp = _stamp(place)
            if known == stamp:
                return []
            were: dict[str, str] = json.loads(file.read())
    except (OSError, ValueError):
        return None
    are = _contents(place)
    changed = sorted(name for name in were.keys() | are.keys() if were.get(name) != are.get(name))
    if not changed:  # a copy of the cache, say: checked once
        _write(place, stamp, are)
    return changed


def _write(place: Path, stamp: str, contents: dict[str, str]) -> None:
    path = place.with_name(place.name + SEAL)
    draft = place.with_name(f"{place.name}{SEAL}.{os.getpid()}")
    with contextlib.suppress(OSError):  # a cache of somebody else's
        draft.write_text(f"{stamp}\n{json.dumps(contents)}\n", encoding="utf-8")
        draft.replace(path)


def _files(copy: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below `copy` but folders, each with its name relative to it."""
    below = [""]
    while below:
        prefix = below.pop()
        with contextlib.suppress(OSError), os.scandir(f"{copy}/{prefix}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(f"{prefix}{entry.name}/")
                else:
                    yield f"{prefix}{entry.name}", entry


def _stamp(copy: Path) -> str:
    """The digest of what changes when a file is written, replaced, made or removed."""
    lines = []
    for name, entry in _files(copy):
        with contextlib.suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            lines.append(
                f"{name}\0{status.st_mode}:{status.st_size}:{status.st_ino}:{status.st_mtime_ns}:{status.st_ctime_ns}"
            )
    return sha256("\n".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def _contents(copy: Path) -> dict[str, str]:
    """Each file's digest and whether it may be executed; where a link leads."""
    return {name: _content(entry) for name, entry in _files(copy)}


def _content(entry: os.DirEntry[str]) -> str:
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            return f"link to {os.readlink(entry.path)}"  # noqa: PTH115
        if not stat.S_ISREG(mode):
            return "no file"
        hasher = sha256()
        with open(entry.path, "rb", buffering=0) as file:  # noqa: PTH123
            while data := file.read(_CHUNK):
                hasher.update(data)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return f"{hasher.hexdigest()} {'x' if mode & 0o111 else '-'}"
