"""Packs files, and unpacks an archive that a stranger may have written, such as a sandboxed build's, into a folder.

The forms are those of POSIX: ustar, pax and what was before them, and that of GNU tar. Only plain files, folders and
links are taken, and only below the folder; everything else, and everything that is too large, is refused before it is
written. What an extended header says of a name is checked as every other name is.
"""

# The reader is our own, because every length is bounded before anything is read, which `tarfile` does not do.

from __future__ import annotations

import errno
import io
import os
import tarfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Final

import attrs

from warpleague.runner.tree import MAX_NAMES, BadTree, check_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from gzip import GzipFile
    from pathlib import Path

_BLOCK: Final = 512
_CHUNK: Final = 1 << 20
_FILE: Final = (b"0", b"\0")
_HARD_LINK, _SYMBOLIC_LINK, _FOLDER, _GNU_SPARSE = b"1", b"2", b"5", b"S"
_PAX, _PAX_OF_ALL, _GNU_NAME, _GNU_TARGET = b"x", b"g", b"L", b"K"
_EXTENDED: Final = (_PAX, _PAX_OF_ALL, _GNU_NAME, _GNU_TARGET)
_PAX_SPARSE: Final = (b"GNU.sparse.", b"SCHILY.realsize")
_DAMAGED: Final = "an archive with a damaged header"
MAX_HOPS: Final = 40  # how many links the kernel follows on the way to one file


class BadArchive(BadTree):
    """The archive holds what a bot's folder must not hold, or is none; the text says what."""


def pack(files: Iterable[tuple[str, bytes, bool]], out: BinaryIO | GzipFile) -> None:
    """Write a tar file that depends on nothing but these files: path with slashes, content, whether it may be run."""
    made: set[str] = set()
    # Where names are short, the same bytes as in ustar.
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data, executable in files:
            for parent in [str(folder) for folder in reversed(PurePosixPath(name).parents)][1:]:
                if parent not in made:
                    made.add(parent)
                    head = tarfile.TarInfo(parent)
                    head.type, head.mode = tarfile.DIRTYPE, 0o755
                    archive.addfile(head)
            head = tarfile.TarInfo(name)
            head.size, head.mode = len(data), 0o755 if executable else 0o644
            archive.addfile(head, io.BytesIO(data))


@attrs.define
class _Room:
    """What an archive has taken of its allowance: bytes of files and of extended headers, entries, files."""

    most_bytes: int
    most_entries: int
    taken: int = 0
    entries: int = 0
    unpacked: int = 0

    def take(self, size: int) -> None:
        self.taken += size
        if self.taken > self.most_bytes:
            raise BadArchive(f"more than {self.most_bytes >> 20} MiB")

    def entry(self) -> None:
        self.entries += 1
        if self.entries > 3 * self.most_entries:  # packers add at most one for each that is unpacked
            raise self._too_many()

    def keep(self) -> None:
        self.unpacked += 1
        if self.unpacked > self.most_entries:
            raise self._too_many()

    def _too_many(self) -> BadArchive:
        return BadArchive(f"more than {self.most_entries:,} files")


@attrs.frozen
class _Entry:
    """One entry of an archive; `size` is the length in bytes of what follows it, if it is a file."""

    name: str
    kind: bytes
    size: int
    executable: bool
    target: str


def unpack(
    archive: BinaryIO,
    folder: Path,
    most_bytes: int,
    *,
    most_entries: int = MAX_NAMES,
    check_name: Callable[[str], None] = check_name,
    leave_out: Callable[[str], bool] = lambda _: False,
) -> None:
    """Unpack `archive` into `folder`, which must not exist yet: at most `most_bytes` bytes of files.

    All files become readable for everyone, and executable for everyone or nobody. Folders that have no entry of their
    own are made. `check_name` may refuse a path, and what `leave_out` is true of is not written. Raises `BadTree`.
    """
    room = _Room(most_bytes, most_entries)
    try:
        unpacking = _Unpacking(archive, folder, room)
        while (entry := _entry(archive, room)) is not None:
            room.entry()
            if leave_out(entry.name):
                unpacking.skip(entry)
            else:
                check_name(entry.name)
                unpacking.take(entry)
        unpacking.make_links()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise BadArchive("a path that is too long: give folders and files shorter names") from None


