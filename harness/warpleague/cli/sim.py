"""Answer questions about the rules, for a bot that tries out moves: lines of JSON in, lines of JSON out.

`warpleague.sim.serve` answers; bots in Python import `warpleague.sim` instead.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from warpleague.errors import BadInput
from warpleague.sim.serve import serve

if TYPE_CHECKING:
    from argparse import Namespace


def run_sim(args: Namespace) -> int:
    """Serve until the input ends, or make vectors."""
    vectors = getattr(args, "vectors", None)
    if args.serve and vectors:
        raise BadInput("--serve and --vectors exclude each other: give one of them")
    if args.serve:
        serve(sys.stdin.buffer, partial(print, flush=True))
    elif vectors is None:
        raise BadInput("say --serve or --vectors GAME; `warpleague docs simulator` explains both")
    else:
        vectors.make(args)
    return 0
