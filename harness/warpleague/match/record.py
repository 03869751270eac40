"""The lines of a record as classes: which fields each line has, of which types and ranges.

Every reader may rely on it: a field that passes here can be shown, summed or given to a clock without another
check. Unknown fields are accepted, since a format may gain some; a field with a default may be absent, but not null.
"""

from __future__ import annotations

import gzip
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

import attrs
import msgspec

from warpleague.errors import RecordError
from warpleague.match import zstd
from warpleague.match.spec import Confinement, EntrantKind, FaultPolicy, Level, Seconds
from warpleague.text import nearest_path
from warpline.bounds import Bounds, Range
from warpline.limits import MAX_INT, FaultKind
from warpline.structure import strict_converter

# -- forms -----------------------------------------------------------------------------------------------


T = TypeVar("T")
JsonObject: TypeAlias = dict[str, Any]
Count: TypeAlias = Annotated[int, Bounds(0)]
Number: TypeAlias = Annotated[float, Range(0, MAX_INT)]
Share: TypeAlias = Annotated[float, Range(0, 1)]
Times: TypeAlias = tuple[Number, Number | None, Number | None]
"""Milliseconds of a decision: wall, processor, waiting; null where the system cannot tell."""
Yes: TypeAlias = Literal[True]

_converter: Final = strict_converter(unknown_keys=True, null="refused")


def structured(data: object, kind: type[T]) -> T:
    """A line of a record, or a part of it, as an object of the class `kind`.

    Raises `MisfitError` if it does not fit.
    """
    return _converter.structure(data, kind)


def confinement_of(header: JsonObject) -> Confinement | None:
    """How the bots were confined, from a record's header whose form was checked; None if it does not say so."""
    return structured(header["detail"], Confinement) if "detail" in header else None


# -- the header --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Clock:
    """The time limits, in seconds; one that is absent does not limit."""

    start_s: Seconds
    move_s: Seconds | None = None
    bank_s: Seconds | None = None
    increment_s: Seconds | None = None


@attrs.frozen(kw_only=True)
class Seat:
    """Who plays a seat; `clock` is its own, instead of that of the match."""

    bot: str
    version: str
    digest: str
    kind: EntrantKind = "bot"
    clock: Clock | None = None


@attrs.frozen(kw_only=True)
class Parent:
    """The match that this one branches off from, after its line `n`."""

    digest: str
    n: Count
    seat: Count | None = None
    action: JsonObject | None = None
    redeal: str | None = None
    rolls: dict[str, Count] | None = None


@attrs.frozen(kw_only=True)
class Header:
    """The first line: all that determines the match."""

    type: ClassVar[str] = "match"
    format: Count
    id: str
    game: str
    rules: Count
    options: JsonObject
    players: Count
    seats: tuple[Seat, ...]
    clock: Clock
    level: Level
    faults: FaultPolicy
    strikes: Count
    position: JsonObject | None
    seed: str | None
    key: str | None
    harness: str
    started: str
    attempt: Count = 0
    again: Count = 0
    failures: Count = 0
    note_bytes: Count | None = None
    parent: Parent | None = None
    detail: Confinement | None = None

    def __attrs_post_init__(self) -> None:
        if self.players != len(self.seats):
            raise ValueError("players and seats do not agree")
        if self.parent is not None and self.position is None:
            raise ValueError("a match with a parent starts from a position")  # or its dice could be chosen


def recorded_header(record: bytes) -> JsonObject:
    """The header of an unpacked record whose form was checked."""
    header: JsonObject = msgspec.json.decode(record.split(b"\n", 1)[0])
    return header


def attempt_of(record: bytes) -> int:
    """How often the match of an unpacked record was begun in vain before; 0 for a record that does not hold."""
    try:
        attempt = recorded_header(record).get("attempt", 0)
    except (msgspec.DecodeError, AttributeError, RecursionError):
        return 0
    return attempt if type(attempt) is int and attempt >= 0 else 0


