"""Streams for many clients: compressed pieces, and who gets a message when."""

import zlib
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from warpleague.arena.web.league_feed import BEGIN, LeagueFeed, Piece, accepts_gzip
from warpleague.arena.web.renderer import LeagueFiles


def test_pieces_are_read_one_by_one_by_whoever_comes() -> None:
    """Each piece can be read as soon as it has come, also by someone who was not sent those before."""
    texts = [b"data: one\n\n" * 3000, b"", b"data: two\n\n", bytes(range(256))]
    pieces = [Piece.of(text) for text in texts]
    assert len(pieces[0].gzipped) < len(texts[0]) / 50
    for first in range(len(pieces)):
        unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        assert unpacker.decompress(BEGIN) == b""
        assert [unpacker.decompress(piece.gzipped) for piece in pieces[first:]] == texts[first:]
    both = pieces[0] + pieces[3]
    assert zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(BEGIN + both.gzipped) == both.plain


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("gzip", True),
        ("deflate, GZIP, br", True),
        ("gzip; q=1.0", True),
        ("gzip;q=0", False),
        ("br", False),
        ("", False),
    ],
)
def test_who_is_sent_packed_pieces(header: str, wanted: bool) -> None:
    """Those who say that they unpack gzip, and nobody else."""
    headers = [(b"accept-encoding", header.encode())] if header else []
    assert accepts_gzip(Request({"type": "http", "headers": headers})) == wanted


def test_watchers_are_told_ten_at_a_time(tmp_path: Path) -> None:
    """All within the time until the next news, whoever has left meanwhile."""
    nothing: Any = None
    path = tmp_path / "open.toml"
    feed = LeagueFeed("open", LeagueFiles(path, tmp_path), nothing, delay_s=0.0, pages_mb=1, watcher_s=0.03)
    assert feed.wait_s(0) == 0.0
    feed.watchers = 200
    turns = [feed.wait_s(place) for place in range(200)]
    assert [turns.count(turn) for turn in sorted(set(turns))] == [10] * 20
    assert max(turns) < 200 * 0.03
    feed.watchers = 20
    assert max(feed.wait_s(place) for place in range(200)) < 20 * 0.03
