"""Answer questions about the rules, for a bot that tries out moves: lines of JSON in, lines of JSON out.

`warpleague.sim.serve` answers; bots in Python import `warpleague.sim` instead.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples
from warpleague.errors import BadInput

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague sim`."""
    parser.add_argument(
        "--serve",
        action="store_true",
        help="answer each line of standard input with a line of standard output, until the input ends",
    )
    add_examples(parser, "sim --serve")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Serve until the input ends."""
    from warpleague.sim.serve import serve

    if not args.serve:
        raise BadInput("say --serve; `warpleague docs simulator` lists the requests")
    serve(sys.stdin.buffer, partial(print, flush=True))
    return 0
