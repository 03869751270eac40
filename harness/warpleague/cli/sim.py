"""Answer questions about the rules, for a bot that tries out moves: lines of JSON in, lines of JSON out.

`warpleague.sim.serve` answers; bots in Python import `warpleague.sim` instead. `warpleague.extras.rule_vectors` makes
test vectors for whoever writes the rules in another language.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples, add_force, check_new, count, say, write_file
from warpleague.errors import BadInput

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague sim`."""
    task = parser.add_mutually_exclusive_group()
    task.add_argument(
        "--serve",
        action="store_true",
        help="answer each line of standard input with a line of standard output, until the input ends",
    )
    task.add_argument(
        "--vectors",
        metavar="GAME",
        help="make test vectors of the rules of this game: positions, legal actions, moves, next positions, events",
    )
    vectors = parser.add_argument_group("test vectors")
    vectors.add_argument(
        "--count", type=count(1), default=2400, metavar="N", help="make N vectors (default: %(default)s)"
    )
    vectors.add_argument(
        "--seed",
        default="vectors",
        metavar="TEXT",
        help="a text from which all matches follow (default: %(default)s)",
    )
    vectors.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write to this file, compressed if its name ends in .xz (default: standard output)",
    )
    add_force(parser)
    add_examples(parser, "sim --serve", "sim --vectors sheets --out sheets.jsonl.xz")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Serve until the input ends, or make vectors."""
    if args.serve:
        from warpleague.sim.serve import serve

        serve(sys.stdin.buffer, partial(print, flush=True))
        return 0
    if args.vectors is None:
        raise BadInput("say --serve or --vectors GAME; `warpleague docs simulator` explains both")
    _make_vectors(args)
    return 0


def _make_vectors(args: argparse.Namespace) -> None:
    from warpleague.extras.rule_vectors import vector_lines

    if args.out is not None:
        check_new(args.out, args.force)
    data = b"".join(vector_lines(args.vectors, args.count, args.seed))
    if args.out is None:
        sys.stdout.write(data.decode())
        return
    if args.out.suffix == ".xz":
        import lzma

        compressed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
        write_file(args.out, compressed)
    else:
        write_file(args.out, data)
    say(f"{args.out}: {len(data.splitlines()) - 1:,} vectors")