class _Unpacking:
    """The folder that an archive is unpacked into, and what is in it so far; made when this is."""

    def __init__(self, archive: BinaryIO, folder: Path, room: _Room) -> None:
        self._archive, self._folder, self._room = archive, folder, room
        self._folders, self._files = set[str](), set[str]()
        self._links: dict[str, str] = {}
        self._make_folder("")

    def _make_folder(self, name: str) -> None:
        if name:
            self._room.keep()
        (self._folder / name).mkdir()
        (self._folder / name).chmod(0o755)
        self._folders.add(name)

    def skip(self, entry: _Entry) -> None:
        """Read over an entry that is left out."""
        if entry.kind in _FILE:
            self._room.take(entry.size)
            for _ in _content(self._archive, entry.size):
                pass

    def take(self, entry: _Entry) -> None:
        """Write an entry, and the folders above it that are not there yet; but note a link only."""
        name, kind = entry.name, entry.kind
        if name in self._files or name in self._links or (name in self._folders and kind != _FOLDER):
            raise BadArchive(f"{name} twice; an archive that files were added to must be made again")
        for parent in _missing(name, self._folders):
            if parent in self._files or parent in self._links:
                raise BadArchive(f"{name}, below {parent}, which is no folder")
            self._make_folder(parent)
        if kind == _FOLDER:
            if name not in self._folders:
                self._make_folder(name)
            return
        self._room.keep()
        if kind in _FILE:
            self._room.take(entry.size)
            _copy(self._archive, self._folder / name, entry.size, 0o755 if entry.executable else 0o644)
            self._files.add(name)
        elif kind == _HARD_LINK:
            target = _inside(entry.target)
            if target not in self._files:
                raise BadArchive(f"{name}, a link to {target}, which is not a file")
            os.link(self._folder / target, self._folder / name)
            self._files.add(name)
        elif kind == _SYMBOLIC_LINK:
            self._links[name] = entry.target
            if not entry.target:
                raise BadArchive(f"{name}, a link to nowhere")
        elif kind == _GNU_SPARSE:
            raise _sparse(name)
        else:
            raise BadArchive(f"{name}, which is neither a file nor a folder nor a link")

    def make_links(self) -> None:
        """Make the links: last, so that nothing is ever written through one."""
        # Found out from the names alone, and for each link once: the time is in proportion to their number.
        ends: dict[str, tuple[str, int]] = {}
        for name in self._links:
            _follow(name, self._links, ends)
        for name, target in self._links.items():
            os.symlink(target, self._folder / name)  # not by pathlib: a target is a text, and stays as it is


def _missing(name: str, folders: set[str]) -> list[str]:
    """The folders above `name` that are not there yet, the uppermost first."""
    missing = []
    parent = os.path.dirname(name)  # not by pathlib: the names are not paths of this machine
    while parent not in folders:
        missing.append(parent)
        parent = os.path.dirname(parent)
    return missing[::-1]


def _entry(archive: BinaryIO, room: _Room) -> _Entry | None:
    """The next entry, with what the extended headers before it say; None at the end mark."""
    pax: dict[bytes, bytes] = {}
    before: set[bytes] = set()
    while (head := _header(archive)) is not None:
        kind, size = head[156:157], _number(head[124:136])
        if kind not in _EXTENDED:
            break
        if kind in before:
            raise BadArchive(_DAMAGED)
        before.add(kind)
        _extend(pax, kind, _extended_header(archive, size, room))
    else:
        if before - {_PAX_OF_ALL}:
            raise _broken_off()
        return None
    name = head[0:100]
    if head[345] and head[257:263] == b"ustar\0":  # GNU tar has times there
        name = head[345:500].split(b"\0", 1)[0] + b"/" + name
    full = _text(pax.get(b"path") or name)
    if any(key.startswith(_PAX_SPARSE) for key in pax):
        raise _sparse(full)
    if kind in _FILE and full.endswith("/"):
        kind = _FOLDER  # as tar wrote it before it had a kind for folders
    return _Entry(
        _inside(full),
        kind,
        _decimal(pax[b"size"]) if pax.get(b"size") else size,
        bool(_number(head[100:108]) & 0o111),
        _text(pax.get(b"linkpath") or head[157:257]),
    )


