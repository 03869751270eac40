"""The lock of a league's folder: only one process at a time may run the league."""

from __future__ import annotations

import fcntl
import os
import socket
from typing import TYPE_CHECKING

import attrs

from warpleague.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


@attrs.frozen
class StoreFiles:
    """Files that a process keeps open, and how to notice that another file has taken the place of one of them.

    While a file is open, no other gets its number, though it be removed.
    """

    files: tuple[tuple[Path, tuple[int, int] | None], ...] = ()

    @classmethod
    def of(cls, *paths: Path) -> StoreFiles:
        """The files that are at `paths` now."""
        return cls(tuple((path, _identity(path)) for path in paths))

    def check(self) -> None:
        """Raise `StoreError` for a file that was removed or replaced: what is written to it is lost."""
        for path, was in self.files:
            if _identity(path) != was:
                raise StoreError(
                    f"{path}: was removed or replaced while the league was running; what this run played after that "
                    "is lost. Restore the file if you can, make sure that only one run is active, and run it again"
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def take_lock(path: Path) -> int:
    """Lock the file `path` for this process; `StoreError` names the process that has it.

    The lock is an flock on the returned descriptor: it ends when that is closed, or with the process, however
    that ends. Child processes do not inherit it. Raises `OSError` if the file cannot be written.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.pread(lock, 200, 0).decode(errors="replace").strip() or "another process"
        os.close(lock)
        raise StoreError(
            f"{path.parent}: this league is being run already, by {holder}; wait for it, or stop it first"
        ) from None
    except BaseException:
        os.close(lock)
        raise
    return lock
