"""Keeps folders of files within a bound: the oldest files go first."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def prune(folder: Path, most_bytes: int) -> int:
    """Remove the files of `folder` and its folders that were written or touched longest ago, until the rest fits.

    Returns how many were removed. What cannot be removed stays.
    """
    found = sorted(_files(folder))
    left = sum(size for _, size, _ in found)
    removed = 0
    for _, size, path in found:
        if left <= most_bytes:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - many
            removed += 1
            left -= size
    return removed


def _files(folder: Path | str) -> Iterator[tuple[float, int, str]]:
    """When each file was changed, how much room it takes, and its path."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
                continue
            with contextlib.suppress(OSError):
                facts = entry.stat(follow_symlinks=False)
                yield facts.st_mtime, max(facts.st_size, facts.st_blocks * 512), entry.path