def _extend(pax: dict[bytes, bytes], kind: bytes, data: bytes) -> None:
    """Add what an extended header says of the next entry."""
    if kind == _GNU_NAME:
        pax[b"path"] = data
    elif kind == _GNU_TARGET:
        pax[b"linkpath"] = data
    else:
        records = _pax_records(data)
        names = records.keys() & {b"path", b"linkpath", b"size"}
        if any(b"\0" in records[key] for key in names) or (names and kind == _PAX_OF_ALL):
            raise BadArchive(_DAMAGED)
        if kind == _PAX:
            pax.update(records)


def _extended_header(archive: BinaryIO, size: int, room: _Room) -> bytes:
    if size > _CHUNK:
        raise BadArchive(_DAMAGED)
    room.take(size)
    data = archive.read(size)
    if len(data) < size:
        raise _broken_off()
    archive.read(-size % _BLOCK)
    return data


def _pax_records(data: bytes) -> dict[bytes, bytes]:
    """The keys and values of a pax header: records of a length in decimal digits, a space, key=value, a line end."""
    records: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        digits, _, _ = data[at : at + 8].partition(b" ")
        end = at + _decimal(digits)
        record = data[at + len(digits) : end]
        key, equals, value = record[1:-1].partition(b"=")
        if end > len(data) or record[:1] != b" " or record[-1:] != b"\n" or not equals:
            raise BadArchive(_DAMAGED)
        records[key] = value
        at = end
    return records


def _header(archive: BinaryIO) -> bytes | None:
    """The next header; None at the end mark."""
    head = archive.read(_BLOCK)
    if head == bytes(_BLOCK):
        return None
    if len(head) < _BLOCK or head[257:262] not in (b"ustar", bytes(5)):
        raise _broken_off()
    if sum(head) - sum(head[148:156]) + 8 * ord(" ") != _number(head[148:156]):
        raise BadArchive(_DAMAGED)
    return head


def _content(archive: BinaryIO, size: int) -> Iterator[bytes]:
    """The file that follows, piece by piece."""
    rest = size
    while rest:
        data = archive.read(min(rest, _CHUNK))
        if not data:
            raise _broken_off()
        yield data
        rest -= len(data)
    archive.read(-size % _BLOCK)


def _copy(archive: BinaryIO, path: Path, size: int, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        for data in _content(archive, size):
            file.write(data)
        os.fchmod(fd, mode)


def _text(field: bytes) -> str:
    return os.fsdecode(field.split(b"\0", 1)[0])


def _number(field: bytes) -> int:
    text = field.strip(b" \0")
    if not text.isdigit() or any(digit > ord("7") for digit in text):
        raise BadArchive(_DAMAGED)
    return int(text, 8)


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > 20:
        raise BadArchive(_DAMAGED)
    return int(digits)


def _inside(name: str) -> str:
    """A name in the archive as a path below the folder, without dots; "" is the folder itself."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise BadArchive(f"{name}, which is outside the folder")
    return "/".join(parts)


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
    target, place, hops = links[name], os.path.dirname(name), 1
    out = target.startswith("/")
    for part in target.split("/"):
        if part == "..":
            out = out or not place
            place = place.rpartition("/")[0]
        elif part not in ("", "."):
            place = f"{place}/{part}" if place else part
            if place in links:
                if len(before) == MAX_HOPS:
                    raise _too_far(before[0])
                place, more = _follow(place, links, ends, (*before, name))
                hops += more
        if out:
            raise BadArchive(f"{name}, a link that leads out of the folder, to {target}")
    if hops > MAX_HOPS:
        raise _too_far(name)
    ends[name] = place, hops
    return ends[name]


def _too_far(name: str) -> BadArchive:
    return BadArchive(f"{name}, a link that leads through more than {MAX_HOPS} others")


def _broken_off() -> BadArchive:
    return BadArchive("an archive that breaks off, or is none")


def _sparse(name: str) -> BadArchive:
    return BadArchive(f"{name}, packed as a sparse file: pack it without --sparse, or with --no-read-sparse")
