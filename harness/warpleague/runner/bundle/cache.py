"""The cache of built bots: what it holds, which process uses what, and what may be removed.

A process that uses a bundle holds a shared lock on its folder until it ends, however it ends. To remove a bundle, a
process needs the lock alone. So nothing that is in use is ever removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import re
import shutil
import threading
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BadInput, BotError
from warpleague.runner.bundle.content import disk_bytes
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.confine.mounts import FILES
from warpleague.runner.tree import MAX_NAMES, BadTree, Entry, remove_tree, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.match.spec import Level

SEAL: Final = ".seal"  # how the name of the file beside a copy ends
RECEIVED: Final = ".received"
"""How the name of the empty file beside a bundle ends that came from another machine."""
_CHUNK: Final = 1 << 20

_NAME: Final = re.compile(r"([0-9a-f]{32})(?:-(none|limits|sandbox))?")
_GONE: Final = ".gone"
_MAX_HELD: Final = 200  # descriptors; who uses more bundles locks the folder that holds them all
_DRAFT: Final = ".draft"
_LOCK: Final = ".lock"


def cache_folder() -> Path:
    """Where built bundles are: `WARPLEAGUE_CACHE`, or the user's cache folder."""
    folder = os.environ.get("WARPLEAGUE_CACHE")
    if folder:
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "warpleague"
    except RuntimeError:
        text = (
            "there is no folder to keep bots in: this user has no home folder; name one in WARPLEAGUE_CACHE"
        )
        raise BadInput(text) from None


def bundle_folder(digest: str, built: Level | None = None) -> Path:
    """The folder of the bot with this digest, on machines of this kind; `built` is the level of its build, if any."""
    # What is built depends on machine and level; the digest, the bot's identity, must not.
    machine = f"{platform.system()}-{platform.machine()}".lower()
    return cache_folder() / machine / (digest[:32] if built is None else f"{digest[:32]}-{built}")


# -- the bundles that processes use ----------------------------------------------------------------------


class LockedBundles:
    """The bundles that this process uses: each is locked until it is released, or the process ends."""

    # Each lock takes a descriptor. Beyond `most` of them, the folder that all bundles are in is locked instead.

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


HELD: Final = LockedBundles()  # the bundles that this process has prepared


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


# -- what is in the cache --------------------------------------------------------------------------------


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


def cached_bundles() -> list[Cached]:
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
    size = disk_bytes(path)
    with _alone(path) as free:
        in_use = not free
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return Cached(name, version, match[1], path.parent.name, path, size, used, in_use, match[2])


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
    for beside in (FILES, SEAL, RECEIVED):
        remove_tree(Path(f"{folder}{beside}"))
    return remove_tree(gone)


def trim_received(most: int) -> None:
    """Remove bundles that came from another machine, those used longest ago, until they take at most `most` bytes.

    What a process uses stays; a machine that needs a removed one asks for it again.
    """
    for entry in cached_bundles():
        if Path(f"{entry.path}{RECEIVED}").exists():
            most -= entry.size
            if most < 0:
                remove_bundle(entry.path)


def sweep_cache() -> None:
    """Remove what was left behind by builds and removals that were killed."""
    for machine in _machines():
        remove_drafts(machine)
        for path in machine.glob(f"*{_GONE}"):
            remove_tree(path)


# -- the seal of a copy ----------------------------------------------------------------------------------

# Below level sandbox a bot may write to its copy in the cache. Beside each copy is a file with what was in it when it
# was made. It begins with the digest of the files' stamps: size, number on the disk, and times, of which nobody can
# set that of the last change. Only if these differ is anything read.


def seal_copy(copy: Path, place: Path) -> None:
    """Store the present state of `copy`, which moves to `place`."""
    stamp = _stamp(copy)  # before the files are read: what is written meanwhile, shows
    _write(place, stamp, _contents(copy))


