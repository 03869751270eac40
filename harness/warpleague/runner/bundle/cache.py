"""The cache of built bots: what it holds, which process uses what, and what may be removed.

A process that uses a bundle holds a shared lock on its folder until it ends, however it ends. To remove a bundle, a
process needs the lock alone. So nothing that is in use is ever removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BadInput, BotError
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.bundle.seal import SEAL
from warpleague.runner.bundle.staging import clean, remove
from warpleague.runner.confine.mounts import FILES
from warpleague.user_cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.match.spec import Level

_NAME: Final = re.compile(r"([0-9a-f]{32})(?:-(none|limits|sandbox))?")
_GONE: Final = ".gone"
_MAX_HELD: Final = 200  # descriptors; who uses more bundles locks the folder that holds them all


@attrs.frozen
class Cached:
    """A built bot in the cache.

    `digest` are the first 32 digits of the digest of its content, `size` is in bytes on the disk, `used` is when it
    was last prepared for a match, in seconds since 1970. `in_use`: a running process has prepared it. `level` is that
    of its build; None if it was only copied.
    """

    name: str
    version: str
    digest: str
    machine: str
    path: Path
    size: int
    used: float
    in_use: bool
    level: str | None = None


def bundle_folder(digest: str, built: Level | None = None) -> Path:
    """The folder of the bot with this digest, on machines of this kind; `built` is the level of its build, if any."""
    # What is built depends on machine and level; the digest, the bot's identity, must not.
    machine = f"{platform.system()}-{platform.machine()}".lower()
    return cache_folder() / machine / (digest[:32] if built is None else f"{digest[:32]}-{built}")


class LockedBundles:
    """The bundles that this process uses: each is locked until it is released, or the process ends.

    Each lock takes a descriptor. Beyond `most` of them, the folder that all bundles are in is locked instead.
    """

    def __init__(self, most: int = _MAX_HELD) -> None:
        self.most = most
        self._descriptors: dict[str, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._descriptors)

    def has(self, folder: Path) -> bool:
        """Whether this process has prepared the bundle in `folder` before, as it is there now."""
        with self._lock:
            descriptor = self._descriptors.get(str(folder))
            return descriptor is not None and _is_at(descriptor, folder)

    def hold(self, folder: Path) -> bool:
        """Keep a bundle from being removed; false if there is none in `folder`."""
        with self._lock:
            descriptor = self._descriptors.get(str(folder))
            if descriptor is not None and not _is_at(descriptor, folder):
                os.close(self._descriptors.pop(str(folder)))
                descriptor = None
            if descriptor is None:
                descriptor = _locked(folder)
                if descriptor is None:
                    return False
                if len(self._descriptors) < self.most:
                    self._descriptors[str(folder)] = descriptor
                else:
                    if str(folder.parent) not in self._descriptors:
                        self._descriptors[str(folder.parent)] = _locked(folder.parent) or os.dup(descriptor)
                    os.close(descriptor)
        with contextlib.suppress(OSError):  # a cache of somebody else's
            os.utime(folder)
        return True

    def release(self) -> None:
        """Let all of them be removed, as if this process had ended."""
        with self._lock:
            while self._descriptors:
                os.close(self._descriptors.popitem()[1])


HELD: Final = LockedBundles()
"""The bundles that this process has prepared."""


def _locked(folder: Path) -> int | None:
    """A descriptor of `folder` with a shared lock on it; None if it is not there."""
    while True:
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        with contextlib.suppress(OSError):  # where files cannot be locked, nothing is ever removed
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        if _is_at(descriptor, folder):
            return descriptor
        os.close(descriptor)  # removed while we waited


def _is_at(descriptor: int, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    return False


def cached() -> list[Cached]:
    """All built bots in the cache, the last used first."""
    entries = [_described(path) for machine in _machines() for path in _bundles(machine)]
    return sorted(entries, key=lambda entry: (-entry.used, entry.name, entry.digest))


def _machines() -> list[Path]:
    try:
        return sorted(path for path in cache_folder().iterdir() if path.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"{cache_folder()}: cannot read it: {error.strerror or error}") from None


def _bundles(machine: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from sorted(path for path in machine.iterdir() if _NAME.fullmatch(path.name))


def _described(path: Path) -> Cached:
    name, version = "?", ""
    with contextlib.suppress(BotError):
        manifest = read_manifest(path)
        name, version = manifest.name, manifest.version
    used = 0.0
    with contextlib.suppress(OSError):
        used = path.stat().st_mtime
    size = _size(path)
    with _alone(path) as free:
        in_use = not free
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return Cached(name, version, match[1], path.parent.name, path, size, used, in_use, match[2])


def _size(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512  # noqa: PTH118
    return total


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether nobody else uses a bundle; if so, nobody begins to as long as the context lasts."""
    opened: list[int] = []
    try:
        for place in (folder.parent, folder):
            opened.append(os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            fcntl.flock(opened[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except OSError:
        yield False
    finally:
        for descriptor in opened:
            os.close(descriptor)


def clear(entry: Cached) -> bool:
    """Remove a bundle from the cache; false if it is in use, or cannot be removed."""
    return remove_bundle(entry.path)


def remove_bundle(folder: Path) -> bool:
    """Remove the bundle in `folder`; false if it is in use, or cannot be removed."""
    gone = folder.with_name(folder.name + _GONE)
    with _alone(folder) as free:
        if not free:
            return False
        try:
            folder.rename(gone)  # at once: nobody finds half of it
        except OSError:
            return False
    for beside in (FILES, SEAL):
        remove(Path(f"{folder}{beside}"))
    remove(gone)
    return not gone.exists()


def sweep_cache() -> None:
    """Remove what was left behind by builds and removals that were killed."""
    for machine in _machines():
        clean(machine)
        for path in machine.glob(f"*{_GONE}"):
            remove(path)
