"""Writes test vectors of the rules, as `warpleague sim --vectors` says."""

from __future__ import annotations

import lzma
import sys
from typing import TYPE_CHECKING

from warpleague.cli.common import check_new, say, write_file
from warpleague.extras.rule_vectors.vectors import vector_lines

if TYPE_CHECKING:
    from argparse import Namespace


def write_vectors(game: str, args: Namespace) -> None:
    """Write `args.count` vectors of a game to the file `args.out`, or to standard output."""
    if args.out is not None:
        check_new(args.out, args.force)
    data = b"".join(vector_lines(game, args.count, args.seed))
    if args.out is None:
        sys.stdout.write(data.decode())
        return
    packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME) if args.out.suffix == ".xz" else data
    write_file(args.out, packed)
    say(f"{args.out}: {len(data.splitlines()) - 1:,} vectors")
