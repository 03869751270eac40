"""How the lines of a record are written: canonical JSON, the parts that the digest covers, and the seal."""

from __future__ import annotations

import binascii
import struct
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import msgspec

from warpline.codec import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.games.api import Outcome

UNDIGESTED: Final = frozenset({"ms", "bank_s", "started", "harness", "seed", "key", "detail"})
"""Top-level keys the digest leaves out: they differ between two runs of the same match."""


def number(value: float) -> float:
    """`value` as an int when it is whole, so that 1.0 and 1 are spelled alike in every record."""
    return int(value) if value == int(value) else value


def outcome_form(outcome: Outcome) -> dict[str, Any]:
    """The end line of `outcome`, without its digest; `rival` is in it only where the game has one."""
    form: dict[str, Any] = {
        "type": "end",
        "ranks": list(outcome.ranks),
        "scores": [number(score) for score in outcome.scores],
        "breakdown": {part: [number(v) for v in values] for part, values in outcome.breakdown.items()},
        "why": outcome.why,
    }
    if outcome.rival is not None:
        form["rival"] = number(outcome.rival)
    return form


def digest_form(data: dict[str, Any]) -> bytes:
    """The bytes the digest takes from a line: canonical, without the undigested keys, with its newline."""
    return canonical({key: value for key, value in data.items() if key not in UNDIGESTED}) + b"\n"


def digest_of(parts: Iterable[bytes]) -> str:
    """The hexadecimal SHA-256 over the digest forms of all lines, the end line's without its digest."""
    return sha256(b"".join(parts)).hexdigest()


def end_digest(record: bytes) -> str | None:
    """The digest in the end line of an unpacked record; None if there is none. Nothing is checked."""
    for line in reversed(record.splitlines()[-2:]):
        try:
            data = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(data, dict) and data.get("type") == "end":
            return data.get("digest")
    return None


def seal(lines: Sequence[bytes]) -> bytes:
    """The seal line for `lines` (header to end, each with its newline).

    It holds, in base64, the big-endian CRC-32 of every line, and last the CRC-32 of those bytes: so that damage
    to any byte is detected and located, also in parts that the digest leaves out.
    """
    checksums = struct.pack(f">{len(lines)}I", *map(crc32, lines))
    checksums += crc32(checksums).to_bytes(4, "big")
    return b'{"crc":"' + b64encode(checksums) + b'","type":"seal"}\n'


def unseal(data: dict[str, Any]) -> list[int] | None:
    """The checksums in a parsed seal line, one a line of the record; None if the seal itself is damaged."""
    text = data.get("crc")
    if not isinstance(text, str) or data.keys() != {"type", "crc"}:
        return None
    try:
        raw = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(raw) < 4 or len(raw) % 4 or crc32(raw[:-4]).to_bytes(4, "big") != raw[-4:]:
        return None
    return [int.from_bytes(raw[at : at + 4], "big") for at in range(0, len(raw) - 4, 4)]


def publish(record: bytes, key: bytes, seed: str | None) -> bytes:
    """The same record with its key (32 bytes) and seed text written into the header, and a new seal.

    Neither is covered by the digest, so a season's records can be completed once its secret is out.
    """
    header, *rest = record.splitlines(keepends=True)
    data = msgspec.json.decode(header)
    data["key"], data["seed"] = key.hex(), seed
    body = [line for line in rest if not line.startswith(b'{"crc":')]
    lines = [canonical(data) + b"\n", *body]
    return b"".join([*lines, seal(lines)])
