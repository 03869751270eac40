"""Turns the archive of a bot that was sent into a folder: tar or zip, read by one reader under one set of limits.

The reader is the one for the results of builds (`warpleague.runner.bundle.archive`); a tar file may be compressed with
gzip, bzip2 or xz. A zip file is written as a tar file first, entry by entry, each counted while it is unpacked, since
the sizes in its directory are not trusted.
"""

from __future__ import annotations

import contextlib
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
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from warpleague.arena.submissions.ledger import Ledger, SubmissionLimits
from warpleague.arena.submissions.versions import stored_archive
from warpleague.errors import BotError, StoreError
from warpleague.runner.bundle.archive import BadArchive, pack, unpack
from warpleague.runner.bundle.content import LEFT_OUT, copy_files, files_of, of_a_system, read_content
from warpleague.runner.bundle.manifest import MANIFEST, read_manifest
from warpleague.runner.tree import remove_tree, walk
from warpleague.text import safe

if TYPE_CHECKING:
    from warpleague.arena.submissions.jobs import Submission, Version

_NAME_BYTES: Final = 200
_PATH_BYTES: Final = 1000
_DEPTH: Final = 20
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_BZIP2: Final = b"BZh"
_XZ: Final = b"\xfd7zXZ\0"
_XZ_BYTES: Final = 128 << 20
"""The memory that xz may use; with its strongest setting it uses 65 MiB."""
_NOT_TAKEN: Final = {
    b"7z\xbc\xaf\x27\x1c": "a 7z file",
    b"Rar!": "a rar file",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"\x1f\x9d": "packed with compress",
    b"LZIP": "packed with lzip",
    b"MZ": "one that unpacks itself, a program for Windows, or is none",
}
"""The first bytes of some archives that are refused."""
_HOW_TO_PACK: Final = (
    "pack the bot's folder with tar czf my-bot.tar.gz my-bot, or as a zip, or send it by warpleague submit"
)
_FOLDERS_AROUND: Final = 2
_LOCAL_HEADER: Final = 30
_MAX_TOLD: Final = 20
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_CHUNK: Final = 1 << 16
_PADDING: Final = 1 << 20


def pack_folder(folder: Path) -> bytes:
    """The bot in `folder` as a tar.gz that depends on nothing but its files; `BotError` for forbidden files."""
    manifest = read_manifest(folder)
    if manifest.files:
        raise BotError(f"{folder / MANIFEST}: files: a submission cannot have linked files")
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed:
        pack(((file.name, read_content(file), file.executable) for file in files_of(folder)), packed)
    return out.getvalue()


def unpack_upload(data: bytes, folder: Path, limits: SubmissionLimits) -> tuple[str, ...]:
    """Create `folder` from the bot in the upload `data`. Raises `BotError` if `data` has no bot.

    The bot may be in a folder of the archive, and this in another one, with files beside it. Returns the names of what
    is no part of the bot: these files, and what is never a part of one, such as `.venv`. What macOS and Windows add by
    themselves is left out without a word.
    """
    gone: set[str] = set()
    box = folder.with_name(folder.name + ".box")
    remove_tree(box)
    try:
        with _as_tar(data, limits) as archive:
            _unpack(archive, box, limits, gone)
            # To the end, where a damaged or broken off file shows.
            if len(archive.read(_PADDING)) == _PADDING:
                raise BadArchive("more behind its end")
        bot_folder = _bot_in(box)
        gone.update(_beside(box, bot_folder))
        bot_folder.rename(folder)
    except BadArchive as error:
        raise BotError(f"the archive holds {error}") from None
    except (
        EOFError,
        zlib.error,
        zipfile.BadZipFile,
        NotImplementedError,
        # Of zipfile, for headers that lie:
        ValueError,
        IndexError,
        OverflowError,
        RuntimeError,
        struct.error,
    ) as error:
        raise _damaged(error) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(error) from None  # gzip and bz2 raise these for damaged files
    finally:
        remove_tree(box)
    return tuple(sorted(safe(name, keep="") for name in gone))


def _damaged(error: Exception) -> BotError:
    return BotError(f"the archive is damaged, or breaks off: {error}; pack it again, and send it again")


def _unpack(archive: BinaryIO, box: Path, limits: SubmissionLimits, gone: set[str]) -> None:
    """Unpack the parts of a bot. `gone` gets the names of other files that an author may miss."""

    def leave_out(name: str) -> bool:
        if _is_of_a_system(name):
            return True
        place = _left_out_place(name)
        if place is not None and len(gone) < _MAX_TOLD:
            gone.add(place)
        return place is not None

    try:
        unpack(
            archive,
            box,
            limits.folder_mb << 20,
            most_entries=limits.files,
            check_name=_check_name,
            leave_out=leave_out,
        )
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        # On a file system for which two names are one.
        raise BadArchive(f"{Path(str(error.filename)).name}, twice under names that are alike") from None


