"""Packs a built bot into one archive for another machine of the same kind, where its digest names it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BotError
from warpleague.match.spec import LEVEL
from warpleague.runner.bundle.archive import BadArchive, unpack
from warpleague.runner.bundle.bundle import find
from warpleague.runner.bundle.cache import bundle_folder
from warpleague.runner.bundle.seal import seal
from warpleague.runner.bundle.staging import staging_folder
from warpleague.runner.confine.mounts import FILES

if TYPE_CHECKING:
    from warpleague.match.spec import Level

MAX_MB: Final = 512
"""The largest built bot that travels, in MiB: it crosses the network in one message."""


def pack(digest: str, level: Level = LEVEL) -> bytes:
    """The built bot with `digest` as an archive, as built at `level` if it was; it must be in the cache here.

    Raises `BotError` if it is not here, or cannot travel.
    """
    bundle = find(digest, level=level)
    if bundle is None:
        raise BotError(f"the bot with digest {digest[:12]} is not in the cache of this machine")
    if Path(bundle.cwd + FILES).exists():
        raise BotError(f"{bundle.name} cannot travel to other machines: its large files are linked")
    out = io.BytesIO()
    try:
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            archive.add(bundle.cwd, ".")
    except OSError as error:
        raise BotError(f"{bundle.name} cannot travel to other machines: {error}") from None
    if out.tell() > MAX_MB << 20:
        raise BotError(f"{bundle.name} cannot travel to other machines: it has more than {MAX_MB} MiB")
    return out.getvalue()


def receive(digest: str, archive: bytes) -> None:
    """Put the built bot with `digest` into the cache of this machine, unless it is there.

    Raises `BotError` if the archive holds anything but files, folders and links inside the bot's folder.
    """
    target = bundle_folder(digest)
    target.parent.mkdir(parents=True, exist_ok=True)
    with staging_folder(target) as draft:
        if find(digest) is None:
            _unpack(archive, draft, target)


def _unpack(archive: bytes, draft: Path, target: Path) -> None:
    draft.mkdir(parents=True, exist_ok=True)
    try:
        unpack(io.BytesIO(archive), draft / "bot", MAX_MB << 20)
    except BadArchive as error:
        raise BotError(f"the bot that was sent holds {error}") from None
    seal(draft / "bot", target)
    (draft / "bot").rename(target)
