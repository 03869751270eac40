"""The folder in which a bundle is made: beside its target, owned by one process, and removed with it.

The owner holds a lock on a file of the same name, and the lock ends with the process however that ends. If the lock
of a draft is free, its owner is dead, and the draft is removed at the next start.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DRAFT: Final = ".draft"
_LOCK: Final = ".lock"


@contextlib.contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """The draft for `target`, not there yet, for this thread alone, which waits for any other that has it."""
    name = target.with_name(target.name + _LOCK)
    lock = _take(name, wait=True)
    assert lock is not None
    draft = target.with_name(target.name + _DRAFT)
    try:
        remove(draft)
        yield draft
    finally:
        remove(draft)
        _give_back(name, lock)


def clean(folder: Path) -> int:
    """Remove the drafts in `folder` whose owners are dead, and their locks; how many there were."""
    removed = 0
    with contextlib.suppress(OSError):
        stems = {path.stem for path in folder.iterdir() if path.suffix in (_DRAFT, _LOCK)}
        for stem in sorted(stems):
            name = folder / (stem + _LOCK)
            lock = _take(name, wait=False)
            if lock is not None:
                remove(folder / (stem + _DRAFT))
                _give_back(name, lock)
                removed += 1
    return removed


def remove(folder: Path) -> None:
    """Remove a folder, whatever a build has made of it; what resists is left to the next start."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        # Closed to us, or too deep for Python.
        script = 'chmod -R u+rwx "$1"; rm -rf "$1"'
        subprocess.run(["/bin/sh", "-c", script, "sh", str(folder)], stderr=subprocess.DEVNULL, check=False)


def replace(source: Path, target: Path) -> None:
    """Make `target` a plain file with the content of `source`, whatever is there now."""
    if target.is_dir() and not target.is_symlink():
        remove(target)
    target.unlink(missing_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def _take(name: Path, *, wait: bool) -> int | None:
    """A descriptor that holds the lock `name`; None if somebody has it and the caller does not want to wait."""
    while True:
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # The owner before us has removed the file: what is locked is one that nobody will look at.
            if os.fstat(lock).st_ino == os.stat(name).st_ino:  # noqa: PTH116
                return lock
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(lock)
            return None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _give_back(name: Path, lock: int) -> None:
    with contextlib.suppress(OSError):
        name.unlink()
    os.close(lock)