def _is_of_a_system(name: str) -> bool:
    return any(map(of_a_system, name.split("/")))


def _left_out_place(name: str) -> str | None:
    """The first part of the path `name` that is left out of every bot, or None.

    The first part of a name may be the folder of the bot, which may have any name that does not begin with a dot.
    """
    parts = name.split("/")
    for at, part in enumerate(parts):
        if part in LEFT_OUT and (at or part.startswith(".")):
            return "/".join(parts[: at + 1])
    return None


def _check_name(name: str) -> None:
    """Raise `BadArchive` for a path that people could not read, or other systems not hold."""
    if not name.isprintable() or any("\ud800" <= char <= "\udfff" for char in name) or "\\" in name:
        text = f"{name!r}, a name with characters that no name may have here"
        if "\\" in name:
            text += (
                ": it is packed with backslashes, as Compress-Archive of Windows PowerShell 5 does; use the Explorer "
                "(Send to, Compressed folder), PowerShell 7, or tar -czf my-bot.tar.gz my-bot"
            )
        raise BadArchive(text)
    parts = name.split("/")
    if (
        len(parts) > _DEPTH
        or len(name.encode()) > _PATH_BYTES
        or any(len(part.encode()) > _NAME_BYTES for part in parts)
    ):
        raise BadArchive(f"{name[:60]!r}..., a name that is too long, or too deep a folder")


def _bot_in(box: Path) -> Path:
    """The folder of the bot in an unpacked archive: the archive's own, or the one in it, or the one in that."""
    place = box
    for _ in range(_FOLDERS_AROUND + 1):
        if os.path.lexists(place / MANIFEST):
            return place
        folders = [entry for entry in place.iterdir() if entry.is_dir() and not entry.is_symlink()]
        folders = [entry for entry in folders if not entry.name.startswith(".")]  # those of editors
        if len(folders) != 1:
            break
        place = folders[0]
    raise BotError(
        f"the archive has no {MANIFEST}, neither at its top nor in the one folder that is there; {_remedy(box)}"
    )


def _remedy(box: Path) -> str:
    """Advice for an archive that has no bot in its folder."""
    files = sorted(entry.name for entry in walk(box) if not entry.is_folder)
    if not files:
        return f"it is empty: {_HOW_TO_PACK}"
    elsewhere = [name for name in files if name.rpartition("/")[2] == MANIFEST]
    if elsewhere:
        return f"there is {', '.join(elsewhere[:3])}: send the folder of one bot alone: {_HOW_TO_PACK}"
    stem = MANIFEST.partition(".")[0]
    for name in files:
        if name.rpartition("/")[2].lower() in (MANIFEST, f"{MANIFEST}.txt", f"{stem}.tml", stem):
            return f"{name} must be called {MANIFEST}"
    return f"there is {', '.join(files[:3])}: {_HOW_TO_PACK}"


def _beside(box: Path, bot_folder: Path) -> tuple[str, ...]:
    """The files of an unpacked archive that are not in the bot's folder."""
    around = [place for place in (bot_folder.parent, bot_folder.parent.parent) if place.is_relative_to(box)]
    files = (path for place in around for path in place.iterdir() if not path.is_dir())
    return tuple(sorted(path.relative_to(box).as_posix() for path in files))


# -- forms of archives -----------------------------------------------------------------------------------


def suffix_of(data: bytes) -> str:
    """The ending of the name of a file with this archive."""
    for mark, suffix in ((b"PK", "zip"), (_GZIP, "tar.gz"), (_BZIP2, "tar.bz2"), (_XZ, "tar.xz")):
        if data.startswith(mark):
            return suffix
    return "tar"


def _as_tar(data: bytes, limits: SubmissionLimits) -> BinaryIO:
    """A stream of the tar file in `data`, which may have any supported format."""
    if not data:
        raise BotError(f"the archive is empty, or breaks off at once; {_HOW_TO_PACK}")
    if data.startswith(_GZIP):
        return gzip.GzipFile(fileobj=io.BytesIO(data))  # type: ignore[return-value]
    if data.startswith(_ZIP):
        return _from_zip(data, limits)
    if data.startswith(_BZIP2):
        import bz2  # which some builds of Python lack, as they lack lzma

        return bz2.BZ2File(io.BytesIO(data))  # type: ignore[return-value]
    if data.startswith(_XZ):
        return io.BufferedReader(_FromXz(data))
    for mark, what in _NOT_TAKEN.items():
        if data.startswith(mark):
            raise BotError(f"the archive is {what}; {_HOW_TO_PACK}")
    if len(data) < tarfile.BLOCKSIZE or data[257:262] not in (b"ustar", bytes(5)):
        raise BotError(f"the archive breaks off, or is none; {_HOW_TO_PACK}")
    return io.BytesIO(data)