def changes_of(place: Path) -> list[str]:
    """The names of the files at `place` that are new, gone or others than when it was sealed; its seal, if that is."""
    seal = place.with_name(place.name + SEAL)
    try:
        with seal.open(encoding="utf-8") as file:
            known = file.readline().strip()
            stamp = _stamp(place)
            if known == stamp:
                return []
            were: dict[str, str] = json.loads(file.read())
            are = _contents(place)
    except BadTree as error:
        return [str(error)]
    except (OSError, ValueError):
        return [seal.name] if place.is_dir() else []
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


def _files(copy: Path) -> Iterator[Entry]:
    """Everything below `copy` but folders; `BadTree` if that is more than a bot may have."""
    with contextlib.suppress(OSError):
        yield from (entry for entry in walk(copy, most=MAX_NAMES) if not entry.is_folder)


def _stamp(copy: Path) -> str:
    """The digest of what changes when a file is written, replaced, made or removed."""
    lines = []
    for entry in _files(copy):
        s = entry.status
        lines.append(f"{entry.name}\0{s.st_mode}:{s.st_size}:{s.st_ino}:{s.st_mtime_ns}:{s.st_ctime_ns}")
    return sha256("\n".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def _contents(copy: Path) -> dict[str, str]:
    """Each file's digest and whether it may be executed; where a link leads."""
    return {entry.name: _content(entry) for entry in _files(copy)}


def _content(entry: Entry) -> str:
    try:
        if entry.is_link:
            return f"link to {os.readlink(entry.base, dir_fd=entry.folder)}"
        if not entry.is_file:
            return "no file"
        hasher = sha256()
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(entry.base, flags, dir_fd=entry.folder), "rb", buffering=0) as file:
            while data := file.read(_CHUNK):
                hasher.update(data)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return f"{hasher.hexdigest()} {'x' if entry.status.st_mode & 0o111 else '-'}"


# -- the folder in which a bundle is made ----------------------------------------------------------------

# It lies beside its target, is owned by one process, and removed with it. The owner holds a lock on a file of the
# same name, and the lock ends with the process however that ends. If the lock of a draft is free, its owner is dead,
# and the draft is removed when the next one beside it is made.


@contextlib.contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """The draft for `target`, not there yet, for this thread alone, which waits for any other that has it.

    Drafts beside it whose owners are dead go first: not at each start, as to list the copies of many bots takes long.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_drafts(target.parent)
    name = target.with_name(target.name + _LOCK)
    lock = _take(name, wait=True)
    assert lock is not None
    draft = target.with_name(target.name + _DRAFT)
    try:
        remove_tree(draft)
        yield draft
    finally:
        remove_tree(draft)
        _give_back(name, lock)


def remove_drafts(folder: Path) -> int:
    """Remove the drafts in `folder` whose owners are dead, and their locks; how many there were."""
    removed = 0
    with contextlib.suppress(OSError):
        stems = {path.stem for path in folder.iterdir() if path.suffix in (_DRAFT, _LOCK)}
        for stem in sorted(stems):
            name = folder / (stem + _LOCK)
            lock = _take(name, wait=False)
            if lock is not None:
                remove_tree(folder / (stem + _DRAFT))
                _give_back(name, lock)
                removed += 1
    return removed


def replace_file(source: Path, target: Path) -> None:
    """Make `target` a plain file with the content of `source`, whatever is there now."""
    remove_tree(target)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def _take(name: Path, *, wait: bool) -> int | None:
    """A descriptor that holds the lock `name`; None if somebody has it and the caller does not want to wait."""
    while True:
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # The owner before us has removed the file: what is locked is one that nobody will look at.
            if os.fstat(lock).st_ino == os.stat(name).st_ino:
                return lock
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(lock)
            return None
        except OSError as error:
            os.close(lock)
            raise OSError(error.errno, f"{error.strerror}: its file system refuses locks of files") from None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _give_back(name: Path, lock: int) -> None:
    with contextlib.suppress(OSError):
        name.unlink()
    os.close(lock)
