"""Compresses streams of events with gzip: each piece once, for all clients that get it.

A stream is one gzip file (RFC 1952) without an end. A piece does not refer to the pieces before it (a full flush, RFC
1951), so the same bytes fit clients that have just come and clients that came long ago.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from starlette.requests import Request

BEGIN: Final = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""The head of the gzip file, before the first piece."""
HEADERS: Final = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}


@attrs.frozen
class Piece:
    """A piece of a stream, plain and compressed."""

    plain: bytes
    gzipped: bytes

    @classmethod
    def of(cls, plain: bytes) -> Piece:
        """Compress a piece: 30 KB of tables take half a millisecond and shrink to a sixth."""
        compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return cls(plain, compressor.compress(plain) + compressor.flush(zlib.Z_FULL_FLUSH))

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.plain + other.plain, self.gzipped + other.gzipped)


def accepts_gzip(request: Request) -> bool:
    """Whether the client accepts gzip, as all browsers do."""
    accepted = request.headers.get("accept-encoding", "").lower().split(",")
    return any(part.replace(" ", "") in ("gzip", "gzip;q=1.0") for part in accepted)