class _FromXz(io.RawIOBase):
    """The content of an xz file, unpacked within bounds of memory, which `lzma.LZMAFile` has not."""

    def __init__(self, data: bytes) -> None:
        import lzma

        self._data, self._error = data, lzma.LZMAError
        self._from = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        try:
            while not data and not self._from.eof:
                if self._from.needs_input and not self._data:
                    raise EOFError("it is not whole")
                data = self._from.decompress(self._data, len(buffer))
                self._data = b""
        except self._error as error:
            raise ValueError(str(error)) from None
        if not data and self._from.unused_data.strip(b"\0"):
            raise ValueError("more behind its end")
        buffer[: len(data)] = data
        return len(data)


def _from_zip(data: bytes, limits: SubmissionLimits) -> BinaryIO:
    out = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            entries = [info for info in packed.infolist() if not _is_of_a_system(info.filename)]
            if sum(_left_out_place(info.filename) is None for info in entries) > limits.files:
                raise BadArchive(f"more than {limits.files:,} files")
            _check_places(packed, data)
            with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
                _transcribe(packed, entries, archive, limits.folder_mb << 20, limits.folder_mb)
    except BaseException:
        out.close()
        raise
    out.seek(0)
    return out


def _check_places(packed: zipfile.ZipFile, data: bytes) -> None:
    """Raise `BadArchive` if entries have bytes in common: so a small file could hold very much.

    The newer versions of Python look at this, too, but some of them only warn.
    """
    end = 0
    for info in sorted(packed.infolist(), key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise BadArchive(f"{info.filename!r}, an entry that overlaps another one")
        name_bytes, extra_bytes = struct.unpack_from("<HH", data, info.header_offset + 26)
        end = info.header_offset + _LOCAL_HEADER + name_bytes + extra_bytes + info.compress_size
    if end > packed.start_dir:
        raise BadArchive("an entry that overlaps the list of entries")


def _transcribe(
    packed: zipfile.ZipFile,
    entries: list[zipfile.ZipInfo],
    archive: tarfile.TarFile,
    left: int,
    max_mb: int,
) -> None:
    folders, left_out = set[str](), set[str]()
    for info in entries:
        name = info.filename
        if (place := _left_out_place(name)) is not None:
            if place not in left_out:  # written as an empty entry, so that unpacking reports it
                left_out.add(place)
                _add(archive, place, b"", 0o644, tarfile.REGTYPE)
            continue
        _check_name(name)
        mode = info.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise BadArchive(f"{name}, which is neither a file nor a folder")
        if info.flag_bits & _ENCRYPTED:
            raise BadArchive(f"{name}, which is encrypted; pack it without a password")
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
                raise BadArchive(f"more than {max_mb} MiB")
            left -= len(content)
            _add(archive, name, content, 0o755 if mode & 0o111 else 0o644, tarfile.REGTYPE)


def _read(packed: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes | None:
    """The content of an entry, or None if it has more than `most` bytes."""
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
    archive.addfile(head, io.BytesIO(data))


# -- the folders of accepted versions, each unpacked once ------------------------------------------------


FOLDER: Final = "arena"
"""The folder beside the ledger for unpacked archives."""
_ANY: Final = SubmissionLimits(folder_mb=256, files=50_000)
"""An accepted archive is unpacked without regard to the present limits."""


def source_folder(ledger: Ledger, submission: Submission | Version, source: Path | None = None) -> Path:
    """The folder with the source of a version. If it is missing, it is made of the archive, or as a copy of `source`.

    Raises `StoreError` if the archive is missing, too.
    """
    target = ledger.results / FOLDER / "bots" / f"{submission.id}-{submission.sha256[:12]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    (ledger.results / FOLDER).chmod(0o700)
    draft = target.with_name(f"{target.name}.{os.getpid()}.draft")
    remove_tree(draft)
    if source is None:
        data = stored_archive(ledger, submission.id)
        if data is None:
            raise StoreError(f"{ledger.path}: the archive of submission {submission.id} is not there")
        unpack_upload(data, draft, _ANY)
    else:
        copy_files(source, draft)
    with contextlib.suppress(FileExistsError):
        draft.rename(target)  # whole or not at all
    remove_tree(draft)
    return target
