"""Unpacks an archive that a stranger may have written, such as what comes out of a sandboxed build, into a folder.

The form is POSIX ustar (pax(1)). Only plain files, folders and links are taken, and only below the folder;
everything else, and everything that is too large, is refused before it is written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BLOCK: Final = 512
_CHUNK: Final = 1 << 20
_FILE: Final = (b"0", b"\0")
_HARD_LINK: Final = b"1"
_SYMBOLIC_LINK: Final = b"2"
_FOLDER: Final = b"5"
MOST_ENTRIES: Final = 50_000
MOST_HOPS: Final = 40
"""How many links the kernel follows on the way to one file."""


class BadArchive(ValueError):
    """The archive holds what a bot's folder must not hold, or is none; the text says what."""


def unpack(
    archive: BinaryIO,
    folder: Path,
    most_bytes: int,
    *,
    most_entries: int = MOST_ENTRIES,
    check_name: Callable[[str], None] = lambda _: None,
) -> None:
    """Make `folder`, which must not be there yet, hold what is in `archive`: at most so many bytes of files.

    All files become readable for everyone, and executable for everyone or nobody. `check_name` may refuse a path.
    Raises `BadArchive`.
    """
    folder.mkdir()
    folder.chmod(0o755)
    folders, files = {""}, set[str]()
    links: dict[str, str] = {}
    left, entries = most_bytes, 0
    while (head := _header(archive)) is not None:
        entries += 1
        if entries > most_entries:
            raise BadArchive(f"more than {most_entries:,} files")
        kind, size = head[156:157], _number(head[124:136])
        name = _inside(_text(head[345:500]) + "/" + _text(head[0:100]) if head[345] else _text(head[0:100]))
        check_name(name)
        if name in files or name in links or (name in folders and kind != _FOLDER):
            raise BadArchive(f"{name} twice")
        if os.path.dirname(name) not in folders:  # noqa: PTH120 - the names are not paths of this machine
            raise BadArchive(f"{name}, without the folder it is in")
        path = folder / name
        if kind in _FILE:
            left -= size
            if left < 0:
                raise BadArchive(f"more than {most_bytes >> 20} MiB")
            _copy(archive, path, size, 0o755 if _number(head[100:108]) & 0o111 else 0o644)
            files.add(name)
        elif kind == _FOLDER:
            if name not in folders:
                path.mkdir()
                path.chmod(0o755)
                folders.add(name)
        elif kind == _HARD_LINK:
            target = _inside(_text(head[157:257]))
            if target not in files:
                raise BadArchive(f"{name}, a link to {target}, which is no file")
            os.link(folder / target, path)
            files.add(name)
        elif kind == _SYMBOLIC_LINK:
            links[name] = _text(head[157:257])
            if not links[name]:
                raise BadArchive(f"{name}, a link to nowhere")
        else:
            raise BadArchive(f"{name}, which is neither a file nor a folder nor a link")
    _check_links(links)
    # Last, so that nothing is ever written through one.
    for name, target in links.items():
        os.symlink(target, folder / name)  # noqa: PTH211 - a target is a text, and stays as it is


def _header(archive: BinaryIO) -> bytes | None:
    """The next header; None at the end mark."""
    head = archive.read(_BLOCK)
    if head == bytes(_BLOCK):
        return None
    if len(head) < _BLOCK or head[257:262] != b"ustar":
        raise BadArchive("an archive that breaks off, or is none")
    if sum(head) - sum(head[148:156]) + 8 * ord(" ") != _number(head[148:156]):
        raise BadArchive("an archive with a damaged header")
    return head


def _copy(archive: BinaryIO, path: Path, size: int, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        rest = size
        while rest:
            data = archive.read(min(rest, _CHUNK))
            if not data:
                raise BadArchive("an archive that breaks off")
            file.write(data)
            rest -= len(data)
        os.fchmod(fd, mode)
    archive.read(-size % _BLOCK)


def _text(field: bytes) -> str:
    return os.fsdecode(field.split(b"\0", 1)[0])


def _number(field: bytes) -> int:
    text = field.strip(b" \0")
    if not text.isdigit() or any(digit > ord("7") for digit in text):
        raise BadArchive("an archive with a damaged header")
    return int(text, 8)


def _inside(name: str) -> str:
    """A name in the archive as a path below the folder, without dots; "" is the folder itself."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise BadArchive(f"{name}, which is outside the folder")
    return "/".join(parts)


def _check_links(links: dict[str, str]) -> None:
    """Raise `BadArchive` if a link leads out of the folder, in circles, or through too many others.

    Found out from the names alone, and for each link once: the time is in proportion to their number.
    """
    ends: dict[str, tuple[str, int]] = {}
    for name in links:
        _follow(name, links, ends)


def _follow(
    name: str, links: dict[str, str], ends: dict[str, tuple[str, int]], before: tuple[str, ...] = ()
) -> tuple[str, int]:
    """Where a link leads, as a path below the folder, and through how many links, as the kernel would count them.

    `ends` holds what is known already, `before` the links on the way here. What a link leads to need not be there.
    """
    if name in ends:
        return ends[name]
    if name in before:
        raise BadArchive(f"{name}, a link that leads in circles")
    target, place, hops = links[name], os.path.dirname(name), 1  # noqa: PTH120
    out = target.startswith("/")
    for part in target.split("/"):
        if part == "..":
            out = out or not place
            place = place.rpartition("/")[0]
        elif part not in ("", "."):
            place = f"{place}/{part}" if place else part
            if place in links:
                if len(before) == MOST_HOPS:
                    raise _too_long(before[0])
                place, more = _follow(place, links, ends, (*before, name))
                hops += more
        if out:
            raise BadArchive(f"{name}, a link that leads out of the folder, to {target}")
    if hops > MOST_HOPS:
        raise _too_long(name)
    ends[name] = place, hops
    return ends[name]


def _too_long(name: str) -> BadArchive:
    return BadArchive(f"{name}, a link that leads through more than {MOST_HOPS} others")
