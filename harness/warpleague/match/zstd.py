"""Zstandard from the standard library of Python 3.14, or the same module as a package before that."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError, compress
else:
    from backports.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError, compress

__all__ = [
    "CompressionParameter",
    "ZstdCompressor",
    "ZstdDecompressor",
    "ZstdError",
    "compress",
    "decompress",
]


def decompress(data: bytes, most: int) -> bytes:
    """The content of `data`, one frame; `ZstdError` if it is damaged, or holds more than `most` bytes."""
    unpacker = ZstdDecompressor()
    content = unpacker.decompress(data, most)
    if not unpacker.eof or unpacker.unused_data:
        raise ZstdError("is cut off, too large, or more than one frame")
    return content
