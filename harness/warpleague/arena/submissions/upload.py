"""From the bytes of an upload to the folder of a bot: tar, tar.gz or zip, read by one reader under one set of limits.

The reader is the one for what builds make (`warpleague.runner.bundle.archive`). A zip file is written as a tar file
first, entry by entry, each counted while it is unpacked; what its directory says of sizes is not trusted.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from warpleague.errors import BotError
from warpleague.runner.bundle.archive import BadArchive, unpack
from warpleague.runner.bundle.content import content, files_of
from warpleague.runner.bundle.manifest import MANIFEST, read_manifest
from warpleague.runner.bundle.staging import remove

if TYPE_CHECKING:
    from warpleague.arena.submissions.limits import SubmissionLimits

_NAME_BYTES: Final = 200
_PATH_BYTES: Final = 1000
_DEPTH: Final = 20
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_NOISE: Final = frozenset({"__MACOSX", ".DS_Store"})
"""What packers of some systems add beside a folder."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_CHUNK: Final = 1 << 16
_PADDING: Final = 1 << 20


def pack_folder(folder: Path) -> bytes:
    """The bot in `folder` as a tar.gz that depends on nothing but its files; `BotError` for what no bot may hold."""
    manifest = read_manifest(folder)
    if manifest.files:
        raise BotError(f"{folder / MANIFEST}: files: a submission cannot have linked files")
    out = io.BytesIO()
    made: set[str] = set()
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for file in files_of(folder):
            parents = [str(parent) for parent in reversed(Path(file.name).parents) if str(parent) != "."]
            try:
                for parent in parents:
                    if parent not in made:
                        made.add(parent)
                        head = tarfile.TarInfo(parent)
                        head.type, head.mode = tarfile.DIRTYPE, 0o755
                        archive.addfile(head)
                data = content(file)
                head = tarfile.TarInfo(file.name)
                head.size, head.mode = len(data), 0o755 if file.executable else 0o644
                archive.addfile(head, io.BytesIO(data))
            except ValueError:
                raise BotError(f"{file.path}: this path is too long to be sent") from None
    return out.getvalue()


def unpack_upload(data: bytes, folder: Path, limits: SubmissionLimits) -> None:
    """Make `folder`, not there yet, the folder of the bot in the upload `data`; `BotError` if there is none in it.

    The bot may be in a folder of the archive, alone there.
    """
    box = folder.with_name(folder.name + ".box")
    remove(box)
    try:
        with _as_tar(data, limits) as archive:
            _unpack(archive, box, limits)
            # To the end, where a damaged or broken off file shows.
            if len(archive.read(_PADDING)) == _PADDING:
                raise BadArchive("more behind its end")
        _bot_in(box).rename(folder)
    except BadArchive as error:
        raise BotError(f"the archive holds {error}") from None
    except (
        *(EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError),
        *(ValueError, IndexError, OverflowError, RuntimeError, struct.error),  # zipfile, of headers that lie
    ) as error:
        raise BotError(f"the archive is damaged, or breaks off: {error}") from None
    finally:
        remove(box)


def _unpack(archive: BinaryIO, box: Path, limits: SubmissionLimits) -> None:
    try:
        unpack(archive, box, limits.folder_mb << 20, most_entries=limits.files, check_name=_check_name)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        # On a file system for which two names are one.
        raise BadArchive(f"{Path(str(error.filename)).name}, twice under names that are alike") from None


def _check_name(name: str) -> None:
    """Raise `BadArchive` for a path that people could not read, or other systems not hold."""
    if not name.isprintable() or any("\ud800" <= char <= "\udfff" for char in name) or "\\" in name:
        raise BadArchive(f"{name!r}, a name with characters that no name may have here")
    parts = name.split("/")
    if (
        len(parts) > _DEPTH
        or len(name.encode()) > _PATH_BYTES
        or any(len(part.encode()) > _NAME_BYTES for part in parts)
    ):
        raise BadArchive(f"{name[:60]!r}..., a name that is too long, or too deep a folder")


def _bot_in(box: Path) -> Path:
    """The folder of the bot in an unpacked archive: the archive's own, or the one folder that is in it."""
    if os.path.lexists(box / MANIFEST):
        return box
    inner = [entry for entry in box.iterdir() if entry.name not in _NOISE]
    if len(inner) == 1 and inner[0].is_dir() and not inner[0].is_symlink():
        found = inner[0]
        if os.path.lexists(found / MANIFEST):
            return found
    raise BotError(f"the archive has no {MANIFEST}, neither at its top nor in the one folder that is there")


# ---------------------------------------------------------------------- forms of archives


def _as_tar(data: bytes, limits: SubmissionLimits) -> BinaryIO:
    """A stream of the tar file in `data`, whatever its form."""
    if data.startswith(_GZIP):
        return gzip.GzipFile(fileobj=io.BytesIO(data))  # type: ignore[return-value]
    if data.startswith(_ZIP):
        return _from_zip(data, limits)
    return io.BytesIO(data)


def _from_zip(data: bytes, limits: SubmissionLimits) -> BinaryIO:
    out = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if len(packed.infolist()) > limits.files:
                raise BadArchive(f"more than {limits.files:,} files")
            with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
                _transcribe(packed, archive, limits.folder_mb << 20, limits.folder_mb)
    except BaseException:
        out.close()
        raise
    out.seek(0)
    return out


def _transcribe(packed: zipfile.ZipFile, archive: tarfile.TarFile, left: int, most_mb: int) -> None:
    folders: set[str] = set()
    for info in packed.infolist():
        name = info.filename
        _check_name(name)
        mode = info.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise BadArchive(f"{name}, which is neither a file nor a folder")
        if info.flag_bits & _ENCRYPTED:
            raise BadArchive(f"{name}, which is encrypted")
        if info.compress_type not in _METHODS:
            raise BadArchive(f"{name}, packed in a way that is not taken; use deflate, as zip does")
        parts = name.rstrip("/").split("/")
        for depth in range(1, len(parts) + info.is_dir()):
            parent = "/".join(parts[:depth])
            if parent not in folders:
                folders.add(parent)
                _add(archive, parent, b"", 0o755, tarfile.DIRTYPE)
        if not info.is_dir():
            content = _read(packed, info, left)
            if content is None:
                raise BadArchive(f"more than {most_mb} MiB")
            left -= len(content)
            _add(archive, name, content, 0o755 if mode & 0o111 else 0o644, tarfile.REGTYPE)


def _read(packed: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes | None:
    """The content of an entry; None if it has more than `most` bytes."""
    parts, size = [], 0
    with packed.open(info) as file:
        while data := file.read(_CHUNK):
            size += len(data)
            if size > most:
                return None
            parts.append(data)
    return b"".join(parts)


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int, kind: bytes) -> None:
    head = tarfile.TarInfo(name)
    head.type, head.mode, head.size = kind, mode, len(data)
    try:
        archive.addfile(head, io.BytesIO(data))
    except ValueError:
        raise BadArchive(f"{name[:60]!r}..., a name that is too long") from None