# -- what happened -----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Evidence:
    """The evidence about an answer that was not played: why, and the traces of the bot's process."""

    message: str
    line: str | None = None
    line_bytes: Number | None = None
    stderr: str | None = None
    stderr_bytes: Number | None = None
    frame: str | None = None
    exit: int | str | None = None
    killed_by: str | None = None
    limit_ms: Number | None = None
    extended_ms: Number | None = None
    doing: str | None = None
    computed_ms: Number | None = None
    unread_bytes: Number | None = None
    peak_mb: Number | None = None
    ms: Number | None = None


@attrs.frozen(kw_only=True)
class Usage:
    """The cost of services for a decision, as the bot reported it."""

    input_tokens: Count
    output_tokens: Count
    cost: Number
    retries: Count = 0


def _check_filled(_: object, field: attrs.Attribute[Any], value: tuple[Any, ...] | None) -> None:
    if value == ():
        raise ValueError(f"{field.name} must not be empty")


@attrs.frozen(kw_only=True, slots=False)  # two classes with slots have no common subclass
class Detail:
    """The steps before an action: illegal answers and failures that led to another question; the cost of services."""

    again: tuple[Evidence, ...] | None = attrs.field(default=None, validator=_check_filled)
    failed: tuple[Evidence, ...] | None = attrs.field(default=None, validator=_check_filled)
    usage: Usage | None = None


@attrs.frozen(kw_only=True)
class FaultDetail(Detail, Evidence):
    """The evidence of a fault, and what came before it."""


@attrs.frozen(kw_only=True)
class Chance:
    """Dice were rolled: `of` has a number of sides or a list of weights for each, `outcome` an index."""

    type: ClassVar[str] = "chance"
    n: Count
    at: str
    of: tuple[Count | tuple[Count, ...], ...]
    outcome: tuple[Count, ...]


@attrs.define(kw_only=True)  # made more often than all others, and faster if it is not frozen
class Act:
    """A seat decided: `ms` is there where it was asked, else one of the marks `auto`, `substituted` and `then`."""

    type: ClassVar[str] = "act"
    n: Count
    seat: Count
    ask: str
    action: JsonObject
    ms: Times | None = None
    auto: Yes | None = None
    substituted: Yes | None = None
    then: Yes | None = None
    note: str | None = None
    value: Share | None = None
    bank_s: Number | None = None
    detail: Detail | None = None

    def __attrs_post_init__(self) -> None:
        marks = [name for name in ("auto", "substituted", "then") if getattr(self, name)]
        if len(marks) > 1:
            raise ValueError(f"only one of {', '.join(marks)} can be true")
        if marks and self.ms is not None:
            raise ValueError(f"an action with {marks[0]} took no time of its own: no ms")
        if not marks and self.ms is None:
            raise ValueError("ms is missing: it must be a list of three numbers")


@attrs.frozen(kw_only=True)
class Fault:
    """A bot broke a rule; if its seat is `retired`, it may tie with the one that went out before it."""

    type: ClassVar[str] = "fault"
    n: Count
    seat: Count
    kind: FaultKind
    retired: bool
    tied: Yes | None = None
    detail: FaultDetail

    def __attrs_post_init__(self) -> None:
        if self.tied and not self.retired:
            raise ValueError("tied must be true only of a retired seat")


@attrs.frozen(kw_only=True)
class EndDetail:
    """The seats whose bots were stopped between their decisions."""

    stopped: tuple[Count, ...] | None = None


@attrs.frozen(kw_only=True)
class End:
    """The last line but the seal: the result; `rival` is the score of the game's own opponent."""

    type: ClassVar[str] = "end"
    ranks: tuple[Count, ...]
    scores: tuple[float, ...]
    breakdown: JsonObject
    why: str
    digest: str
    rival: float | None = None
    detail: EndDetail | None = None


@attrs.frozen(kw_only=True)
class Seal:
    """The checksums of all lines before it, in base64."""

    type: ClassVar[str] = "seal"
    crc: str


# -- packing ---------------------------------------------------------------------------------------------
# Reads and writes record files: plain, or compressed with zstd or gzip.
#
# The name of a file decides how it is written. A file is read by its content, whatever its name is.


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
