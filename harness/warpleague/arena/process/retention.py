"""Bounds the size of folders: removes the oldest files until the rest fits."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def prune(folder: Path, max_bytes: int) -> int:
    """Remove the files of `folder`, and of the folders in it, that changed longest ago, until `max_bytes` are left.

    Returns how many files were removed. A file that cannot be removed stays.
    """
    files = sorted(_files(folder))
    left = sum(size for _, size, _ in files)
    removed = 0
    for _, size, path in files:
        if left <= max_bytes:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - many
            removed += 1
            left -= size
    return removed


def _files(folder: Path | str) -> Iterator[tuple[float, int, str]]:
    """When each file was changed, its size on the disk in bytes, and its path."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
                continue
            with contextlib.suppress(OSError):
                stat = entry.stat(follow_symlinks=False)
                yield stat.st_mtime, max(stat.st_size, stat.st_blocks * 512), entry.path
