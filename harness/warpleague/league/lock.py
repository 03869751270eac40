"""One process at a time: the lock of a league's folder.

Leaves the store in that folder to `store`.
"""

from __future__ import annotations

import fcntl
import os
import socket
from typing import TYPE_CHECKING

from warpleague.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


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
