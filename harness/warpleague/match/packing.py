"""Reads and writes record files: plain, or compressed with zstd or gzip.

The name of a file decides how it is written. A file is read by its content, whatever its name is.
"""

from __future__ import annotations

import gzip
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from warpleague.errors import RecordError
from warpleague.match import zstd
from warpleague.suggest import nearest_path

_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_SQLITE_MAGIC: Final = b"SQLite format 3\0"
_RECORDS: Final = "match --record FILE and league export write records"
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_OPTIONS: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: 9,
    zstd.CompressionParameter.checksum_flag: 1,
}
_PIECE: Final = 1 << 8  # unpacks to 8 MiB at most: 4 bytes of zstd may stand for 128 KiB
_MAX_BYTES: Final = 1 << 28
_MAX_LINES: Final = 1 << 22
"""A record is never this large (256 MiB, four million lines); what unpacks to more is refused, before memory is full:
a file of some KiB may unpack to a million times as much."""


def bare_name(path: Path) -> str:
    """The name of a record's file without what says that it is a record, and how it is compressed."""
    return path.name.removesuffix(".zst").removesuffix(".gz").removesuffix(".jsonl")


def pack(record: bytes, name: str) -> bytes:
    """A record's bytes as they belong into a file called `name`: `.zst` and `.gz` compress."""
    if name.endswith(".zst"):
        return zstd.compress(record, options=_ZSTD_OPTIONS)
    if name.endswith(".gz"):
        return gzip.compress(record, mtime=0)  # the same record gives the same file
    return record


def unpack(data: bytes, where: str = "record") -> bytes:
    """The bytes of a record, compressed or not; `RecordError` if the packing is damaged."""
    packer: Any
    if data.startswith(_ZSTD_MAGIC):
        packer = zstd.ZstdDecompressor()
    elif data.startswith(_GZIP_MAGIC):
        packer = zlib.decompressobj(wbits=31)
    else:
        _check_lines(data.count(b"\n"), where)
        return data
    parts: list[bytes] = []
    size = lines = 0
    try:
        # Piece by piece, so that a small file cannot unpack to more than the memory there is.
        for at in range(0, len(data), _PIECE):
            if packer.eof:
                raise RecordError(f"{where}: the compressed file is damaged: it goes on after its end")
            parts.append(packer.decompress(data[at : at + _PIECE]))
            size += len(parts[-1])
            lines += parts[-1].count(b"\n")
            if size > _MAX_BYTES:
                raise RecordError(f"{where}: larger than any record")
            _check_lines(lines, where)
    except (zstd.ZstdError, zlib.error) as error:
        raise RecordError(f"{where}: the compressed file is damaged: {error}") from None
    if not packer.eof or packer.unused_data:
        what = "goes on after its end" if packer.eof else "is cut off"
        raise RecordError(f"{where}: the compressed file is damaged: it {what}")
    return b"".join(parts)


def _check_lines(lines: int, where: str) -> None:
    if lines > _MAX_LINES:
        raise RecordError(f"{where}: more lines than any record")


def read_compressed(path: Path) -> bytes:
    """The bytes of the file `path`, as they lie there; `RecordError` if they are more than any record has.

    Raises `OSError` where they cannot be read.
    """
    with Path(path).open("rb") as file:
        if Path(path).suffix == ".toml":
            raise RecordError(
                f"{path}: is a league file or a bot.toml, not the record of a match; {_RECORDS}"
            )
        # A device or a pipe has no size: read it to see how long it is.
        data = b"" if os.fstat(file.fileno()).st_size > _MAX_BYTES else file.read(_MAX_BYTES + 1)
        if file.read(1) or len(data) > _MAX_BYTES:
            raise RecordError(f"{path}: larger than any record")
    if data.startswith(_SQLITE_MAGIC):
        raise RecordError(f"{path}: is the store of a league, not the record of a match; {_RECORDS}")
    return data


def unreadable(path: Path, error: OSError) -> RecordError:
    """The error for a record that cannot be read; it names one that was probably meant."""
    hint = ""
    folder = path if isinstance(error, IsADirectoryError) else path.parent
    with suppress(OSError):
        known = sorted(str(other) for other in folder.iterdir() if ".jsonl" in other.name)
        if isinstance(error, IsADirectoryError):
            hint = f"; name a record{f' in it, such as {known[0]}' if known else ''}"
        elif isinstance(error, FileNotFoundError):
            near = nearest_path(str(path), known)
            hint = f"; {near}" if near else f"; {_RECORDS}"
    return RecordError(f"{path}: cannot read it: {error.strerror}{hint}")


def read_record(path: Path) -> bytes:
    """The unpacked bytes of the record in the file `path`; `RecordError` if it cannot be read."""
    try:
        data = read_compressed(path)
    except OSError as error:
        raise unreadable(path, error) from None
    return unpack(data, str(path))
