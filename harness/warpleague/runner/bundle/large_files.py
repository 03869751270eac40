"""Links large files of a bot instead of copying them, after checking them against the digest in its manifest.

In the cache, a bundle NAME has a folder NAME.files beside it with links to the files themselves. The bundle's own
links lead there, and are relative. So they work on the host, and also in the sandbox, where `mounts` puts the files
into a folder of the same name beside the bot's.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BotError
from warpleague.runner.confine.mounts import FILES
from warpleague.user_cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.runner.bundle.manifest import LargeFile, Manifest

_CHUNK: Final = 1 << 20


def check_files(folder: Path, manifest: Manifest) -> dict[str, str]:
    """The real paths of the large files of the bot in `folder`, by name; `BotError` for one that is not right."""
    sizes = {}
    for name, file in manifest.files.items():
        place = folder / (file.path or name)
        real = os.path.realpath(place)
        root = os.path.realpath(folder)
        if not real.startswith(root + "/"):
            _require_public(place, real)
        _verify(place, real, file.sha256)
        if os.geteuid() == 0 and not os.stat(real).st_mode & 0o004:  # noqa: PTH116
            raise BotError(f"{place}: bots run as another user when root runs the harness: chmod a+r {real}")
        sizes[name] = real
    return sizes


def recheck_files(bundle: Path, files: Mapping[str, LargeFile]) -> None:
    """Raise `BotError` if a file that a bundle in the cache links to is missing or was replaced."""
    for name, file in files.items():
        place = Path(f"{bundle}{FILES}", name)
        _verify(place, os.path.realpath(place), file.sha256)


def link_files(bundle: Path, files: Mapping[str, str]) -> None:
    """Have the links beside a bundle lead to `files`."""
    for name, real in files.items():
        place = Path(f"{bundle}{FILES}", name)
        if os.path.realpath(place) == real:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{os.getpid()}.draft")
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        draft.symlink_to(real)
        draft.replace(place)  # a bot that is just being started finds the one or the other


def make_links(copy: Path, name: str, files: Mapping[str, LargeFile]) -> None:
    """Put the links into the copy that will be the bundle `name`; they lead to the folder beside it."""
    for file in files:
        place = copy / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(f"{'../' * (file.count('/') + 1)}{name}{FILES}/{file}")


def _require_public(place: Path, real: str) -> None:
    """Raise `BotError` for a file out of a bot's folder that not everyone may read: a stranger names it."""
    for path in (Path(real), *Path(real).parents):
        with contextlib.suppress(OSError):
            if path.stat().st_mode & (0o001 if path.is_dir() else 0o004):
                continue
            raise BotError(
                f"{place}: it is not in the bot's folder, so everyone must be able to read it, but {path} is closed "
                "to others; move it, or put it into the bot's folder"
            )


def _verify(place: Path, real: str, digest: str) -> None:
    """Raise `BotError` unless the file at `real` has this SHA-256; read once, as long as its stamp is the same."""
    known = cache_folder() / "files" / digest
    try:
        # Not to wait for somebody to write into a named pipe; of a file it changes nothing.
        with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
            stamp = _stamp(real, os.fstat(file.fileno()))
            with contextlib.suppress(OSError, ValueError):
                if json.loads(known.read_text(encoding="utf-8")) == stamp:
                    return
            hasher = sha256()
            while data := file.read(_CHUNK):
                hasher.update(data)
            changed = _stamp(real, os.fstat(file.fileno())) != stamp
    except OSError as error:
        raise BotError(f"{place}: cannot read it: {error.strerror or error}") from None
    if changed:
        raise BotError(f"{place}: it changed while it was read")
    if hasher.hexdigest() != digest:
        raise BotError(
            f"{place}: it is not the file that bot.toml means: its SHA-256 is {hasher.hexdigest()}, not {digest}"
        )
    with contextlib.suppress(OSError):  # then it is read again next time
        known.parent.mkdir(parents=True, exist_ok=True)
        draft = known.with_name(f"{digest}.{os.getpid()}")
        draft.write_text(json.dumps(stamp), encoding="utf-8")
        draft.replace(known)


def _stamp(real: str, status: os.stat_result) -> list[str | int]:
    """The stamp of a file, which changes when it is written or replaced."""
    if not stat.S_ISREG(status.st_mode):
        raise BotError(f"{real}: is not a file")
    return [real, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
