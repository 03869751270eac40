"""Measure the wire, the engines, whole matches, leagues and start-up on this machine, as ratios within one run.

The rows are listed in `warpleague.cli.bench.rows`, and docs/bench.md explains them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples, count, print_json, say
from warpleague.errors import BadInput

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague bench`."""
    parser.add_argument(
        "--rounds",
        type=count(1),
        default=5,
        metavar="N",
        help="measure N times, and show the medians (default 5)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="measure only a little, once, to test the command"
    )
    parser.add_argument(
        "--game",
        action="append",
        metavar="GAME",
        help="only this game; can be given several times (default: all)",
    )
    parser.add_argument(
        "--row",
        action="append",
        default=[],
        metavar="ROW",
        help="measure only this row of the table; can be given several times",
    )
    parser.add_argument("--all", action="store_true", help="also measure the rows that take minutes")
    parser.add_argument("--list", action="store_true", help="list the rows, and measure nothing")
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="PEER=PATH",
        help="measure another program in the same run, for comparison: fastchess=PATH",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_examples(
        parser, "bench --quick", "bench --game aliens --json", "bench --row wire --row match --rounds 3"
    )
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Take all figures and print them."""
    from warpleague.cli.bench.rows import ROWS, rows

    if args.list:
        if args.json:
            print_json([{"row": row.name, "what": row.what, "takes": row.takes} for row in ROWS])
        else:
            from warpleague.report.terminal.bench import print_rows

            print_rows([(row.name, row.what, row.takes == "minutes") for row in ROWS])
        return 0
    chosen = rows(args.row, "minutes" if args.all else "moment" if args.quick else "while")
    peers = dict(_peer(text) for text in args.against)

    from warpleague.cli.bench.measures import Bench
    from warpleague.games import game_ids

    bench = Bench(
        tuple(args.game or game_ids()),
        rounds=1 if args.quick else args.rounds,
        rows=chosen,
        general=not args.row,
        peers=peers,
        quick=args.quick,
    )
    figures = bench.run(None if args.json else say)
    if args.json:
        print_json(figures)
        return 0
    from warpleague.report.terminal.bench import print_figures

    print_figures(figures)
    return 0


def _peer(text: str) -> tuple[str, str]:
    """A peer and the absolute path of its program, from `PEER=PATH`."""
    import os
    import shutil

    name, _, path = text.partition("=")
    if name != "fastchess":
        raise BadInput(f"--against: {text!r}: expected fastchess=PATH")
    program = shutil.which(path) if path else None
    if program is None:
        raise BadInput(f"--against: {path!r}: there is no such program, or it may not be run")
    return name, os.path.abspath(program)  # noqa: PTH100 - links in it stay
